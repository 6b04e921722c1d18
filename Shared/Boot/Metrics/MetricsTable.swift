/// Instruments that show values maintained elsewhere: name, help and value of each stand together.
package struct MetricsTable<Source>: Sendable {
    private let metrics: MetricsRegistry
    private let prefix: String
    private var updates: [@Sendable (Source) -> Void] = []

    /// - Parameter prefix: the beginning of all names.
    package init(_ metrics: MetricsRegistry, prefix: String) {
        self.metrics = metrics
        self.prefix = prefix
    }

    /// A counter that follows a monotonic total.
    package mutating func counter<Total: BinaryInteger & SendableMetatype>(
        _ name: String, _ help: String, labels: MetricsRegistry.Labels = [:],
        _ total: @escaping @Sendable (Source) -> Total
    ) {
        let counter = self.metrics.counter(self.prefix + name, help, labels: labels)
        self.updates.append { counter.follow(total($0)) }
    }

    /// One counter per case of an enum, distinguished by a label; each follows a monotonic total.
    package mutating func counters<Label>(
        _ name: String, _ help: String, label: String, of type: Label.Type,
        _ total: @escaping @Sendable (Source, Label) -> Int
    ) where Label: CaseIterable & RawRepresentable<String> & Sendable {
        for value in Label.allCases {
            self.counter(name, help, labels: [label: value.rawValue]) { total($0, value) }
        }
    }

    package mutating func gauge(
        _ name: String, _ help: String, labels: MetricsRegistry.Labels = [:],
        _ value: @escaping @Sendable (Source) -> Double
    ) {
        let gauge = self.metrics.gauge(self.prefix + name, help, labels: labels)
        self.updates.append { gauge.set(value($0)) }
    }

    package mutating func gauge(_ name: String, _ help: String, _ value: @escaping @Sendable (Source) -> Int) {
        self.gauge(name, help) { Double(value($0)) }
    }

    /// Updates all instruments. For one thread.
    package func publish(_ source: Source) {
        for update in self.updates { update(source) }
    }
}
