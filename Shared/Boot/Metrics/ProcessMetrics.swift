internal import Glibc

/// Instruments that every process has: CPU, memory, descriptors, version.
enum ProcessMetrics {
    /// Adds them to a registry.
    static func add(to metrics: MetricsRegistry, log: LogSink) {
        metrics.gauge("touchsync_build_info", "1; the labels say what runs.", labels: BuildInfo.labels) { 1 }
        metrics.gauge("process_cpu_seconds", "CPU time of all threads, user and system.") { self.cpuSeconds() }
        metrics.gauge("process_resident_memory_bytes", "Resident memory.") { self.residentBytes() }
        metrics.gauge("process_open_fds", "Open descriptors.") { Double(self.openDescriptors()) }
        metrics.gauge("touchsync_log_dropped_lines", "Log lines lost because nobody read them.") {
            Double(log.droppedLines)
        }
    }

    private static func cpuSeconds() -> Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
            + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1_000_000
    }

    /// The second number of /proc/self/statm counts resident pages (proc(5)).
    private static func residentBytes() -> Double {
        guard case .success(let bytes) = FileBytes.read("/proc/self/statm", limit: 256) else { return .nan }
        let fields = String(decoding: bytes, as: UTF8.self).split(separator: " ")
        guard fields.count > 1, let pages = Double(fields[1]) else { return .nan }
        return pages * Double(sysconf(Int32(_SC_PAGESIZE)))
    }

    private static func openDescriptors() -> Int {
        guard let directory = opendir("/proc/self/fd") else { return 0 }
        defer { closedir(directory) }
        // Not counted: ".", ".." and the descriptor that reads the directory.
        var count = -3
        while readdir(directory) != nil { count += 1 }
        return count
    }
}
