import Canvas

/// What others see of this user: cursor, selection and viewport. It is told again after each join.
struct OwnAttention: Sendable {
    /// Where this user points; nil: nowhere.
    var cursor: Point?
    /// Nil as long as nothing was selected.
    var selection: [String]?
    /// Nil for everything.
    var viewport: Rect?
    /// When cursors and viewports may be told.
    var cursorPace = AttentionPace()
    var viewportPace = AttentionPace()

    /// When a cursor or a viewport is to be told, ms.
    var deadline: Int64? { earliest(self.cursorPace.dueAt, self.viewportPace.dueAt) }

    /// Whether the cursor is to be told after a join: that there is none any more, too, if there was one.
    var hasCursorToTell: Bool { self.cursor != nil || self.cursorPace.hasTold }
    /// The same of the viewport.
    var hasViewportToTell: Bool { self.viewport != nil || self.viewportPace.hasTold }

    /// The next connection knows nothing of this user.
    mutating func connectionLost() {
        self.cursorPace = AttentionPace()
        self.viewportPace = AttentionPace()
    }
}

/// When something is told of which the latest value counts: at most once in an interval, and the last value always.
struct AttentionPace: Sendable {
    /// Before when nothing more is told, ms; nil as long as nothing was told over the connection.
    private var nextSlot: Int64?
    /// When a value that waits is to be told, ms.
    private(set) var dueAt: Int64?

    /// Whether something was told over the connection.
    var hasTold: Bool { self.nextSlot != nil }

    /// There is something to be told.
    /// - Returns: whether it may be told now; otherwise it waits.
    mutating func offer(at now: Int64, interval: Int64) -> Bool {
        if let nextSlot, now < nextSlot {
            self.dueAt = nextSlot
            return false
        }
        self.told(at: now, interval: interval)
        return true
    }

    /// Whether something waited until now, which is told.
    mutating func due(at now: Int64, interval: Int64) -> Bool {
        guard let dueAt, now >= dueAt else { return false }
        self.told(at: now, interval: interval)
        return true
    }

    /// The server took none for now: the latest value is told after a pause, ms.
    mutating func refused(at now: Int64, retryAfter: Int64) {
        self.nextSlot = now.plus(retryAfter)
        self.dueAt = self.nextSlot
    }

    private mutating func told(at now: Int64, interval: Int64) {
        self.nextSlot = now.plus(interval)
        self.dueAt = nil
    }
}
