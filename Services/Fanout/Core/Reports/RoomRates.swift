internal import Timing

/// How often something happens in a room, over about the last four seconds.
///
/// A sliding window counter: the present window, and of the one before it as much as lies less than four seconds back.
/// An event costs an addition; the windows move when the room is visited anyway.
struct RoomRates: Sendable {
    private struct Counts: Sendable {
        var updates: UInt32 = 0
        var previews: UInt32 = 0
    }

    private static let window = Nanoseconds.seconds(4)
    private var windowStart = Instant.start
    private var present = Counts()
    private var previous = Counts()

    /// A preview came, in the window that ``advance(to:)`` has begun.
    mutating func previewReceived() { self.present.previews &+= 1 }

    mutating func updateApplied(at now: Instant) {
        self.advance(to: now)
        self.present.updates &+= 1
    }

    /// Begins the window that the moment is in.
    mutating func advance(to now: Instant) {
        let elapsed = now.elapsed(since: self.windowStart)
        guard elapsed >= Self.window else { return }
        let isNext = elapsed < Self.window * 2
        self.previous = isNext ? self.present : Counts()
        self.present = Counts()
        self.windowStart = isNext ? self.windowStart + Self.window : now
    }

    /// Both rates at a moment, per second.
    func perSecond(at now: Instant) -> (updates: Double, previews: Double) {
        var rates = self
        rates.advance(to: now)
        let window = Self.window.seconds
        let share = 1 - now.elapsed(since: rates.windowStart).seconds / window
        return (
            (Double(rates.present.updates) + share * Double(rates.previous.updates)) / window,
            (Double(rates.present.previews) + share * Double(rates.previous.previews)) / window
        )
    }
}
