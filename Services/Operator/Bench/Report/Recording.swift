import Glibc

/// Collects a load's seconds into its report.
struct Recording: Sendable {
    /// What all loops counted in one interval.
    struct Taken: Sendable {
        var tally = Tally()
        var live = 0
        var outstanding = 0
        /// What each loop's thread has used so far.
        var threads: [ThreadSample] = []

        mutating func add(_ interval: LoadLoop.Interval) {
            self.tally.add(interval.tally)
            self.live += interval.live
            self.outstanding += interval.outstanding
            self.threads.append(interval.thread)
        }
    }

    private var report: BenchReport
    private var beganAt: Int64 = 0
    private var firstThreads: [ThreadSample] = []
    private var lastThreads: [ThreadSample] = []
    private var firstCPU: Int64 = 0

    init(name: String, load: Load) {
        self.report = BenchReport(name: name, load: load)
    }

    /// The measurement begins; what was taken then counts for nothing.
    /// - Parameter now: nanoseconds.
    mutating func begin(_ taken: Taken, at now: Int64) {
        self.beganAt = now
        self.firstThreads = taken.threads
        self.lastThreads = taken.threads
        self.firstCPU = Self.ownCPU()
    }

    /// One second more.
    mutating func add(_ taken: Taken, at now: Int64) {
        self.report.elapsed = (now - self.beganAt) / 1000
        self.report.tally.add(taken.tally)
        self.report.seconds.append(BenchReport.Second(taken.tally))
        self.report.live = taken.live
        self.report.ownCPU = Self.ownCPU() - self.firstCPU
        self.lastThreads = taken.threads
    }

    /// What was collected.
    func finished(_ meter: ServerMeter, unanswered: Int, failure: String?) -> BenchReport {
        func most(_ figure: KeyPath<ThreadSample, Int64>) -> Double {
            let all = zip(self.firstThreads, self.lastThreads).map { $1[keyPath: figure] - $0[keyPath: figure] }
            return Double(all.max() ?? 0) / Double(max(1, self.report.elapsed * 1000))
        }
        var report = self.report
        report.servers = meter.servers
        report.unanswered = unanswered
        report.busiestLoop = most(\.running)
        report.hungriestLoop = most(\.waiting)
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
