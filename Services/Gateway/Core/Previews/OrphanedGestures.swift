import Timing
import Wire

/// The gestures of connections that vanished. Each ends after a moment of silence: the fan-out, which sees the previews
/// of all connections, ignores the end when the session's next owner has continued the gesture by then.
struct OrphanedGestures {
    private struct Orphan {
        let end: GestureEnd
        let endsAt: Instant
    }

    /// In the order in which they end.
    private var orphans: [Orphan] = []

    /// How long such a gesture stays open.
    static let patience = Nanoseconds.seconds(2)

    /// When the next one ends; nil when there is none.
    var nextDeadline: Instant? { self.orphans.first?.endsAt }

    /// A connection vanished in the middle of a gesture.
    mutating func add(_ end: GestureEnd, at now: Instant) {
        self.orphans.append(Orphan(end: end, endsAt: now + Self.patience))
    }

    /// Ends the gestures whose time has come.
    mutating func timeReached(_ now: Instant, into actions: inout [GatewayAction]) {
        let due = self.orphans.prefix { now >= $0.endsAt }
        for orphan in due { actions.append(.gestureEnd(orphan.end)) }
        self.orphans.removeFirst(due.count)
    }
}
