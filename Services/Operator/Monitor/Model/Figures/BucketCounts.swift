internal import Stages

/// Observations by bucket, each bucket with an upper bound; the last one has none.
struct BucketCounts: Equatable, Sendable {
    /// Upper bounds, ascending and finite.
    let bounds: [Double]
    /// Of each bucket alone, not cumulated; one more than bounds.
    private(set) var counts: [UInt64]

    /// The buckets of one histogram at most.
    static let limit = 64

    /// - Returns: nil unless bounds ascend and there is one more count than bounds.
    init?(bounds: [Double], counts: [UInt64]) {
        guard counts.count == bounds.count + 1, counts.count <= Self.limit, bounds.allSatisfy(\.isFinite),
            zip(bounds, bounds.dropFirst()).allSatisfy({ $0 < $1 })
        else { return nil }
        self.bounds = bounds
        self.counts = counts
    }

    var total: UInt64 { self.counts.reduce(0, &+) }

    /// Adds observations; those with other bounds are left out.
    mutating func add(_ other: BucketCounts) {
        guard other.bounds == self.bounds else { return }
        for index in self.counts.indices { self.counts[index] &+= other.counts[index] }
    }

    /// What was observed since an earlier state of the same histogram. After a restart, when counts are smaller than
    /// before, it is everything.
    func since(_ earlier: BucketCounts) -> BucketCounts {
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
    func quantile(_ quantile: Double) -> Double? {
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

/// A histogram of a daemon. Raw values are the names in JSON.
enum Distribution: String, CaseIterable, Hashable, Sendable {
    /// Seconds from a gateway's acceptance of a commit to its result.
    case commitLatency
    /// Seconds from a gateway's receipt of a preview to its delivery to others.
    case previewAge
    /// Seconds that previews wait in a coalescer.
    case previewWait
    /// Seconds that PostgreSQL takes for a batch, and commits in one.
    case batchDuration, batchCommits

    /// The metric, by the stage that has it.
    var metric: (stage: Stage, name: String) {
        switch self {
        case .commitLatency: (.gateway, "touchsync_gateway_commit_latency_seconds")
        case .previewAge: (.gateway, "touchsync_gateway_preview_age_seconds")
        case .previewWait: (.coalescer, "touchsync_coalescer_preview_wait_seconds")
        case .batchDuration: (.committer, "touchsync_committer_write_seconds")
        case .batchCommits: (.committer, "touchsync_committer_batch_commits")
        }
    }
}
