import Timing
import Wire

/// The gestures of connections that vanished: each ends after a moment, unless its session comes back and goes on with it.
struct OrphanedGestures {
    private struct Orphan {
        let end: GestureEnd
        /// True when a new owner of the session may go on with it.
        let mayContinue: Bool
        let endsAt: Instant
    }

    /// In the order in which they end.
    private var orphans: [Orphan] = []

    /// How long such a gesture stays open.
    static let patience = Nanoseconds.seconds(2)

    /// When the next one ends; nil when there is none.
    var nextDeadline: Instant? { self.orphans.first?.endsAt }

    /// A connection vanished in the middle of a gesture.
    mutating func add(_ end: GestureEnd, mayContinue: Bool, at now: Instant) {
        self.orphans.append(Orphan(end: end, mayContinue: mayContinue, endsAt: now + Self.patience))
    }

    /// A session has a new owner: gestures that it numbers itself are its own again.
    mutating func sessionClaimed(_ claimed: SessionClaimed) {
        self.orphans.removeAll { $0.mayContinue && $0.end.room == claimed.room && $0.end.sid == claimed.sid }
    }

    /// Ends the gestures whose time has come.
    mutating func timeReached(_ now: Instant, into actions: inout [GatewayAction]) {
        let due = self.orphans.prefix { now >= $0.endsAt }
        for orphan in due { actions.append(.gestureEnd(orphan.end)) }
        self.orphans.removeFirst(due.count)
    }
}
