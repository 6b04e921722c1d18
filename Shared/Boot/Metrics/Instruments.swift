internal import NIOConcurrencyHelpers
internal import Synchronization
package import Timing

/// A monotonic counter. Cheap from any thread: one relaxed atomic addition.
package final class Counter: Sendable {
    private let count = Atomic<UInt64>(0)

    init() {}

    /// Adds to the counter; it wraps around at 2^64, which a scraper interprets as a restart.
    package func add(_ amount: Int = 1) {
        guard amount > 0 else { return }
        self.count.wrappingAdd(UInt64(amount), ordering: .relaxed)
    }

    /// Sets the counter to a monotonic total that is maintained elsewhere. For one thread, which alone updates this
    /// counter.
    package func follow(_ total: some BinaryInteger) {
        let shown = self.value
        let total = UInt64(clamping: total)
        if total > shown { self.count.wrappingAdd(total - shown, ordering: .relaxed) }
    }

    package var value: UInt64 { self.count.load(ordering: .relaxed) }
}

/// A value that goes up and down: a depth, an age in seconds. One relaxed atomic store.
package final class Gauge: Sendable {
    private let bits = Atomic<UInt64>(0)

    init() {}

    package func set(_ value: Double) { self.bits.store(value.bitPattern, ordering: .relaxed) }

    package func set(_ value: Int) { self.set(Double(value)) }

    /// The last value set, 0 at first.
    package var value: Double { Double(bitPattern: self.bits.load(ordering: .relaxed)) }
}

/// Counts observations in buckets, for quantiles. A lock per update: on hot paths record per batch, not per message.
///
/// The bounds are fixed, so that Prometheus can aggregate processes. An HdrHistogram, which the bench uses, has none,
/// and needs about 100 KiB instead of 200 bytes for each label set.
package final class Histogram: Sendable {
    /// Upper bounds of the buckets, ascending; the last bucket is open.
    package let bounds: [Double]
    private let state: NIOLockedValueBox<State>

    struct State: Sendable {
        var counts: [UInt64]
        var sum: Double = 0
        var total: UInt64 = 0
    }

    init(bounds: [Double]) {
        precondition(!bounds.isEmpty && zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 }, "bounds must grow")
        self.bounds = bounds
        self.state = NIOLockedValueBox(State(counts: Array(repeating: 0, count: bounds.count + 1)))
    }

    /// Records a value in the instrument's unit; values that are not finite are ignored.
    /// - Parameter count: how many observations had this value.
    package func observe(_ value: Double, count: Int = 1) {
        guard value.isFinite, count > 0 else { return }
        let index = self.bounds.firstIndex { value <= $0 } ?? self.bounds.count
        self.state.withLockedValue { state in
            state.counts[index] += UInt64(count)
            state.sum += value * Double(count)
            state.total += UInt64(count)
        }
    }

    /// Shows what a core counts. For one thread, which alone updates this histogram; its bounds are
    /// ``Buckets/latency``.
    package func follow(_ tally: LatencyTally) {
        precondition(tally.counts.count == self.bounds.count + 1, "the tally has other buckets")
        self.state.withLockedValue { state in
            state.counts = tally.counts
            state.sum = tally.sum.seconds
            state.total = tally.counts.reduce(0, &+)
        }
    }

    var snapshot: State { self.state.withLockedValue { $0 } }
}

package enum Buckets {
    /// Seconds, 0.1 ms to 10 s.
    package static let latency = LatencyTally.bounds.map(\.seconds)
    /// Items, 1 to 4096 by powers of two.
    package static let sizes: [Double] = (0...12).map { Double(1 << $0) }
}

/// One counter per case of an enum: a label set closed by its type.
package struct CounterFamily<Label: CaseIterable & RawRepresentable & Hashable & Sendable>: Sendable
where Label.RawValue == String {
    let counters: [Label: Counter]

    package subscript(_ label: Label) -> Counter {
        guard let counter = self.counters[label] else { preconditionFailure("\(label) is not among allCases") }
        return counter
    }
}
