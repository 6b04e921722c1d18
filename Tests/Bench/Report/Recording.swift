import Glibc

/// Collects a phase's seconds into its report.
struct Recording: Sendable {
    private var report: BenchReport
    private var beganAt: Int64 = 0
    private var firstThread = ThreadSample()
    private var lastThread = ThreadSample()
    private var firstCPU: Int64 = 0

    init(_ named: NamedLoad) {
        self.report = BenchReport(named)
    }

    /// Starts the measurement; `taken` is discarded.
    /// - Parameter now: nanoseconds.
    mutating func begin(_ taken: LoadLoop.Interval, at now: Int64) {
        self.beganAt = now
        self.firstThread = taken.thread
        self.lastThread = taken.thread
        self.firstCPU = Self.ownCPU()
    }

    /// Adds one second.
    /// - Parameter memory: of all servers at its end, bytes.
    mutating func add(_ taken: LoadLoop.Interval, memory: Int64, at now: Int64) {
        self.report.elapsed = (now - self.beganAt) / 1000
        self.report.tally.add(taken.tally)
        self.report.seconds.append(BenchReport.Second(taken.tally, memory: memory))
        self.report.live = taken.live
        self.report.ownCPU = Self.ownCPU() - self.firstCPU
        self.lastThread = taken.thread
    }

    /// The report.
    func finished(_ meter: ServerMeter, unanswered: Int, failure: String?) -> BenchReport {
        func share(_ figure: KeyPath<ThreadSample, Int64>) -> Double {
            let time = self.lastThread[keyPath: figure] - self.firstThread[keyPath: figure]
            return Double(time) / Double(max(1, self.report.elapsed * 1000))
        }
        var report = self.report
        report.servers = meter.servers
        report.unanswered = unanswered
        report.ownLoad = share(\.running)
        report.ownHunger = share(\.waiting)
        report.failure = failure
        return report
    }

    /// User and system time of this process so far, microseconds.
    private static func ownCPU() -> Int64 {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        func microseconds(_ time: timeval) -> Int64 { Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_usec) }
        return microseconds(usage.ru_utime) + microseconds(usage.ru_stime)
    }
}
