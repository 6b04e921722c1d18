import Canvas

/// What others see of this user: cursor, selection and viewport. It is sent again after each join.
struct OwnAttention: Sendable {
    /// A cursor to send; without a position it is hidden.
    struct Cursor: Sendable {
        let point: Point?
    }

    /// Nil while nothing is shown.
    private(set) var cursor: Cursor?
    /// Nil as long as nothing was selected.
    var selection: [String]?
    /// Nil for everything.
    var viewport: Rect?
    private var throttle = Throttle<Cursor>(interval: 16)

    /// When a cursor is to be sent, ms.
    var deadline: Int64? { self.throttle.deadline }

    /// This user points at a position.
    mutating func point(at point: Point?) {
        self.cursor = point.map { Cursor(point: $0) }
    }

    /// The cursor that may be sent now, at most one in an interval, ms.
    mutating func offer(_ point: Point?, at now: Int64, interval: Int64) -> Cursor? {
        self.throttle.interval = interval
        return self.throttle.offer(Cursor(point: point), at: now)
    }

    /// The cursor that waited until now.
    mutating func due(at now: Int64, interval: Int64) -> Cursor? {
        self.throttle.interval = interval
        return self.throttle.due(at: now)
    }
}
