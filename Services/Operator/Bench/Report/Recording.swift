import Glibc
import Histogram

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

    private let name: String
    private let load: Load
    private var tally = Tally()
    private var seconds: [BenchReport.Second] = []
    private var live = 0
    private var beganAt: Int64 = 0
    private var endedAt: Int64 = 0
    private var firstThreads: [ThreadSample] = []
    private var lastThreads: [ThreadSample] = []
    private var firstCPU: Int64 = 0
    private var lastCPU: Int64 = 0

    init(name: String, load: Load) {
        self.name = name
        self.load = load
    }

    /// The measurement begins; what was taken then counts for nothing.
    /// - Parameter now: nanoseconds.
    mutating func begin(_ taken: Taken, at now: Int64) {
        self.beganAt = now
        self.endedAt = now
        self.firstThreads = taken.threads
        self.firstCPU = Self.ownCPU()
        self.lastCPU = self.firstCPU
    }

    /// One second more.
    mutating func add(_ taken: Taken, at now: Int64) {
        self.tally.add(taken.tally)
        self.seconds.append(BenchReport.Second(taken.tally))
        self.live = taken.live
        self.endedAt = now
        self.lastThreads = taken.threads
        self.lastCPU = Self.ownCPU()
    }

    func report(_ meter: ServerMeter, unanswered: Int, failure: String?) -> BenchReport {
        let elapsed = max(1, self.endedAt - self.beganAt)
        func most(_ figure: KeyPath<ThreadSample, Int64>) -> Double {
            let all = zip(self.firstThreads, self.lastThreads).map { $1[keyPath: figure] - $0[keyPath: figure] }
            return Double(all.max() ?? 0) / Double(elapsed)
        }
        return BenchReport(
            name: self.name, load: self.load, elapsed: elapsed / 1000, tally: self.tally, servers: meter.servers,
            seconds: self.seconds, live: self.live, unanswered: unanswered, ownCPU: self.lastCPU - self.firstCPU,
            busiestLoop: most(\.running), hungriestLoop: most(\.waiting), failure: failure)
    }

    /// User and system time of this process so far, microseconds.
    private static func ownCPU() -> Int64 {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        func microseconds(_ time: timeval) -> Int64 { Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_usec) }
        return microseconds(usage.ru_utime) + microseconds(usage.ru_stime)
    }
}

extension BenchReport.Second {
    /// What one second's tally shows.
    init(_ tally: Tally) {
        func percentile(_ latencies: Tally.Latencies, _ share: Double) -> Int? {
            latencies.totalCount > 0 ? Int(clamping: latencies.valueAtPercentile(share)) : nil
        }
        self.init(
            deliveries: tally.delivered, commits: tally.commitsApplied,
            previewP50: percentile(tally.previewAge, 50), previewP99: percentile(tally.previewAge, 99),
            acknowledgementP99: percentile(tally.acknowledgement, 99), screenP99: percentile(tally.screen, 99))
    }
}
