import Timing
import Wire

/// What an app shows of its person in one room: the latest of each part, and which parts wait for the rate limit.
struct AwarenessTrack {
    private var shown = ShownAwareness(sid: "")
    /// The parts that wait, the one that has waited longest first. At most one of each.
    private var waiting: [AwarenessPart] = []
    /// Roughly the bytes of the selection and the state.
    private(set) var bytes = 0
    private var cursorReleasedAt: Instant?

    /// What nobody has changed since then is newer than what an earlier membership of the same connection showed.
    init(since now: Instant) { self.shown.version = Self.version(at: now) }

    /// Versions grow with time: what a later membership of the same connection shows is newer.
    private static func version(at now: Instant) -> UInt64 { now.elapsed(since: .start).milliseconds << 10 }

    /// The part that has waited longest for the rate limit; nil: none waits.
    var firstHeld: AwarenessPart? { self.waiting.first }

    var sharesViewport: Bool { self.shown.viewport != nil }

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
        if !self.waiting.isEmpty { self.shown.version += 1 }
    }

    /// A new session begins: nothing is shown.
    mutating func reset() {
        let version = self.shown.version
        self.shown = ShownAwareness(sid: "")
        self.shown.version = version
        (self.waiting, self.bytes, self.cursorReleasedAt) = ([], 0, nil)
    }

    /// Removes a part that waits.
    mutating func release(
        _ part: AwarenessPart, in room: Identifier, by connection: UInt64, _ user: Identifier, sid: Identifier,
        at now: Instant
    ) -> Awareness {
        self.waiting.removeAll { $0 == part }
        var awareness = Awareness(
            room: room, connection: connection, user: user, sid: sid, version: self.shown.version,
            value: self.shown[part])
        if part == .cursor {
            let sinceLast = self.cursorReleasedAt.map { now.elapsed(since: $0).milliseconds } ?? 0
            awareness.sinceLast = UInt32(clamping: sinceLast)
            self.cursorReleasedAt = now
        }
        return awareness
    }
}
