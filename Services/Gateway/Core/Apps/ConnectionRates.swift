import Timing
import Wire

/// How often the app of one connection may ask for something, commits and tokens aside.
struct ConnectionRates {
    /// Previews and awareness.
    var previews: PreviewRate
    var viewports: RateMeter
    /// Whether the connection lives.
    var pings: RateMeter
    var joins: RateMeter
    /// Gestures that end without a commit: each end goes to everybody in the room.
    var ends: RateMeter
    /// When a refusal of a preview was last reported, by code.
    private var reportedAt: [RefusalCode: Instant] = [:]

    /// Refusals of previews with the same code are reported no more often than that.
    private static let reportPause = Nanoseconds.seconds(1)

    init(limits: GatewayLimits) {
        self.previews = PreviewRate(perSecond: limits.previewsPerSecond)
        self.viewports = RateMeter(perSecond: limits.previewsPerSecond)
        self.pings = RateMeter(perSecond: 2)
        // Whoever lost its connection joins all its rooms again, perhaps twice.
        self.joins = RateMeter(perSecond: limits.connectionJoinsPerSecond, burst: 4 * limits.rooms)
        self.ends = RateMeter(perSecond: limits.commitsPerSecond, burst: limits.group)
    }

    /// Whether a refused preview is reported now; its app did not ask for an answer, and may send very many.
    mutating func reports(_ code: RefusalCode, at now: Instant) -> Bool {
        if let last = self.reportedAt[code], now < last + Self.reportPause { return false }
        self.reportedAt[code] = now
        return true
    }
}

/// How often a connection may show something: previews and awareness.
///
/// What is too much for it waits, and so does all that comes later, until nothing waits any more. If whatever came just
/// when there was a token again went at once, what an app sends most often would keep the rest waiting.
struct PreviewRate {
    private var limit: RateMeter
    /// True while something waits for the rate.
    var isExceeded = false

    init(perSecond: Int) { self.limit = RateMeter(perSecond: perSecond) }

    /// Whether a new preview may be sent now; never while earlier ones wait.
    mutating func spend(at now: Instant) -> Bool { !self.isExceeded && self.limit.spend(at: now) }

    /// Whether the next of the waiting previews may be sent now.
    mutating func spendForNext(at now: Instant) -> Bool { self.limit.spend(at: now) }
}
