import DequeModule
import Timing
import Wire

/// Who moves which element: as long as a lease lasts, previews and gestures of the element by others are not accepted.
///
///     first preview ──► held ◄── previews of the holder renew it
///                         │ commit or end of the gesture ──► released: the next to move the element gets it
///                         └ silence for `length` ──────────► released
///
/// The holder is a session, so it keeps its leases when its app reconnects. A user who may not commit holds none: nothing
/// would come of keeping others off. Best effort: leases are in memory only, and commits that go around the coalescer are
/// not checked.
struct Leases {
    private struct Key: Hashable {
        let room: Identifier
        let element: Identifier
    }

    private struct Lease {
        var sid: Identifier
        var user: Identifier
        /// The newest gesture that renewed it.
        var gesture: UInt64
        var renewedAt: Instant
        /// True after the end of that gesture. Kept, because previews of it may still arrive: they have a lane of their
        /// own.
        var isReleased = false
    }

    /// How long a lease lasts without a preview; 0 disables leases.
    private let length: Nanoseconds
    /// The maximum number of leases; beyond it elements may be moved without one.
    private let maximum: Int
    private var leases: [Key: Lease] = [:]
    /// Each lease, since when it was not checked for its end.
    private var aging: Deque<(key: Key, since: Instant)> = []

    init(length: Nanoseconds, maximum: Int) {
        self.length = length
        self.maximum = maximum
    }

    /// How many are known, including released ones.
    var count: Int { self.leases.count }

    /// A preview came. The first one of an element acquires its lease, further ones of the holder renew it. One whose user
    /// may not commit, any more perhaps, releases what its session holds. Cursors have no element that they could share.
    /// - Returns: false when another session holds the lease.
    mutating func admit(_ preview: Preview, at now: Instant) -> Bool {
        guard self.length > .zero, !preview.isAttention else { return true }
        let key = Key(room: preview.room, element: preview.element)
        if let lease = self.leases[key], now < lease.renewedAt + self.length {
            if lease.sid == preview.sid, lease.isReleased, preview.gesture <= lease.gesture { return true }
            guard lease.sid == preview.sid || lease.isReleased else { return false }
        }
        if preview.isPreviewOnly {
            self.gestureEnded(preview.gesture, on: preview.element, in: preview.room, of: preview.sid)
            return true
        }
        self.set(
            Lease(sid: preview.sid, user: preview.user, gesture: preview.gesture, renewedAt: now), for: key, at: now)
        return true
    }

    private mutating func set(_ lease: Lease, for key: Key, at now: Instant) {
        if self.leases[key] == nil {
            guard self.leases.count < self.maximum else { return }
            self.aging.append((key, now))
        }
        self.leases[key] = lease
    }

    /// The user that holds an element's lease; nil when nobody or the session itself does.
    func holder(of element: Identifier, in room: Identifier, otherThan sid: Identifier, at now: Instant) -> Identifier?
    {
        guard !self.leases.isEmpty, let lease = self.leases[Key(room: room, element: element)], !lease.isReleased,
            lease.sid != sid, now < lease.renewedAt + self.length
        else { return nil }
        return lease.user
    }

    /// A gesture ended, with or without a commit: its session releases the element.
    mutating func gestureEnded(_ gesture: UInt64, on element: Identifier, in room: Identifier, of sid: Identifier) {
        guard !self.leases.isEmpty else { return }
        let key = Key(room: room, element: element)
        guard let lease = self.leases[key], lease.sid == sid, lease.gesture <= gesture else { return }
        self.leases[key]?.isReleased = true
    }

    /// Removes leases that have ended. Cheap when there are none; call it in every turn.
    mutating func forgetEnded(at now: Instant) {
        while let first = self.aging.first, now >= first.since + self.length {
            self.aging.removeFirst()
            guard let lease = self.leases[first.key] else { continue }
            if now >= lease.renewedAt + self.length {
                self.leases[first.key] = nil
            } else {
                self.aging.append((first.key, lease.renewedAt))
            }
        }
    }
}
