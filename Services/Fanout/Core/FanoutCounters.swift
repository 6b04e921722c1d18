/// Why a preview went nowhere.
package enum PreviewDrop: String, CaseIterable, Sendable {
    /// The room has no members here.
    case room = "no_room"
    /// No such element, or a deleted one.
    case element = "no_element"
    /// The element is locked.
    case locked
    /// The element's place is not on the canvas, where the gesture has its pivot.
    case place = "no_place"
    /// So many other sessions move the element that nothing is remembered of further ones.
    case crowded
    /// Its gesture is closed.
    case closed
    /// A newer connection owns its session.
    case superseded
    /// The update that it must follow did not come in time, or too many waited.
    case waited
    /// It sets nothing.
    case empty
}

/// What a fan-out did, each since the start.
package struct FanoutCounters: Equatable, Sendable {
    /// Updates that came, directly or from the log.
    package var updates = 0
    /// Updates that were there already.
    package var duplicates = 0
    /// Previews that came.
    package var previews = 0
    /// Previews that went on, each counted once.
    package var previewsPassed = 0
    /// Previews that waited for an update.
    package var previewsParked = 0
    /// Previews that went nowhere, by ``PreviewDrop``.
    package internal(set) var previewsDropped: [PreviewDrop: Int] = [:]
    /// Awareness that came, and what of it was older than what is shown, or of a session that is another connection's.
    package var awareness = 0, awarenessDropped = 0
    /// Signals that came, and those from connections that are not in their room, or not any more under that session.
    package var signals = 0, signalsRefused = 0
    /// Holes in a shard that the log had to fill.
    package var holes = 0
    /// Shards whose rooms were loaded again, because the log could not help or rows were lost.
    package var rebases = 0
    /// Shards whose history in the database was replaced under the same name.
    package var replacements = 0
    /// Published updates that are not part of the history that is followed.
    package var strays = 0
    /// Rooms loaded from the database.
    package var loads = 0
    /// Joins answered with the whole room.
    package var snapshots = 0
    /// Joins and gateways answered with exactly what they missed.
    package var replays = 0
    /// Gateways whose members must join a room again.
    package var resets = 0
    /// Joins and reads that were refused.
    package var refusals = 0

    /// Nothing yet.
    package init() {}

    mutating func drop(_ reason: PreviewDrop, _ count: Int = 1) {
        self.previewsDropped[reason, default: 0] += count
    }
}
