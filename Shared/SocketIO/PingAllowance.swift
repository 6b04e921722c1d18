/// Decides which WebSocket pings of one connection are answered. RFC 6455 section 5.5.3 lets an endpoint answer only
/// some pings of a burst; a flood ends the connection.
public struct PingAllowance: Sendable {
    /// The reaction to a ping.
    public enum Verdict: Sendable, Equatable {
        case answer
        case ignore
        /// Too many: close with 1008.
        case close
    }

    /// Nil until the first ping, as most connections never receive one.
    private var budget: PacketBudget?
    private var unanswered = 0
    /// Pings answered per second after the burst.
    private static let rate: Float = 10
    private static let maxUnanswered = 100

    /// Nothing was received yet.
    public init() {}

    /// A ping arrived.
    /// - Parameters:
    ///   - burst: pings answered immediately.
    ///   - now: nanoseconds.
    public mutating func pingReceived(burst: Float, at now: UInt64) -> Verdict {
        var budget = self.budget ?? PacketBudget(burst: burst, at: now)
        let isWithinBudget = budget.spend(burst: burst, rate: Self.rate, at: now)
        self.budget = budget
        if isWithinBudget { return .answer }
        self.unanswered += 1
        return self.unanswered > Self.maxUnanswered ? .close : .ignore
    }
}
