internal import Glibc

/// The instruments of every process. Those that Prometheus's client libraries define have their standard names.
enum ProcessMetrics {
    static func add(to metrics: MetricsRegistry, log: LogSink) {
        metrics.gauge("touchsync_build_info", "1; the labels say what runs.", labels: BuildInfo.labels) { 1 }
        metrics.counter("touchsync_log_lines_dropped_total", "Log lines lost because nobody read them.") {
            Double(log.droppedLines)
        }
        metrics.counter("process_cpu_seconds_total", "CPU time of all threads, user and system.") { self.cpuSeconds() }
        metrics.gauge("process_resident_memory_bytes", "Resident memory.") { self.memoryBytes(field: 1) }
        metrics.gauge("process_virtual_memory_bytes", "Virtual memory.") { self.memoryBytes(field: 0) }
        metrics.gauge("process_open_fds", "Open descriptors.") { Double(self.openDescriptors()) }
        metrics.gauge("process_max_fds", "Most descriptors that may be open.") { self.descriptorLimit() }
        metrics.gauge("touchsync_clock_seconds", "The host's time of day, seconds since 1970: motions start by it.") {
            WallClock.exactSeconds()
        }
        let start = self.startSeconds()
        metrics.gauge("process_start_time_seconds", "When the process started, seconds since 1970.") { start }
    }

    private static func cpuSeconds() -> Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
            + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1_000_000
    }

    private static func memoryBytes(field: Int) -> Double { ProcessMemory.bytes(field: field).map(Double.init) ?? .nan }

    /// /proc/self/stat has the start time as field 22, in clock ticks since boot; the name in parentheses, field 2, may
    /// contain spaces.
    private static func startSeconds() -> Double {
        let afterName = self.fields("/proc/self/stat").reversed().prefix { !$0.hasSuffix(")") }.reversed()
        guard let ticks = afterName.dropFirst(19).first.flatMap({ Double($0) }) else { return .nan }
        return timespec(of: CLOCK_REALTIME).seconds - timespec(of: CLOCK_BOOTTIME).seconds
            + ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    static func fields(_ path: String) -> [Substring] {
        guard case .success(let bytes) = FileBytes.read(path, limit: 4096) else { return [] }
        return String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
    }

    private static func descriptorLimit() -> Double {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return .nan }
        return limit.rlim_cur == rlim_t.max ? .infinity : Double(limit.rlim_cur)
    }

    private static func openDescriptors() -> Int {
        // Not counted: ".", ".." and the descriptor that reads the folder.
        max(0, FileBytes.names(in: "/proc/self/fd").count - 3)
    }
}
