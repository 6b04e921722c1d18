internal import DequeModule
internal import Timing

/// The last 15 minutes of one instance, a point for each round: at most 900, together about half a megabyte.
struct InstanceHistory: Sendable {
    /// As listed last.
    private(set) var daemon: ListedDaemon
    private(set) var points: Deque<SecondPoint> = []
    /// The last answer, which may be older than the last round.
    private(set) var sample: DaemonSample?
    private(set) var outcome = ProbeOutcome.starting
    /// The names of the kinds of drops, in the order of their first appearance.
    private(set) var dropKinds: [String] = []
    private(set) var bounds: [Distribution: [Double]] = [:]
    private var meter = CounterRates()

    /// The points that are kept.
    static let length = 900
    private static let maxDropKinds = 64

    init(_ daemon: ListedDaemon) {
        self.daemon = daemon
    }

    mutating func scraped(_ outcome: ProbeOutcome, of daemon: ListedDaemon, at moment: ScrapeRound) {
        self.daemon = daemon
        self.outcome = outcome
        var growth = CounterRates.Growth()
        if case .answered(let sample) = outcome {
            growth = self.meter.growth(to: sample, at: moment.now)
            self.sample = sample
        }
        if self.points.count >= Self.length { self.points.removeFirst() }
        self.points.append(
            SecondPoint(
                at: moment.unixMilliseconds, condition: InstanceCondition(outcome), figures: growth.figures,
                drops: self.indexed(growth.drops), observed: self.counted(growth.observed)))
    }

    var condition: InstanceCondition { InstanceCondition(self.outcome) }

    /// The points of the last seconds.
    func recent(_ count: Int) -> Deque<SecondPoint>.SubSequence { self.points.suffix(count) }

    /// Rates as means of the last seconds, and present values; nothing while there is no answer.
    var figures: FigureSet {
        guard case .answered = self.outcome else { return FigureSet() }
        return FigureSet.recent(self.recent(5).map(\.figures))
    }

    /// Dropped records per second over some last seconds, by kind.
    func drops(over seconds: Int) -> [String: Double] {
        var sums: [String: Double] = [:]
        for point in self.recent(seconds) {
            for drop in point.drops { sums[self.dropKinds[drop.kind], default: 0] += Double(drop.rate) }
        }
        return sums.mapValues { $0 / Double(max(1, min(seconds, self.points.count))) }
    }

    /// What was observed in these points.
    func observed(_ distribution: Distribution, in points: some Sequence<SecondPoint>) -> BucketCounts? {
        guard let bounds = self.bounds[distribution] else { return nil }
        var counts = [UInt64](repeating: 0, count: bounds.count + 1)
        for observed in points.lazy.compactMap({ $0.observed[distribution] }) where observed.count == counts.count {
            for index in counts.indices { counts[index] &+= UInt64(observed[index]) }
        }
        return BucketCounts(bounds: bounds, counts: counts)
    }

    private mutating func indexed(_ drops: [String: Double]) -> [(kind: Int, rate: Float)] {
        drops.compactMap { kind, rate in
            if let index = self.dropKinds.firstIndex(of: kind) { return (index, Float(rate)) }
            guard self.dropKinds.count < Self.maxDropKinds else { return nil }
            self.dropKinds.append(kind)
            return (self.dropKinds.count - 1, Float(rate))
        }
    }

    /// Another release may have other bounds: what was observed before is kept only with its figures.
    private mutating func counted(_ observed: [Distribution: BucketCounts]) -> [Distribution: [UInt32]] {
        var result: [Distribution: [UInt32]] = [:]
        for (distribution, counts) in observed {
            self.bounds[distribution] = counts.bounds
            if counts.total > 0 { result[distribution] = counts.counts.map { UInt32(clamping: $0) } }
        }
        return result
    }
}

/// One round of one instance: about 600 bytes, of which the histograms take half.
struct SecondPoint: Sendable {
    /// Milliseconds since 1970.
    let at: UInt64
    let condition: InstanceCondition
    /// Rates and values; all unknown in a round without an answer.
    let figures: FigureSet
    /// Dropped records per second, by index of the instance's kinds; only those that grew.
    let drops: [(kind: Int, rate: Float)]
    /// What was observed since the round before, where anything was: counts by bucket.
    let observed: [Distribution: [UInt32]]
}

/// Turns totals into rates and observations: what grew since the sample before. A daemon that was started again counts
/// from zero, and so does a counter that is smaller than before.
struct CounterRates: Sendable {
    private var last: (sample: DaemonSample, at: Instant)?

    /// What a sample shows beside its present values.
    struct Growth {
        var figures = FigureSet()
        var drops: [String: Double] = [:]
        var observed: [Distribution: BucketCounts] = [:]
    }

    /// A sample came; the first one has no rates.
    mutating func growth(to sample: DaemonSample, at now: Instant) -> Growth {
        var growth = Growth()
        for (figure, value) in sample.totals where figure.kind == .value { growth.figures[figure] = value }
        defer { self.last = (sample, now) }
        guard let last = self.last, now > last.at else { return growth }
        let seconds = now.elapsed(since: last.at).seconds
        let isRestart = last.sample.startedAt != sample.startedAt
        for (figure, total) in sample.totals where figure.kind == .rate {
            growth.figures[figure] = Self.growth(of: total, since: last.sample.totals[figure], isRestart) / seconds
        }
        for (kind, total) in sample.drops {
            let grown = Self.growth(of: total, since: last.sample.drops[kind], isRestart)
            if grown > 0 { growth.drops[kind] = grown / seconds }
        }
        for (distribution, counts) in sample.distributions {
            let earlier = isRestart ? nil : last.sample.distributions[distribution]
            growth.observed[distribution] = earlier.map(counts.since) ?? counts
        }
        return growth
    }

    private static func growth(of total: Double, since earlier: Double?, _ isRestart: Bool) -> Double {
        guard !isRestart, let earlier, earlier <= total else { return total }
        return total - earlier
    }
}
