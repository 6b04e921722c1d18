internal import DequeModule
internal import Timing
internal import Wire

/// Reads of rooms' histories that wait for the database. It is asked for one page at a time, so that any number of them
/// delays a join by no more than one page.
///
///     enqueue ──► waits ──startNext──► under way ──finish──► answered
struct HistoryReads: Sendable {
    /// One read.
    struct Pending: Equatable, Sendable {
        let read: HistoryRead
        let gateway: GatewayID
        /// When it is refused if its turn has not come.
        let expiresAt: Instant
    }

    private var waiting: Deque<Pending> = []
    private var underWay: Pending?

    /// How many wait or are under way.
    var count: Int { self.waiting.count + (self.underWay == nil ? 0 : 1) }

    mutating func enqueue(_ read: Pending) {
        self.waiting.append(read)
    }

    /// The read whose turn has come; nil while one is under way, or none waits.
    mutating func startNext() -> Pending? {
        guard self.underWay == nil else { return nil }
        self.underWay = self.waiting.popFirst()
        return self.underWay
    }

    /// The read that was under way; nil when none was.
    mutating func finish() -> Pending? {
        exchange(&self.underWay, with: nil)
    }
}
