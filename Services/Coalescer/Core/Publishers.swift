import Timing

/// Counts a room's moving keys: those with traffic in the current span of time or in the previous one.
struct Publishers {
    private var began = Instant.start
    private var number: UInt32 = 0
    private var current = 0
    private var previous = 0

    /// The number of moving keys.
    var count: Int { max(self.current, self.previous) }

    /// Records that a key moved.
    /// - Parameters:
    ///   - movedIn: the span in which the key moved last; becomes the current one.
    ///   - span: the length of a span.
    mutating func keyMoved(_ movedIn: inout UInt32, at now: Instant, span: Nanoseconds) {
        if self.number == 0 || now >= self.began + span {
            let isNext = now < self.began + span + span
            self.previous = isNext ? self.current : 0
            self.current = 0
            self.began = now
            self.number &+= 1
        }
        guard movedIn != self.number else { return }
        movedIn = self.number
        self.current += 1
    }
}
