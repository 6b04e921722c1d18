/// Remembers what was used within a span of time, in two generations: entries are forgotten after one to two spans.
struct NonceMemory {
    enum Insertion: Equatable {
        case new
        case known
        case full
    }

    private let span: Int64
    private let capacity: Int
    private var recent: Set<[UInt8]> = []
    private var former: Set<[UInt8]> = []
    private var turnedAt: Int64?

    /// - Parameters:
    ///   - span: ms for which an entry is remembered at least.
    ///   - capacity: entries of one span.
    init(span: Int64, capacity: Int) {
        self.span = span
        self.capacity = capacity
    }

    /// - Parameter now: ms; a clock that is set back keeps entries for longer.
    mutating func insert(_ nonce: [UInt8], at now: Int64) -> Insertion {
        let turnedAt = self.turnedAt ?? now
        if self.turnedAt == nil { self.turnedAt = now }
        if now - turnedAt >= self.span {
            // After a long pause nothing of either generation matters any more.
            self.former = now - turnedAt >= 2 * self.span ? [] : self.recent
            self.recent = []
            self.turnedAt = now
        }
        guard !self.recent.contains(nonce), !self.former.contains(nonce) else { return .known }
        guard self.recent.count < self.capacity else { return .full }
        self.recent.insert(nonce)
        return .new
    }
}
