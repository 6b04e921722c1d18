/// A load with its name and the figures that it should reach.
package struct NamedLoad: Sendable, Equatable {
    package var name: String
    package var load: Load
    package var goals: [Goal]

    package init(_ name: String, _ load: Load, goals: [Goal] = []) {
        self.name = name
        self.load = load
        self.goals = goals
    }
}

/// A figure that a load should reach.
package struct Goal: Sendable, Equatable {
    /// What can be wanted of a load.
    package enum Figure: String, Sendable, CaseIterable {
        /// CPU-µs of all servers.
        case cpuPerDelivery, cpuPerCommit
        /// Per second, at least.
        case deliveriesPerSecond, commitsPerSecond
        /// Milliseconds.
        case previewP50, previewP99, acknowledgementP50, acknowledgementP99
        /// KiB of all servers.
        case memoryPerIdle

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
            case .memoryPerIdle: "memory per idle connection, KiB"
            }
        }

        /// More is better.
        package var wantsMore: Bool { self == .deliveriesPerSecond || self == .commitsPerSecond }

        /// The figure in a report; nil when it was not measured.
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
            case .memoryPerIdle: report.memoryPerIdle.map { $0 / 1024 }
            }
        }
    }

    package var figure: Figure
    /// At most this; at least this where more is better.
    package var bound: Double

    package init(_ figure: Figure, _ bound: Double) {
        self.figure = figure
        self.bound = bound
    }

    /// Whether a report reaches it; nil when the figure was not measured.
    package func isMet(by report: BenchReport) -> Bool? {
        self.figure.value(in: report).map { self.figure.wantsMore ? $0 >= self.bound : $0 <= self.bound }
    }
}
