internal import CLinux
internal import Glibc
internal import ServiceLifecycle

/// When freed memory goes back to the system.
///
/// What is freed between blocks that are still in use is kept by the C library until somebody asks for it: without that a
/// daemon's resident memory stays at the peak of its largest burst. Giving it back holds up allocations for some
/// milliseconds, so it is done while the process is idle, and only when there is much to give back.
struct FreedMemory {
    /// Bytes; so many are kept for the next burst.
    static let kept = 16 << 20

    /// Bytes that were neither in use nor could be given back the last time: stacks, and pages that are used in part.
    private var unreturnable = 0
    private var cpu: UInt64 = 0
    private var time: UInt64 = 0

    /// Whether to give memory back now. A process is idle that has used less than a quarter of a core since the last call.
    /// - Parameters:
    ///   - resident: resident bytes that belong to no file.
    ///   - used: bytes that are allocated; asked for only while the process is idle.
    ///   - cpu: the process's CPU time, ns.
    ///   - now: ns of any monotonic clock.
    mutating func isDue(resident: Int, used: @autoclosure () -> Int, cpu: UInt64, at now: UInt64) -> Bool {
        let isIdle = self.time > 0 && (cpu &- self.cpu) < (now &- self.time) / 4
        (self.cpu, self.time) = (cpu, now)
        guard isIdle, resident > self.unreturnable + Self.kept else { return false }
        let free = resident - used()
        self.unreturnable = max(0, min(self.unreturnable, free))
        return free > self.unreturnable + Self.kept
    }

    mutating func returned(resident: Int, used: Int) { self.unreturnable = max(0, resident - used) }
}

/// Gives freed memory back to the system every other second, when that is due.
struct FreedMemoryReturn: Service {
    private static let interval = Duration.seconds(2)

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            var memory = FreedMemory()
            while true {
                try await Task.sleep(for: Self.interval)
                Self.check(&memory)
            }
        }
    }

    private static func check(_ memory: inout FreedMemory) {
        guard let resident = ProcessMemory.anonymousBytes else { return }
        let isDue = memory.isDue(
            resident: resident, used: ProcessMemory.usedBytes, cpu: ProcessClock.cpuNanoseconds(),
            at: ProcessClock.uptimeNanoseconds())
        guard isDue else { return }
        ProcessMemory.returnFreed()
        memory.returned(resident: ProcessMemory.anonymousBytes ?? 0, used: ProcessMemory.usedBytes)
    }
}

enum ProcessMemory {
    /// Bytes by a field of /proc/self/statm (proc(5)): 0 for all, 1 for resident ones, 2 for those of files and shared
    /// ones among these; `nil` when it cannot be read.
    static func bytes(field: Int) -> Int? {
        let pages = ProcessMetrics.fields("/proc/self/statm").dropFirst(field).first
        return pages.flatMap { Int($0) }.map { $0 * sysconf(Int32(_SC_PAGESIZE)) }
    }

    /// Resident bytes that belong to no file.
    static var anonymousBytes: Int? {
        guard let resident = self.bytes(field: 1), let shared = self.bytes(field: 2) else { return nil }
        return resident - shared
    }

    /// Bytes that are allocated by way of the C library.
    static var usedBytes: Int { Int(clamping: linux_allocated_bytes()) }

    /// Gives back all whole pages that are free.
    static func returnFreed() { linux_return_freed_memory() }
}
