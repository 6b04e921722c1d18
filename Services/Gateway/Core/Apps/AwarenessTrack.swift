import Timing
import Wire

/// What an app shows of its person in one room: the latest of each part, and which parts wait for the rate limit.
struct AwarenessTrack {
    private var shown = ShownAwareness(sid: "")
    /// The parts that wait, the one that has waited longest first. At most one of each.
    private var waiting: [AwarenessPart] = []
    /// Roughly the bytes of the selection and the state.
    private(set) var bytes = 0
    /// When the last cursor was released.
    private var cursorReleasedAt: Instant?

    /// What nobody has changed since then is newer than what an earlier membership of the same connection showed.
    init(since now: Instant) { self.shown.version = Self.version(at: now) }

    /// Versions grow with time: what a later membership of the same connection shows is newer.
    private static func version(at now: Instant) -> UInt64 { now.elapsed(since: .start).milliseconds << 10 }

    /// True while something waits for the rate limit.
    var isHeld: Bool { !self.waiting.isEmpty }

    var sharesViewport: Bool { self.shown.viewport != nil }

    /// What others should see.
    func state(sid: Identifier) -> ShownAwareness {
        var shown = self.shown
        shown.sid = sid
        return shown
    }

    /// Notes a change, which waits until it is released.
    mutating func change(_ value: AwarenessValue, at now: Instant) {
        self.shown.version = max(self.shown.version + 1, Self.version(at: now))
        self.bytes += value.bytes - self.shown[value.part].bytes
        self.shown[value.part] = value
        self.hold(value.part)
    }

    private mutating func hold(_ part: AwarenessPart) {
        if !self.waiting.contains(part) { self.waiting.append(part) }
    }

    /// A fan-out may have forgotten what was sent: it is sent again, unless it is nothing.
    mutating func sendAgain() {
        for part in self.shown.parts { self.hold(part) }
        if self.isHeld { self.shown.version += 1 }
    }

    /// A new session begins: nothing is shown.
    mutating func reset() {
        let version = self.shown.version
        self.shown = ShownAwareness(sid: "")
        self.shown.version = version
        (self.waiting, self.bytes, self.cursorReleasedAt) = ([], 0, nil)
    }

    /// Removes the part that has waited longest.
    mutating func releaseNext(
        in room: Identifier, by mover: (connection: UInt64, user: Identifier), sid: Identifier, at now: Instant
    ) -> Awareness? {
        self.waiting.first.map { self.release($0, in: room, by: mover, sid: sid, at: now) }
    }

    /// Removes a part that waits.
    mutating func release(
        _ part: AwarenessPart, in room: Identifier, by mover: (connection: UInt64, user: Identifier), sid: Identifier,
        at now: Instant
    ) -> Awareness {
        self.waiting.removeAll { $0 == part }
        var awareness = Awareness(
            room: room, connection: mover.connection, user: mover.user, sid: sid, version: self.shown.version,
            value: self.shown[part])
        if part == .cursor {
            let sinceLast = self.cursorReleasedAt.map { now.elapsed(since: $0).milliseconds } ?? 0
            awareness.sinceLast = UInt32(clamping: sinceLast)
            self.cursorReleasedAt = now
        }
        return awareness
    }
}
