import Boot
import Glibc

/// A process's resource usage so far.
package struct ProcessSample: Sendable, Equatable {
    /// User and system time of all its threads, including ended ones, microseconds.
    package var cpu: Int64 = 0
    /// Resident memory now, bytes.
    package var memory: Int64 = 0

    package init(cpu: Int64 = 0, memory: Int64 = 0) {
        self.cpu = cpu
        self.memory = memory
    }

    /// Reads `/proc/<pid>/stat` (proc(5)): fields 14 and 15 are the times in ticks, 24 the resident pages.
    /// - Returns: nil for text of another shape.
    package init?(stat: [UInt8], ticksPerSecond: Int64, pageSize: Int64) {
        // The second field, the name in parentheses, may contain anything, parentheses and blanks too.
        guard let bracket = stat.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = stat[(bracket + 1)...].split(separator: UInt8(ascii: " "))
            .map { String(decoding: $0, as: UTF8.self) }
        guard fields.count > 21, let user = Int64(fields[11]), let system = Int64(fields[12]),
            let pages = Int64(fields[21]), ticksPerSecond > 0
        else { return nil }
        self.cpu = (user + system) * 1_000_000 / ticksPerSecond
        self.memory = pages * pageSize
    }

    /// Samples a process; nil when it is gone.
    package static func of(_ process: Int) -> ProcessSample? {
        (try? FileBytes.read("/proc/\(process)/stat").get()).flatMap {
            ProcessSample(
                stat: $0, ticksPerSecond: Int64(sysconf(Int32(_SC_CLK_TCK))),
                pageSize: Int64(sysconf(Int32(_SC_PAGESIZE))))
        }
    }
}
