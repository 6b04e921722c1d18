/// How often spans of each length occurred, in buckets from 0.1 ms to 10 s. A core counts in it without a lock and
/// without allocating; its shell shows it as a histogram.
public struct LatencyTally: Equatable, Sendable {
    /// Upper bounds of the buckets but the last one, which is open, in ascending order.
    public static let bounds: [Nanoseconds] = [
        100, 250, 500, 1000, 2000, 3000, 5000, 7500, 10_000, 15_000, 20_000, 25_000, 50_000, 100_000, 250_000, 500_000,
        1_000_000, 2_500_000, 5_000_000, 10_000_000,
    ].map { Nanoseconds.microseconds($0) }

    private static let shortest = Nanoseconds.microseconds(100)

    /// Of each bucket alone, the open one last.
    public private(set) var counts = [UInt64](repeating: 0, count: Self.bounds.count + 1)
    /// All spans together.
    public private(set) var sum = Nanoseconds.zero

    public init() {}

    public mutating func note(_ span: Nanoseconds) {
        self.counts[Self.bucket(of: span)] &+= 1
        self.sum += span
    }

    /// What did not wait is in the first bucket, and most spans are such; the others are found by halves.
    private static func bucket(of span: Nanoseconds) -> Int {
        if span <= self.shortest { return 0 }
        let bounds = self.bounds
        var (low, high) = (1, bounds.count)
        while low < high {
            let middle = (low + high) / 2
            if span <= bounds[middle] { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
