/// Decides which WebSocket pings of one connection are answered. RFC 6455 section 5.5.3 lets an endpoint answer only the
/// most recent of several pings; a flood ends the connection.
public struct PingAllowance: Sendable {
    /// The reaction to a ping.
    public enum Verdict: Sendable, Equatable {
        case answer
        /// Over the rate: answer it unless another ping has already been received.
        case answerIfLast
        /// Too many: close with 1008.
        case close
    }

    /// Nil until the first ping, as most connections never receive one.
    private var budget: PacketBudget?
    /// Pings over the rate.
    private var excess = 0
    /// Pings answered per second after the burst.
    private static let rate: Float = 10
    private static let maxExcess = 100

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
        self.excess += 1
        return self.excess > Self.maxExcess ? .close : .answerIfLast
    }
}
