/// What is measured of a load, with its name and unit for people.
enum Metric: String, CaseIterable, Sendable {
    case cpuPerDelivery, cpuPerCommit, deliveriesPerSecond, commitsPerSecond
    case previewP50, previewP99, acknowledgementP50, acknowledgementP99, groupP50
    case memoryPerIdle, memoryGrowth, unanswered

    private var row: (title: String, value: (Report) -> Double?) {
        switch self {
        case .cpuPerDelivery: ("server CPU per delivery, µs", { $0.cpu(per: $0.tally.previewsDelivered) })
        case .cpuPerCommit: ("server CPU per commit, µs", { $0.cpu(per: $0.tally.commitsApplied) })
        case .deliveriesPerSecond:
            ("deliveries/s", { $0.perSecond($0.tally.previewsDelivered + $0.tally.commitsDelivered) })
        case .commitsPerSecond: ("commits/s", { $0.perSecond($0.tally.commitsApplied) })
        case .previewP50: ("preview age p50, ms", { $0.tally.previewAge.milliseconds(50) })
        case .previewP99: ("preview age p99, ms", { $0.tally.previewAge.milliseconds(99) })
        case .acknowledgementP50: ("commit ack p50, ms", { $0.tally.acknowledgement.milliseconds(50) })
        case .acknowledgementP99: ("commit ack p99, ms", { $0.tally.acknowledgement.milliseconds(99) })
        case .groupP50: ("group ack p50, ms", { $0.tally.groupAcknowledgement.milliseconds(50) })
        case .memoryPerIdle: ("memory per idle connection, KiB", { $0.memoryPerIdle.map { $0 / 1024 } })
        case .memoryGrowth: ("server memory, end ÷ first second", { $0.memoryGrowth })
        case .unanswered: ("commits unanswered", { $0.tally.commitsSent > 0 ? Double($0.unanswered) : nil })
        }
    }

    var title: String { self.row.title }
    var wantsMore: Bool { self == .deliveriesPerSecond || self == .commitsPerSecond }

    /// Its value; nil when it was not measured.
    func value(in report: Report) -> Double? { self.row.value(report) }
}

/// A bound for a metric of a phase.
struct Goal: Sendable {
    /// What the bound is a multiple of: one, or the same metric in the first phase of the preset, or in the one where it is
    /// lowest.
    enum Base: String, Sendable { case one, first, lowest }

    let metric: Metric
    /// The maximum; the minimum where more is better.
    let bound: Double
    let base: Base

    init(_ metric: Metric, _ bound: Double, times base: Base = .one) {
        (self.metric, self.bound, self.base) = (metric, bound, base)
    }

    var title: String { self.metric.title + (self.base == .one ? "" : " ÷ \(self.base.rawValue) phase's") }

    /// The measured multiple; nil when it, or its base, was not measured.
    /// - Parameter all: the reports of the whole run.
    func value(in report: Report, among all: [Report]) -> Double? {
        let phases = all.lazy.filter { $0.preset == report.preset }
        let base: Double? =
            switch self.base {
            case .one: 1
            case .first: phases.first.flatMap { self.metric.value(in: $0) }
            case .lowest: phases.compactMap { self.metric.value(in: $0) }.min()
            }
        return base.flatMap { base in base > 0 ? self.metric.value(in: report).map { $0 / base } : nil }
    }

    /// True when a report meets it; nil when it was not measured.
    func isMet(by report: Report, among all: [Report]) -> Bool? {
        self.value(in: report, among: all).map { self.metric.wantsMore ? $0 >= self.bound : $0 <= self.bound }
    }
}
