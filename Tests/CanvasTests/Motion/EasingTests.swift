import Canvas
import Testing

/// CSS Easing Functions 2; Chromium computes the same in Tests/Client/test_browser.py.
@Suite struct EasingTests {
    private static func points(_ points: [(Double, Double)]) -> Easing {
        .points(points.map { Easing.ControlPoint(input: $0.0, output: $0.1) })
    }

    @Test func namesAreBezierCurves() {
        let curves: [(Easing, Easing)] = [
            (.ease, .bezier(x1: 0.25, y1: 0.1, x2: 0.25, y2: 1)),
            (.easeIn, .bezier(x1: 0.42, y1: 0, x2: 1, y2: 1)),
            (.easeOut, .bezier(x1: 0, y1: 0, x2: 0.58, y2: 1)),
            (.easeInOut, .bezier(x1: 0.42, y1: 0, x2: 0.58, y2: 1)),
        ]
        for fraction in stride(from: 0.0, through: 1, by: 0.01) {
            for (named, bezier) in curves { #expect(named.progress(at: fraction) == bezier.progress(at: fraction)) }
            #expect(Easing.linear.progress(at: fraction) == fraction)
        }
    }

    /// For a parameter x and y are known: the curve at x has that y.
    @Test(arguments: [501, 502] as [UInt64])
    func aBezierCurvePassesThroughItsPoints(seed: UInt64) {
        var inventor = Inventor(seed: seed)
        for _ in 0..<2000 {
            let x = (inventor.uniform(0...1), inventor.uniform(0...1))
            let y = (inventor.uniform(-10...10), inventor.uniform(-10...10))
            let easing = Easing.bezier(x1: x.0, y1: y.0, x2: x.1, y2: y.1)
            let s = inventor.uniform(0...1)
            func value(_ first: Double, _ second: Double) -> Double {
                3 * (1 - s) * (1 - s) * s * first + 3 * (1 - s) * s * s * second + s * s * s
            }
            #expect((easing.progress(at: value(x.0, x.1)) - value(y.0, y.1)).magnitude < 1e-5, "seed \(seed)")
            #expect((easing.progress(at: 0), easing.progress(at: 1)) == (0, 1))
        }
    }

    @Test func aVerticalTangentIsSolvedByBisection() {
        let easing = Easing.bezier(x1: 1, y1: 0, x2: 0, y2: 1)
        #expect((easing.progress(at: 0.5) - 0.5).magnitude < 1e-5)
        for fraction in [1e-300, 1e-9, 0.25, 0.4999, 0.5001, 0.75, 1 - 1e-9] {
            let (here, there) = (easing.progress(at: fraction), easing.progress(at: 1 - fraction))
            #expect((here + there - 1).magnitude < 1e-5, "\(fraction)")
        }
    }

    @Test func stepsJumpWhereTheySay() {
        let fractions = [0, 0.24, 0.25, 0.74, 0.75, 0.99, 1]
        let expected: [(Easing.Jump, [Double])] = [
            (.end, [0, 0, 0.25, 0.5, 0.75, 0.75, 1]),
            (.start, [0.25, 0.25, 0.5, 0.75, 1, 1, 1]),
            (.none, [0, 0, 1 / 3.0, 2 / 3.0, 1, 1, 1]),
            (.both, [0.2, 0.2, 0.4, 0.6, 0.8, 0.8, 1]),
        ]
        for (jump, values) in expected {
            let easing = Easing.steps(count: 4, jump: jump)
            #expect(fractions.map { easing.progress(at: $0) } == values, "\(jump)")
        }
    }

    @Test func pointsAreJoinedByLines() {
        let easing = Self.points([(0, 0), (0.25, 1), (0.5, 1), (0.5, -2), (1, 0.5)])
        let expected = [(0, 0), (0.125, 0.5), (0.3, 1), (0.5, -2), (0.75, -0.75), (1, 0.5)]
        for (fraction, value) in expected { #expect(easing.progress(at: fraction) == value, "\(fraction)") }
        // Of two at the beginning or at the end the later one counts.
        let jumping = Self.points([(0, 0), (0, 0.5), (1, 0.5), (1, 2)])
        #expect([0, 0.5, 1].map { jumping.progress(at: $0) } == [0.5, 0.5, 2])
    }
}
