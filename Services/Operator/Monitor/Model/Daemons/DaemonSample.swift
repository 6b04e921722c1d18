internal import Stages

/// What a daemon's pages said at one moment.
struct DaemonSample: Sendable {
    let health: DaemonHealth
    /// Totals of counters and present values, by figure.
    let totals: [PipelineFigure: Double]
    /// Totals of dropped records, by kind and reason.
    let drops: [String: Double]
    let distributions: [Distribution: BucketCounts]
    /// Seconds since 1970; nil when no metric says it.
    let startedAt: Double?
    /// The version that runs; nil when no metric says it.
    let version: String?

    /// Kinds of drops of one daemon that are kept.
    private static let maxDrops = 48

    /// - Parameter samples: the daemon's metrics; those that are unknown here are ignored.
    init(stage: Stage, health: DaemonHealth, samples: [ExpositionSample]) {
        let table = FigureTable[stage]
        var totals: [PipelineFigure: Double] = [:]
        var drops: [String: Double] = [:]
        var histograms = HistogramSamples(of: stage)
        for sample in samples {
            histograms.add(sample)
            guard sample.value.isFinite else { continue }
            for figure in table.figures(of: sample) { totals[figure, default: 0] += sample.value }
            if let kind = table.drop(of: sample), drops.count < Self.maxDrops {
                drops[kind, default: 0] += sample.value
            }
        }
        self.health = health
        self.totals = totals
        self.drops = drops
        self.distributions = histograms.distributions
        self.startedAt = samples.first { $0.name == "process_start_time_seconds" }?.value
        self.version = samples.first { $0.name == "touchsync_build_info" }?["version"]
    }
}

/// Collects the buckets of a stage's histograms.
private struct HistogramSamples {
    private let names: [String: Distribution]
    private var buckets: [Distribution: [(bound: Double, cumulated: Double)]] = [:]

    init(of stage: Stage) {
        self.names = Dictionary(
            uniqueKeysWithValues: Distribution.allCases.filter { $0.metric.stage == stage }
                .map { ($0.metric.name + "_bucket", $0) })
    }

    mutating func add(_ sample: ExpositionSample) {
        guard let distribution = self.names[sample.name], let text = sample["le"] else { return }
        let bound = text == "+Inf" ? Double.infinity : Double(text)
        guard let bound, sample.value >= 0, sample.value < 0x1p63 else { return }
        guard self.buckets[distribution, default: []].count < BucketCounts.limit else { return }
        self.buckets[distribution, default: []].append((bound, sample.value))
    }

    /// Those whose buckets ascend, in bounds and in counts, up to the infinite one.
    var distributions: [Distribution: BucketCounts] {
        self.buckets.compactMapValues { buckets in
            guard buckets.last?.bound == .infinity else { return nil }
            var counts: [UInt64] = []
            var below = 0.0
            for bucket in buckets {
                guard bucket.cumulated >= below else { return nil }
                counts.append(UInt64(bucket.cumulated) - UInt64(below))
                below = bucket.cumulated
            }
            return BucketCounts(bounds: buckets.dropLast().map(\.bound), counts: counts)
        }
    }
}
