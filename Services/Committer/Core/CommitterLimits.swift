package import Timing

/// The bounds that a committer keeps to.
package struct CommitterLimits: Equatable, Sendable {
    /// How many commits may wait or be in flight, all shards together; one more is refused as busy.
    package var queueItems = 8192
    /// How many bytes of commits may wait or be in flight, all shards together.
    package var queueBytes = 32 << 20
    /// How many commits one batch takes at most.
    package var batchItems = 256
    /// How many bytes of commits one batch takes at most; the first is always taken.
    package var batchBytes = 256 << 10
    /// How many elements of one commit are accepted at most.
    package var elementsPerCommit = 500
    /// About how many bytes of elements, sessions and rooms each shard keeps in memory between batches.
    package var cacheBytesPerShard = 2 << 20
    /// How long a commit may wait before it is answered `unavailable`.
    package var deadline = Nanoseconds.seconds(10)
    /// How long a shard rests after the first failure that is worth another try; doubles up to `longestRest`.
    package var rest = Nanoseconds.milliseconds(10)
    /// The longest rest.
    package var longestRest = Nanoseconds.milliseconds(500)
    /// What a refused sender is told to wait, ms.
    package var retryAfterMs: UInt32 = 250

    /// The defaults.
    package init() {}
}
