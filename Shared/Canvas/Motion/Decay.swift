/// A speed that loses the same share in each ms: v(t) = v₀ · rate^t.
public struct Decay: Equatable, Sendable {
    /// The share of the speed that is left after a ms, in 0.9…0.9995.
    public var rate: Double

    /// The rates that apps may ask for.
    public static let rates = 0.9...0.9995

    public init(rate: Double) {
        self.rate = rate
    }

    /// rate^ms, the share of the speed that is left.
    public func left(after ms: Double) -> Double { exponential(ms * logarithm(self.rate)) }

    /// The share of a way that is made after some ms, if it is all made after `end`: the integral of the speed.
    public func progress(after ms: Double, of end: Double) -> Double {
        (1 - self.left(after: ms)) / (1 - self.left(after: end))
    }

    /// The derivative of `progress`, a second.
    public func speed(after ms: Double, of end: Double) -> Double {
        -1000 * logarithm(self.rate) * self.left(after: ms) / (1 - self.left(after: end))
    }
}
