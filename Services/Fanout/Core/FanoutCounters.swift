/// Why a preview went nowhere.
package enum PreviewDrop: String, CaseIterable, Sendable {
    case room = "no_room"
    case element = "no_element"
    case locked
    /// The element's place is not on the canvas, where the gesture has its pivot.
    case place = "no_place"
    /// So many other sessions move the element that nothing is remembered of further ones.
    case crowded
    case closed
    /// A newer connection owns its session.
    case superseded
    /// The update that it must follow did not come in time, or too many waited.
    case waited
    /// It sets nothing.
    case empty
}

/// What a fan-out did, each since the start. The metrics that are made of them say what they count.
package struct FanoutCounters: Equatable, Sendable {
    package var updates = 0, duplicates = 0
    package var previews = 0, previewsPassed = 0, previewsParked = 0
    package internal(set) var previewsDropped: [PreviewDrop: Int] = [:]
    package var awareness = 0, awarenessDropped = 0
    package var signals = 0, signalsRefused = 0
    package var gaps = 0, strays = 0
    /// Shards whose rooms were loaded again, because the log could not help or rows were lost.
    package var rebases = 0
    package var replacements = 0
    package var loads = 0, snapshots = 0, replays = 0, resets = 0, refusals = 0

    mutating func drop(_ reason: PreviewDrop, _ count: Int = 1) {
        self.previewsDropped[reason, default: 0] += count
    }
}
