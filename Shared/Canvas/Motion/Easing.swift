/// Which share of its way a value has made at a share of its time: the easing functions of CSS (Easing Functions
/// Level 2).
public enum Easing: Equatable, Sendable {
    /// At a constant speed.
    case linear
    /// The curves that CSS calls `ease`, `ease-in`, `ease-out` and `ease-in-out`.
    case ease, easeIn, easeOut, easeInOut
    /// A cubic Bézier curve from 0, 0 to 1, 1 about two control points; their x lie in 0…1, their y within ±10.
    case bezier(x1: Double, y1: Double, x2: Double, y2: Double)
    /// 1 to 1000 jumps of the same size after spans of the same length; `none` needs 2.
    case steps(count: Int, jump: Jump)
    /// Straight lines between 2 to 32 points: `linear()` of CSS. The first input is 0, the last 1, and none is smaller
    /// than the one before; of two at the same input the later one counts.
    case points([ControlPoint])

    /// Where `steps` jumps besides between its spans.
    public enum Jump: String, CaseIterable, Sendable {
        case start, end, none, both
    }

    /// The share of the way, within ±10, at a share of the time.
    public struct ControlPoint: Equatable, Sendable {
        /// 0…1.
        public var input: Double
        /// 0 where the value begins, 1 where it leads.
        public var output: Double

        public init(input: Double, output: Double) {
            self.input = input
            self.output = output
        }
    }

    /// The share of the way that is made after a share of the time, 0…1.
    public func progress(at fraction: Double) -> Double {
        switch self {
        case .linear: fraction
        case .ease: Self.bezier(0.25, 0.1, 0.25, 1, at: fraction)
        case .easeIn: Self.bezier(0.42, 0, 1, 1, at: fraction)
        case .easeOut: Self.bezier(0, 0, 0.58, 1, at: fraction)
        case .easeInOut: Self.bezier(0.42, 0, 0.58, 1, at: fraction)
        case .bezier(let x1, let y1, let x2, let y2): Self.bezier(x1, y1, x2, y2, at: fraction)
        case .steps(let count, let jump): Self.steps(count, jump, at: fraction)
        case .points(let points): Self.line(through: points, at: fraction)
        }
    }

    // MARK: -

    /// CSS Easing Functions 2, section "Step easing functions".
    private static func steps(_ count: Int, _ jump: Jump, at fraction: Double) -> Double {
        let jumps = jump == .none ? count - 1 : jump == .both ? count + 1 : count
        let passed = (fraction * Double(count)).rounded(.down) + (jump == .start || jump == .both ? 1 : 0)
        return clamped(passed, 0, Double(jumps)) / Double(jumps)
    }

    /// CSS Easing Functions 2, section "The linear easing function".
    private static func line(through points: [ControlPoint], at fraction: Double) -> Double {
        guard let index = points.lastIndex(where: { $0.input <= fraction }) else {
            return points.first?.output ?? fraction
        }
        let start = points[index]
        guard index + 1 < points.count else { return start.output }
        let end = points[index + 1]
        let share = (fraction - start.input) / (end.input - start.input)
        return start.output + (end.output - start.output) * share
    }

    /// The curve's y where its x is `fraction`: CSS Easing Functions 2, section "Cubic Bézier easing functions".
    private static func bezier(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, at fraction: Double) -> Double {
        if fraction <= 0 || fraction >= 1 { return fraction <= 0 ? 0 : 1 }
        let x = Cubic(x1, x2)
        return Cubic(y1, y2).value(at: x.parameter(of: fraction))
    }
}

/// One coordinate of a Bézier curve from 0 to 1, as ((a·s + b)·s + c)·s.
private struct Cubic {
    private let a, b, c: Double

    init(_ first: Double, _ second: Double) {
        self.c = 3 * first
        self.b = 3 * (second - first) - self.c
        self.a = 1 - self.c - self.b
    }

    func value(at s: Double) -> Double { ((self.a * s + self.b) * s + self.c) * s }

    /// The parameter in 0…1, to 10⁻¹², at which a coordinate that never falls has a value: by Newton's method, and by
    /// bisection where that doesn't get there.
    func parameter(of value: Double) -> Double {
        var s = value
        for _ in 0..<16 {
            let step = (self.value(at: s) - value) / ((3 * self.a * s + 2 * self.b) * s + self.c)
            s -= step
            guard s >= 0, s <= 1 else { break }
            if step.magnitude < 1e-12 { return s }
        }
        return bisected(from: 0, to: 1) { self.value(at: $0) >= value }
    }
}

/// Where a condition becomes true that stays true from there on, to 10⁻¹² of the interval.
func bisected(from start: Double, to end: Double, _ condition: (Double) -> Bool) -> Double {
    var (low, high) = (start, end)
    for _ in 0..<40 {
        let middle = low + (high - low) / 2
        if condition(middle) { high = middle } else { low = middle }
    }
    return high
}
