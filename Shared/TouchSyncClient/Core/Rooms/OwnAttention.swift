import Canvas

/// This user's cursor, selection and viewport. They are sent again after each join.
struct OwnAttention: Sendable {
    /// Where this user points; nil: nowhere.
    var cursor: Point?
    /// Nil as long as nothing was selected.
    var selection: [String]?
    /// Nil for everything.
    var viewport: Rect?
    /// When cursors and viewports may be sent.
    var cursorPace = AttentionPace()
    var viewportPace = AttentionPace()

    /// When a waiting cursor or viewport is to be sent, ms.
    var deadline: Int64? { earliest(self.cursorPace.dueAt, self.viewportPace.dueAt) }

    /// Whether the cursor must be sent after a join. A removed one must be, too, if one was sent over this connection.
    var hasCursorToTell: Bool { self.cursor != nil || self.cursorPace.hasTold }
    /// The same of the viewport.
    var hasViewportToTell: Bool { self.viewport != nil || self.viewportPace.hasTold }

    /// The next connection knows nothing of this user.
    mutating func connectionLost() {
        self.cursorPace = AttentionPace()
        self.viewportPace = AttentionPace()
    }
}

/// Throttles a value of which only the latest counts: it is sent at most once in an interval, and the last one always.
struct AttentionPace: Sendable {
    /// The earliest time of the next send, ms; nil until something was sent over this connection.
    private var nextSlot: Int64?
    /// When a waiting value is to be sent, ms.
    private(set) var dueAt: Int64?

    /// Whether something was sent over this connection.
    var hasTold: Bool { self.nextSlot != nil }

    /// There is a new value.
    /// - Returns: whether it may be sent now; otherwise it waits.
    mutating func offer(at now: Int64, interval: Int64) -> Bool {
        if let nextSlot, now < nextSlot {
            self.dueAt = nextSlot
            return false
        }
        self.told(at: now, interval: interval)
        return true
    }

    /// Whether a waiting value is due, which is to be sent then.
    mutating func due(at now: Int64, interval: Int64) -> Bool {
        guard let dueAt, now >= dueAt else { return false }
        self.told(at: now, interval: interval)
        return true
    }

    /// The server refused a value for now: the latest one is sent after `retryAfter` ms.
    mutating func refused(at now: Int64, retryAfter: Int64) {
        self.nextSlot = now.plus(retryAfter)
        self.dueAt = self.nextSlot
    }

    private mutating func told(at now: Int64, interval: Int64) {
        self.nextSlot = now.plus(interval)
        self.dueAt = nil
    }
}
