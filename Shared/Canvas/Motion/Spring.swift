/// A damped spring: x″ + 2ζω·x′ + ω²·x = 0 for the displacement x from where it rests.
public struct Spring: Equatable, Sendable {
    /// The period without damping, 2π / ω, seconds above 0.
    public var response: Double
    /// ζ, above 0: below 1 it overshoots, at 1 it is critically damped.
    public var damping: Double
    /// The speed at the beginning, units a second.
    public var velocity: Double

    /// The longest time to settle, ms.
    public static let longest = 600_000.0

    public init(response: Double, damping: Double, velocity: Double = 0) {
        self.response = response
        self.damping = damping
        self.velocity = velocity
    }

    /// The displacement, and its velocity a second, some seconds after it was `x0`. In closed form, see for example
    /// Symon, Mechanics, section 2.9, "The damped harmonic oscillator".
    public func displacement(from x0: Double, after seconds: Double) -> (x: Double, v: Double) {
        let omega = 2 * Double.pi / self.response
        let rate = self.damping * omega
        if (self.damping - 1).magnitude < 1e-6 {
            let c = self.velocity + omega * x0
            let left = exponential(-omega * seconds)
            return ((x0 + c * seconds) * left, (self.velocity - omega * c * seconds) * left)
        }
        if self.damping < 1 {
            let b = omega * (1 - self.damping * self.damping).squareRoot()
            let across = (self.velocity + rate * x0) / b
            let (left, phase) = (exponential(-rate * seconds), b * seconds)
            return (
                left * (x0 * cosine(phase) + across * sine(phase)),
                left * (self.velocity * cosine(phase) - (rate * across + b * x0) * sine(phase))
            )
        }
        let root = omega * (self.damping * self.damping - 1).squareRoot()
        // The product of both rates is ω²; their difference would lose digits.
        let (fast, slow) = (-rate - root, -(omega * omega) / (rate + root))
        let slowPart = (self.velocity - fast * x0) / (slow - fast)
        let (atFast, atSlow) = (
            (x0 - slowPart) * exponential(fast * seconds), slowPart * exponential(slow * seconds)
        )
        return (atFast + atSlow, fast * atFast + slow * atSlow)
    }

    /// From when on the displacement stays below `epsilon`: the first whole ms, `longest` at most. 0 if it never is as
    /// large.
    public func settlingTime(from x0: Double, epsilon: Double) -> Double {
        // With room for rounding.
        let limit = epsilon * (1 - 1e-9)
        func isSettled(_ seconds: Double) -> Bool { self.displacement(from: x0, after: seconds).x.magnitude < limit }
        // Between its extremes the displacement rises or falls only: behind the last large one it becomes small once.
        let turn = self.lastTurn(from: x0, notBelow: limit)
        let start = turn.last ?? 0
        guard turn.last != nil || x0.magnitude >= limit else { return 0 }
        var end = turn.next ?? max(start, self.response)
        while turn.next == nil, end * 1000 < Self.longest, !isSettled(end) { end *= 2 }
        let seconds = bisected(from: start, to: end, isSettled)
        return min((seconds * 1000).rounded(.up), Self.longest)
    }

    /// When the displacement is extreme for the last time of at least `limit`, and when for the next time; nil: never.
    /// Seconds.
    private func lastTurn(from x0: Double, notBelow limit: Double) -> (last: Double?, next: Double?) {
        let omega = 2 * Double.pi / self.response
        let rate = self.damping * omega
        guard self.damping < 1 - 1e-6 else {
            guard let turn = self.onlyTurn(from: x0, omega: omega, rate: rate) else { return (nil, nil) }
            let isLarge = self.displacement(from: x0, after: turn).x.magnitude >= limit
            return isLarge ? (turn, nil) : (nil, turn)
        }
        // The velocity is e^(−rate·t) · (v·cos bt − q·sin bt), which is 0 once in each half period.
        let b = omega * (1 - self.damping * self.damping).squareRoot()
        let q = (rate * (self.velocity + rate * x0)) / b + b * x0
        guard self.velocity != 0 || q != 0 else { return (nil, nil) }
        let phase =
            self.velocity == 0
            ? 0
            : bisected(from: 0, to: Double.pi) {
                let speed = self.velocity * cosine($0) - q * sine($0)
                return self.velocity > 0 ? speed <= 0 : speed >= 0
            }
        let first = self.displacement(from: x0, after: phase / b).x.magnitude
        guard first >= limit else { return (nil, phase / b) }
        let turns = (logarithm(first / limit) * b / (rate * Double.pi)).rounded(.down)
        return ((phase + turns * Double.pi) / b, (phase + (turns + 1) * Double.pi) / b)
    }

    /// The extreme of a displacement that swings through at most once.
    private func onlyTurn(from x0: Double, omega: Double, rate: Double) -> Double? {
        if (self.damping - 1).magnitude < 1e-6 {
            let c = self.velocity + omega * x0
            let time = self.velocity / (omega * c)
            return time.isFinite && time > 0 ? time : nil
        }
        let root = omega * (self.damping * self.damping - 1).squareRoot()
        let (fast, slow) = (-rate - root, -(omega * omega) / (rate + root))
        let slowPart = (self.velocity - fast * x0) / (slow - fast)
        let ratio = -(x0 - slowPart) * fast / (slowPart * slow)
        return ratio.isFinite && ratio > 1 ? logarithm(ratio) / (slow - fast) : nil
    }
}
