/// Observations by bucket, each bucket with an upper bound; the last one has none.
package struct BucketCounts: Equatable, Sendable {
    /// Upper bounds, ascending and finite.
    package let bounds: [Double]
    /// Of each bucket alone, not cumulated; one more than bounds.
    package private(set) var counts: [UInt64]

    /// The buckets of one histogram at most.
    package static let limit = 64

    /// - Returns: nil unless bounds ascend and there is one more count than bounds.
    package init?(bounds: [Double], counts: [UInt64]) {
        guard counts.count == bounds.count + 1, counts.count <= Self.limit, bounds.allSatisfy(\.isFinite),
            zip(bounds, bounds.dropFirst()).allSatisfy({ $0 < $1 })
        else { return nil }
        self.bounds = bounds
        self.counts = counts
    }

    /// How many observations there are.
    package var total: UInt64 { self.counts.reduce(0, &+) }

    /// Adds observations; those with other bounds are left out.
    package mutating func add(_ other: BucketCounts) {
        guard other.bounds == self.bounds else { return }
        for index in self.counts.indices { self.counts[index] &+= other.counts[index] }
    }

    /// What was observed since an earlier state of the same histogram. After a restart, when counts are smaller than
    /// before, it is everything.
    package func since(_ earlier: BucketCounts) -> BucketCounts {
        guard earlier.bounds == self.bounds, zip(self.counts, earlier.counts).allSatisfy({ $0 >= $1 }) else {
            return self
        }
        var difference = self
        for index in self.counts.indices { difference.counts[index] = self.counts[index] - earlier.counts[index] }
        return difference
    }

    /// An estimate of a quantile: the position in its bucket, as if values were spread evenly in it. In the last bucket
    /// it is that bucket's lower bound.
    /// - Parameter quantile: 0 to 1, such as 0.99.
    /// - Returns: nil when nothing was observed.
    package func quantile(_ quantile: Double) -> Double? {
        let total = Double(self.total)
        guard total > 0, quantile.isFinite else { return nil }
        let rank = min(max(quantile, 0), 1) * total
        var below = 0.0
        for (index, count) in self.counts.enumerated() where count > 0 {
            let here = below + Double(count)
            guard here >= rank else {
                below = here
                continue
            }
            let lower = index == 0 ? min(0, self.bounds.first ?? 0) : self.bounds[index - 1]
            guard index < self.bounds.count else { return lower }
            let position = max(0, rank - below) / Double(count)
            return min(self.bounds[index], lower + (self.bounds[index] - lower) * position)
        }
        return self.bounds.last
    }
}
