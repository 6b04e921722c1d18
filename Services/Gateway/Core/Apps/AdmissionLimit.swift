package import Timing
package import Wire

/// What one connection may cost with the tokens that it presents: checks of signatures at a rate, and a number of
/// refusals. After these it is closed, because a client that is refused again and again does not get better, and its
/// connection stays open otherwise, so that it may try again with another token.
package struct AdmissionLimit: Sendable {
    private var checks: RateMeter
    private var refusalsLeft: Int

    package init(limits: GatewayLimits) {
        self.checks = RateMeter(perSecond: limits.tokenChecksPerSecond, burst: limits.tokenChecksPerSecond * Self.burst)
        self.refusalsLeft = limits.refusedTokens
    }

    /// A token is about to be checked.
    /// - Throws: when the rate allows no check now, with the time to wait.
    package mutating func startCheck(at now: Instant) throws(Refusal) {
        guard !self.checks.spend(at: now) else { return }
        throw .tooManyTokens(retryAfterMs: self.checks.wait(at: now).retryMilliseconds)
    }

    /// A CONNECT or `auth:refresh` was refused, for whatever reason.
    /// - Returns: true when the connection is to be closed.
    package mutating func refused() -> Bool {
        self.refusalsLeft -= 1
        return self.refusalsLeft <= 0
    }

    /// Seconds' worth of checks that may come together after a pause.
    package static let burst = 5
}

extension Refusal {
    package static func tooManyTokens(retryAfterMs: UInt32) -> Refusal {
        Refusal(.rateLimited, "Tokens are presented too often.", retryAfterMs: retryAfterMs)
    }
}
