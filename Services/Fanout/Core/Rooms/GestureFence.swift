internal import Canvas
internal import Timing
internal import Wire

/// What is known of the gestures of one session on one element.
///
///     previews of gesture g ──► shown = g (open) ──► the commit of g, or its end without one ──► closed = g
///
/// Nothing of a gesture ≤ `closed` is sent on. An open gesture is remembered until something ends it; a closed one
/// for as long as a late preview of it could still be under way.
struct GestureFence: Sendable {
    /// The session's public name.
    let sid: Identifier
    /// The highest gesture that ended.
    var closed: UInt64 = 0
    /// The highest gesture of which a preview was sent on.
    var shown: UInt64 = 0
    /// When the first preview of that gesture was sent on.
    var beganAt = Instant.never
    /// The connection that the last preview came from.
    var connection: UInt64 = 0
    /// What was shown of the gesture, if gateways need to know where.
    var motion = GestureMotion.unknown
    /// When it was last of use.
    var touched: Instant

    /// True while others see a gesture that has not ended.
    var isOpen: Bool { self.shown > self.closed }

    /// True while others see a gesture that another connection has gone on with.
    func isContinued(after connection: UInt64) -> Bool { self.isOpen && self.connection != connection }

    /// A preview of a gesture passes.
    mutating func show(_ gesture: UInt64, from connection: UInt64, at now: Instant) {
        if gesture > self.shown {
            self.shown = gesture
            self.beganAt = now
        }
        self.connection = connection
        self.touched = now
    }
}

/// What others see of a gesture. Boxed, because it is known in rooms with viewports only.
indirect enum GestureMotion: Sendable {
    /// Nothing was shown yet, or nobody needs to know where.
    case unknown
    /// What its last preview shows, and where that shows the element.
    case shown(TransformFields, PreviewArea, of: UInt64)
}

/// The gestures on one element, by session: few at a time, so they are searched one by one.
struct GestureFences: Sendable {
    private(set) var all: [GestureFence] = []

    func index(of sid: Identifier) -> Int? {
        self.all.firstIndex { $0.sid == sid }
    }

    subscript(index: Int) -> GestureFence {
        get { self.all[index] }
        _modify { yield &self.all[index] }
    }

    /// The index of a session's fence, made if need be for a preview. When too many sessions show previews of gestures that
    /// have not ended, the one that was idle longest gives way, unless that was of use lately: then there is none.
    mutating func ensure(for sid: Identifier, at now: Instant, limits: FanoutLimits) -> Int? {
        if let index = self.index(of: sid) { return index }
        guard self.makeSpace(at: now, limits: limits) else { return nil }
        return self.append(sid, at: now)
    }

    private mutating func append(_ sid: Identifier, at now: Instant) -> Int {
        self.all.append(GestureFence(sid: sid, touched: now))
        return self.all.count - 1
    }

    /// Fences that closed a gesture are not counted and stay for their time: a late preview must not pass, and a session
    /// gets such a fence by a commit or by the end of a gesture, which have rates.
    /// - Returns: false when too many sessions show previews, all of them lately.
    private mutating func makeSpace(at now: Instant, limits: FanoutLimits) -> Bool {
        if self.all.count < limits.fencesPerElement { return true }
        self.removeExpired(at: now, limits: limits)
        let neverClosed = self.all.indices.filter { self.all[$0].closed == 0 }
        if neverClosed.count < limits.fencesPerElement { return true }
        guard let idle = neverClosed.min(by: { self.all[$0].touched < self.all[$1].touched }),
            now >= self.all[idle].touched + limits.fenceTenure
        else { return false }
        self.all.remove(at: idle)
        return true
    }

    mutating func removeExpired(at now: Instant, limits: FanoutLimits) {
        self.all.removeAll { !$0.isOpen && now >= $0.touched + limits.fenceAge }
    }

    /// True while a late preview may be under way of any gesture, open or not.
    func isOfUse(at now: Instant, limits: FanoutLimits) -> Bool {
        self.all.contains { now < $0.touched + limits.fenceAge }
    }

    /// A commit closed a session's gestures up to `gesture`. There is always space for it: no preview may follow.
    mutating func close(_ gesture: UInt64, of sid: Identifier, at now: Instant) {
        _ = self.end(gesture, at: self.index(of: sid) ?? self.append(sid, at: now), now)
    }

    /// A session's gestures up to `gesture` ended; true when others saw just that one and it was open.
    mutating func end(_ gesture: UInt64, of sid: Identifier, at now: Instant, limits: FanoutLimits) -> Bool {
        // Without space no preview of it was shown, and none will be soon.
        guard let index = self.ensure(for: sid, at: now, limits: limits) else { return false }
        return self.end(gesture, at: index, now)
    }

    private mutating func end(_ gesture: UInt64, at index: Int, _ now: Instant) -> Bool {
        let wasShown = self.all[index].isOpen && self.all[index].shown == gesture
        self.all[index].closed = max(self.all[index].closed, gesture)
        if !self.all[index].isOpen { self.all[index].motion = .unknown }
        self.all[index].touched = now
        return wasShown
    }
}
