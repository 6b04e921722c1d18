internal import Timing

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
