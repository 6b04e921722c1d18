/// A target value for a metric of a load.
package struct Goal: Sendable, Equatable {
    /// The metrics that can have goals.
    package enum Figure: String, Sendable, CaseIterable {
        /// CPU-µs of all servers.
        case cpuPerDelivery, cpuPerCommit
        /// Per second, a minimum.
        case deliveriesPerSecond, commitsPerSecond
        /// Milliseconds.
        case previewP50, previewP99, acknowledgementP50, acknowledgementP99, groupP50
        /// KiB of all servers.
        case memoryPerIdle
        /// The servers' memory at the end of the measurement as a multiple of that after its first second.
        case memoryGrowth
        /// Commits without an answer.
        case unanswered

        /// The name and unit for people.
        package var title: String {
            switch self {
            case .cpuPerDelivery: "server CPU per delivery, µs"
            case .cpuPerCommit: "server CPU per commit, µs"
            case .deliveriesPerSecond: "deliveries/s"
            case .commitsPerSecond: "commits/s"
            case .previewP50: "preview age p50, ms"
            case .previewP99: "preview age p99, ms"
            case .acknowledgementP50: "commit ack p50, ms"
            case .acknowledgementP99: "commit ack p99, ms"
            case .groupP50: "group ack p50, ms"
            case .memoryPerIdle: "memory per idle connection, KiB"
            case .memoryGrowth: "server memory, end ÷ begin"
            case .unanswered: "commits unanswered"
            }
        }

        /// True when more is better.
        package var wantsMore: Bool { self == .deliveriesPerSecond || self == .commitsPerSecond }

        /// The metric in a report; nil when it was not measured.
        package func value(in report: BenchReport) -> Double? {
            func milliseconds(_ summary: LatencySummary, _ value: Int) -> Double? {
                summary.count > 0 ? Double(value) / 1000 : nil
            }
            return switch self {
            case .cpuPerDelivery: report.cpuPerDelivery
            case .cpuPerCommit: report.cpuPerCommit
            case .deliveriesPerSecond: report.deliveriesPerSecond
            case .commitsPerSecond: report.commitsPerSecond
            case .previewP50: milliseconds(report.previewAge, report.previewAge.p50)
            case .previewP99: milliseconds(report.previewAge, report.previewAge.p99)
            case .acknowledgementP50: milliseconds(report.acknowledgement, report.acknowledgement.p50)
            case .acknowledgementP99: milliseconds(report.acknowledgement, report.acknowledgement.p99)
            case .groupP50: milliseconds(report.groupAcknowledgement, report.groupAcknowledgement.p50)
            case .memoryPerIdle: report.memoryPerIdle.map { $0 / 1024 }
            case .memoryGrowth: report.memoryGrowth
            case .unanswered: report.tally.commitsSent > 0 ? Double(report.unanswered) : nil
            }
        }
    }

    /// The base of a relative goal: the same metric in another phase of the preset.
    package enum Reference: Sendable, Equatable {
        case phase(String)
        /// The phase with the lowest value.
        case lowest
    }

    package var figure: Figure
    /// The maximum; the minimum where more is better.
    package var bound: Double
    /// Nil: the bound is absolute, in the metric's own unit.
    package var reference: Reference?

    package init(_ figure: Figure, _ bound: Double, times reference: Reference? = nil) {
        self.figure = figure
        self.bound = bound
        self.reference = reference
    }

    /// The goal, for people.
    package var title: String {
        switch self.reference {
        case nil: self.figure.title
        case .phase(let name): "\(self.figure.title) ÷ \(name)"
        case .lowest: "\(self.figure.title) ÷ lowest"
        }
    }

    /// The measured value; nil when it, or its reference, was not measured.
    /// - Parameter all: the reports of the whole run.
    package func value(in report: BenchReport, among all: [BenchReport]) -> Double? {
        guard let value = self.figure.value(in: report) else { return nil }
        let others = all.filter { $0.named.name == report.named.name }
        let base: Double? =
            switch self.reference {
            case nil: 1
            case .phase(let name): others.first { $0.named.phase == name }.flatMap { self.figure.value(in: $0) }
            case .lowest: others.compactMap { self.figure.value(in: $0) }.min()
            }
        return base.flatMap { $0 > 0 ? value / $0 : nil }
    }

    /// True when a report meets the goal; nil when the metric was not measured.
    package func isMet(by report: BenchReport, among all: [BenchReport]) -> Bool? {
        self.value(in: report, among: all).map { self.figure.wantsMore ? $0 >= self.bound : $0 <= self.bound }
    }
}
