internal import NIOConcurrencyHelpers

/// A daemon's instruments, created once at start and read when scraped.
///
/// Names are `touchsync_<service>_<thing>_<unit>[_total]`. Labels come from closed sets that are known when the
/// instrument is created, never from rooms or users. The same name and labels return the same instrument.
///
/// It does not implement swift-metrics, whose interface has no help texts, no bucket bounds and no values read when
/// scraped: all of this would remain, under a second layer, and no library used here reports through it.
package final class MetricsRegistry: Sendable {
    /// Labels of one instrument, in the order to print.
    package typealias Labels = KeyValuePairs<String, String>

    private enum Instrument: Sendable {
        case counter(Counter)
        case gauge(Gauge)
        case observed(kind: String, @Sendable () -> Double)
        case histogram(Histogram)

        var kind: String {
            switch self {
            case .counter: "counter"
            case .gauge: "gauge"
            case .observed(let kind, _): kind
            case .histogram: "histogram"
            }
        }
    }

    private struct Family: Sendable {
        let name: String
        let help: String
        let kind: String
        var members: [(labels: String, instrument: Instrument)] = []
    }

    private let families = NIOLockedValueBox<[Family]>([])

    package init() {}

    /// A monotonic counter; its name ends in `_total`.
    package func counter(_ name: String, _ help: String, labels: Labels = [:]) -> Counter {
        precondition(name.hasSuffix("_total"), "the counter \(name) must end in _total")
        let instrument = self.instrument(name, help, labels, or: .counter(Counter()))
        guard case .counter(let counter) = instrument else { preconditionFailure("\(name) is a \(instrument.kind)") }
        return counter
    }

    /// One counter per case of an enum, distinguished by a label.
    package func counters<Label>(_ name: String, _ help: String, label: String, of type: Label.Type) -> CounterFamily<
        Label
    > {
        var counters: [Label: Counter] = [:]
        for value in Label.allCases { counters[value] = self.counter(name, help, labels: [label: value.rawValue]) }
        return CounterFamily(counters: counters)
    }

    /// A value that goes up and down.
    package func gauge(_ name: String, _ help: String, labels: Labels = [:]) -> Gauge {
        let instrument = self.instrument(name, help, labels, or: .gauge(Gauge()))
        guard case .gauge(let gauge) = instrument else { preconditionFailure("\(name) is a \(instrument.kind)") }
        return gauge
    }

    /// A gauge that is read when scraped, on the admin server's thread; the closure must be quick and must not block.
    package func gauge(_ name: String, _ help: String, labels: Labels = [:], reading: @escaping @Sendable () -> Double)
    {
        _ = self.instrument(name, help, labels, or: .observed(kind: "gauge", reading))
    }

    /// A counter that is read when scraped, under the same conditions.
    package func counter(_ name: String, _ help: String, reading: @escaping @Sendable () -> Double) {
        precondition(name.hasSuffix("_total"), "the counter \(name) must end in _total")
        _ = self.instrument(name, help, [:], or: .observed(kind: "counter", reading))
    }

    /// A histogram.
    /// - Parameter buckets: ascending bounds, see ``Buckets``.
    package func histogram(
        _ name: String, _ help: String, labels: Labels = [:], buckets: [Double] = Buckets.latency
    ) -> Histogram {
        let instrument = self.instrument(name, help, labels, or: .histogram(Histogram(bounds: buckets)))
        guard case .histogram(let histogram) = instrument else {
            preconditionFailure("\(name) is a \(instrument.kind)")
        }
        return histogram
    }

    private func instrument(_ name: String, _ help: String, _ labels: Labels, or new: Instrument) -> Instrument {
        precondition(Self.isName(name) && labels.allSatisfy { Self.isName($0.key) }, "\(name) is no metric name")
        let key = labels.map { "\($0.key)=\"\(Self.escaped($0.value, quote: true))\"" }.joined(separator: ",")
        return self.families.withLockedValue { families in
            guard let index = families.firstIndex(where: { $0.name == name }) else {
                families.append(Family(name: name, help: help, kind: new.kind, members: [(key, new)]))
                return new
            }
            precondition(families[index].kind == new.kind, "\(name) is a \(families[index].kind)")
            if let known = families[index].members.first(where: { $0.labels == key }) { return known.instrument }
            families[index].members.append((key, new))
            return new
        }
    }

    private static func isName(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x5F
            }
    }

    // MARK: Text

    /// All instruments in the Prometheus text format, version 0.0.4.
    package func text() -> String {
        // Read outside the lock: a reading closure may use the registry.
        let families = self.families.withLockedValue { $0 }
        var text = ""
        for family in families {
            text += "# HELP \(family.name) \(Self.escaped(family.help, quote: false))\n"
            text += "# TYPE \(family.name) \(family.kind)\n"
            for (labels, instrument) in family.members { Self.write(instrument, family.name, labels, into: &text) }
        }
        return text
    }

    private static func write(_ instrument: Instrument, _ name: String, _ labels: String, into text: inout String) {
        let braces = labels.isEmpty ? "" : "{\(labels)}"
        switch instrument {
        case .counter(let counter): text += "\(name)\(braces) \(counter.value)\n"
        case .gauge(let gauge): text += "\(name)\(braces) \(Self.number(gauge.value))\n"
        case .observed(_, let reading): text += "\(name)\(braces) \(Self.number(reading()))\n"
        case .histogram(let histogram):
            let state = histogram.snapshot
            let prefix = labels.isEmpty ? "" : labels + ","
            var cumulated: UInt64 = 0
            for (bound, count) in zip(histogram.bounds, state.counts) {
                cumulated += count
                text += "\(name)_bucket{\(prefix)le=\"\(Self.number(bound))\"} \(cumulated)\n"
            }
            text += "\(name)_bucket{\(prefix)le=\"+Inf\"} \(state.total)\n"
            text += "\(name)_sum\(braces) \(Self.number(state.sum))\n\(name)_count\(braces) \(state.total)\n"
        }
    }

    private static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        if let whole = Int64(exactly: value), abs(whole) < 1 << 53 { return "\(whole)" }
        return "\(value)"
    }

    private static func escaped(_ text: String, quote: Bool) -> String {
        var result = ""
        for character in text.unicodeScalars {
            switch character {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\"" where quote: result += "\\\""
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }
}
