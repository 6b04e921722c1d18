/// How a value goes from one to another.
public enum Curve: Equatable, Sendable {
    case easing(Easing)
    case spring(Spring)
    case decay(Decay)
}

/// A value's way from one to another.
public struct Segment: Equatable, Sendable {
    /// The value at its beginning and at its end.
    public var from, to: Double
    /// How long it lasts, above 0; may be a fraction.
    public var ms: Double
    /// What happens in between.
    public var curve: Curve

    public init(from: Double, to: Double, ms: Double, curve: Curve) {
        self.from = from
        self.to = to
        self.ms = ms
        self.curve = curve
    }

    /// The value some ms after its beginning; from its end on exactly `to`.
    public func value(after elapsed: Double) -> Double {
        if elapsed >= self.ms { return self.to }
        switch self.curve {
        case .easing(let easing):
            return interpolated(from: self.from, to: self.to, fraction: easing.progress(at: elapsed / self.ms))
        case .spring(let spring):
            return self.to + spring.displacement(from: self.from - self.to, after: elapsed / 1000).x
        case .decay(let decay):
            return interpolated(from: self.from, to: self.to, fraction: decay.progress(after: elapsed, of: self.ms))
        }
    }

    /// Its velocity then, units a second, if a spring or a decay moves it; 0 where an easing does, and from its end on.
    public func velocity(after elapsed: Double) -> Double {
        if elapsed >= self.ms { return 0 }
        switch self.curve {
        case .easing: return 0
        case .spring(let spring): return spring.displacement(from: self.from - self.to, after: elapsed / 1000).v
        case .decay(let decay): return (self.to - self.from) * decay.speed(after: elapsed, of: self.ms)
        }
    }
}
