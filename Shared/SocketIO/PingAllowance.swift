internal import Timing

/// Decides which WebSocket pings of one connection are answered. RFC 6455 section 5.5.3 lets an endpoint answer only the
/// most recent of several pings; a flood ends the connection.
public struct PingAllowance: Sendable {
    public enum Verdict: Sendable, Equatable {
        case answer
        /// Over the rate: answer it unless another ping has already been received.
        case answerIfLast
        /// Too many: close with 1008.
        case close
    }

    private var rate: RateMeter
    /// Pings over the rate.
    private var excess = 0
    /// Pings answered per second after the burst.
    private static let perSecond = 10
    private static let maxExcess = 100

    /// Nothing was received yet.
    /// - Parameter burst: pings answered immediately after a pause.
    public init(burst: Int) {
        self.rate = RateMeter(perSecond: Self.perSecond, burst: burst)
    }

    /// A ping arrived.
    /// - Parameter now: nanoseconds.
    public mutating func pingReceived(at now: UInt64) -> Verdict {
        if self.rate.spend(at: Instant(nanoseconds: now)) { return .answer }
        self.excess += 1
        return self.excess > Self.maxExcess ? .close : .answerIfLast
    }
}
