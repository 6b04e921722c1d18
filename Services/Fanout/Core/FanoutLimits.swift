package import Timing
internal import Wire

/// The numbers that bound a fan-out; sizes in bytes.
package struct FanoutLimits: Equatable, Sendable {
    /// The most updates of one replay; beyond it the whole room is sent.
    package var replay = 1000
    /// The most bytes of a replay, which beyond it becomes the whole room, and of one entry of a room's history.
    package var replyBytes = 32 << 20
    /// The most bytes of a room, whose joins and reads are refused beyond it; a link carries no larger message. Rooms
    /// within the committers' limits are far smaller: this is for those that were filled without.
    package var roomBytes = 256 << 20
    /// The most bytes of recent updates that are kept for each room.
    package var ringBytes = 1 << 20
    /// How long a room without members stays in memory.
    package var roomIdle: Nanoseconds = .seconds(30)
    /// The most bytes that all rooms together may occupy; beyond it rooms without members go, then the recent updates
    /// of all rooms, then no further room is loaded.
    package var memory = 1 << 30
    /// The most rooms in memory.
    package var rooms = 200_000
    /// How long the members at a gateway whose link went down stay in their rooms.
    package var gatewayGrace: Nanoseconds = .seconds(5)
    /// How long a join or a read of a room may wait for the database.
    package var joinDeadline: Nanoseconds = .seconds(5)
    /// How long a read waits for an update that its user has seen already.
    package var readPatience: Nanoseconds = .milliseconds(500)
    /// The most joins and reads of rooms that may wait.
    package var waiting = 20_000
    /// The most bytes of a page of a room's history, unless a single entry is larger.
    package var historyBytes = HistoryPage.largest
    /// The most reads of histories that may wait.
    package var historyReads = 1000
    /// How long a preview waits for the update that it must follow.
    package var previewPatience: Nanoseconds = .milliseconds(500)
    /// The most waiting previews for each room.
    package var earlyPreviews = 256
    /// How long a closed gesture is remembered.
    package var fenceAge: Nanoseconds = .seconds(120)
    /// The most sessions that may show previews of one element before any of their gestures on it has ended.
    package var fencesPerElement = 32
    /// How long such a session's place is its own, used or not.
    package var fenceTenure: Nanoseconds = .seconds(5)
    /// How often the shards' heads are asked for.
    package var headInterval: Nanoseconds = .milliseconds(250)
    /// How long a gap in a shard may be filled by late updates before the log is read.
    package var gapPatience: Nanoseconds = .milliseconds(20)
    /// The most rows of one read of the log.
    package var logPage = 1000
    /// A shard that is further behind than this reads no log: its rooms are loaded again.
    package var catchUp: UInt64 = 5000
    /// The most updates that a room keeps while it is loaded or waits for a gap to be filled.
    package var keptUpdates = 1000
    /// How long after a failed question it is asked again.
    package var retryDelay: Nanoseconds = .milliseconds(250)

    package init() {}
}
