package import Timing

package struct CommitterLimits: Equatable, Sendable {
    /// The maximum number of queued and in-flight commits over all shards; further ones are refused as busy.
    package var queueCommits = 8192
    /// The maximum size of queued and in-flight commits over all shards, bytes.
    package var queueBytes = 32 << 20
    package var batchCommits = 256
    /// The maximum number of elements that the commits of one batch change, as far as it is known beforehand; the first
    /// commit is always included. It bounds how long others wait for a batch.
    package var batchElements = 512
    /// The maximum size of the commits in one batch, bytes; the first is always included.
    package var batchBytes = 256 << 10
    package var groupElements = 500
    /// The maximum number of elements that one commit changes, the annotations of deleted ones included.
    package var commitElements = 5000
    /// The maximum number of living elements in a room; only growth beyond it is refused.
    package var roomElements = 10_000
    /// The maximum size of a room's living elements, see ``Canvas/Element/storedBytes``; only growth beyond it is
    /// refused.
    package var roomBytes = 16 << 20
    /// The maximum number of an element's living annotations; only growth beyond it is refused.
    package var elementAnnotations = 1000
    /// The maximum length of a picture that an edit sets, see ``Canvas/CanvasLimits/pictureBytes``.
    package var pictureBytes = 128 << 10
    /// The maximum number of a user's sessions in a room; beyond it the oldest idle ones end.
    package var userSessions = 1000
    /// The maximum number of entries of a user's undo stack in a room, and of the redo stack; 0: nothing can be undone.
    package var undoDepth = 100
    /// The maximum size of the elements of one entry, before and after, bytes. Further commits of its group begin another
    /// entry; a single commit always is one entry.
    package var undoEntryBytes = 1 << 20
    /// The maximum size of the entries that one undo passes over because nothing of them is left, before and after, bytes.
    package var skippedBytes = 16 << 20
    /// The approximate size of each shard's cache of elements, sessions and rooms between batches, bytes.
    package var cacheBytesPerShard = 2 << 20
    /// The time after which a waiting commit is answered `unavailable`.
    package var deadline = Nanoseconds.seconds(10)
    /// A shard's back-off after the first retriable failure; doubles up to `longestBackOff`.
    package var shortestBackOff = Nanoseconds.milliseconds(10)
    package var longestBackOff = Nanoseconds.milliseconds(500)
    /// The retry delay in a `busy` answer, ms.
    package var retryAfterMs: UInt32 = 250

    package init() {}
}
