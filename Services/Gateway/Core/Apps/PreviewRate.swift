import Timing

/// How often a connection may show something: previews and awareness.
///
/// What is too much for it waits, and so does all that comes later, until nothing waits any more. If whatever came just
/// when there was a token again went at once, what an app sends most often would keep the rest waiting.
struct PreviewRate {
    private var limit: RateMeter
    /// True while something waits for the rate.
    var isExceeded = false

    init(perSecond: Int) { self.limit = RateMeter(perSecond: perSecond) }

    /// Whether something new may go: not before what waits.
    mutating func spend(at now: Instant) -> Bool { !self.isExceeded && self.limit.spend(at: now) }

    /// Whether the next one may go of what waits.
    mutating func spendForNext(at now: Instant) -> Bool { self.limit.spend(at: now) }
}
