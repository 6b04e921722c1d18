import Canvas
import Foundation
import Testing

/// The closed forms against numerical integration of the equations of motion.
@Suite struct SpringTests {
    /// x and x′ after `steps` steps of the classical Runge-Kutta method.
    private static func integrated(
        _ x0: Double, _ v0: Double, seconds: Double, steps: Int, _ acceleration: (Double, Double) -> Double
    ) -> (x: Double, v: Double) {
        var (x, v) = (x0, v0)
        let h = seconds / Double(steps)
        for _ in 0..<steps {
            let (x1, v1) = (v, acceleration(x, v))
            let (x2, v2) = (v + h / 2 * v1, acceleration(x + h / 2 * x1, v + h / 2 * v1))
            let (x3, v3) = (v + h / 2 * v2, acceleration(x + h / 2 * x2, v + h / 2 * v2))
            let (x4, v4) = (v + h * v3, acceleration(x + h * x3, v + h * v3))
            x += h / 6 * (x1 + 2 * x2 + 2 * x3 + x4)
            v += h / 6 * (v1 + 2 * v2 + 2 * v3 + v4)
        }
        return (x, v)
    }

    private static func spring(_ inventor: inout Inventor) -> Spring {
        let damping = inventor.chance(20) ? 1 + inventor.uniform(-2e-6...2e-6) : inventor.uniform(0.05...5)
        return Spring(
            response: inventor.uniform(0.02...10), damping: inventor.chance(10) ? 1 : damping,
            velocity: inventor.chance(20) ? 0 : inventor.uniform(-20_000...20_000))
    }

    @Test(arguments: [511, 512] as [UInt64])
    func aSpringObeysItsEquation(seed: UInt64) {
        var inventor = Inventor(seed: seed)
        for _ in 0..<100 {
            let spring = Self.spring(&inventor)
            let omega = 2 * Double.pi / spring.response
            let x0 = inventor.uniform(-1000...1000)
            let seconds = spring.response * inventor.uniform(0...2)
            let (x, v) = Self.integrated(x0, spring.velocity, seconds: seconds, steps: 4000) { x, v in
                -2 * spring.damping * omega * v - omega * omega * x
            }
            let result = spring.displacement(from: x0, after: seconds)
            let size = max(x0.magnitude, spring.velocity.magnitude / omega)
            #expect((result.x - x).magnitude <= 1e-6 * size, "seed \(seed): \(spring), \(x0), \(seconds)")
            #expect((result.v - v).magnitude <= 1e-6 * size * omega, "seed \(seed): \(spring), \(x0), \(seconds)")
        }
    }

    @Test func aSpringBeginsWhereItIs() {
        for damping in [0.05, 0.5, 1 - 1e-7, 1, 1 + 1e-7, 1.001, 5] {
            let spring = Spring(response: 0.5, damping: damping, velocity: -300)
            let (x, v) = spring.displacement(from: 70, after: 0)
            #expect(isClose(x, 70) && isClose(v, -300), "\(damping)")
        }
    }

    @Test func noSpringOverflows() {
        for damping in [0.05, 1, 5] {
            let spring = Spring(response: 0.02, damping: damping, velocity: 20_000)
            for seconds in [0.001, 1, 600, 1e9] {
                let (x, v) = spring.displacement(from: 2e9, after: seconds)
                #expect(x.isFinite && v.isFinite)
            }
            #expect(spring.displacement(from: 2e9, after: 1e9).x == 0)
        }
    }

    @Test(arguments: [513, 514, 515] as [UInt64])
    func aSpringIsStillFromItsSettlingTimeOnAndNotLongBefore(seed: UInt64) {
        var inventor = Inventor(seed: seed)
        for round in 0..<300 {
            var spring = Self.spring(&inventor)
            spring.response = inventor.uniform(0.02...1)
            let x0 = round.isMultiple(of: 7) ? 0 : inventor.uniform(-500...500)
            let epsilon = [0.1, 0.01, 0.0001, 100][round % 4]
            let ms = spring.settlingTime(from: x0, epsilon: epsilon)
            #expect(ms == ms.rounded() && ms >= 0)
            func isStill(_ ms: Double) -> Bool {
                spring.displacement(from: x0, after: ms / 1000).x.magnitude < epsilon
            }
            let period = spring.response * 1000
            for part in 0..<600 {
                #expect(isStill(ms + period * Double(part) / 200), "seed \(seed): \(spring) from \(x0), \(epsilon)")
            }
            // It moved less than a ms before, but for the fastest, which rise and fall within one.
            let isLate = ms >= 1 && stride(from: ms - 1.01, to: ms, by: 0.01).allSatisfy { isStill(max(0, $0)) }
            #expect(!isLate, "seed \(seed): \(spring) from \(x0), \(epsilon)")
        }
    }

    @Test func aSpringThatNeverMovesAsFarIsStill() {
        #expect(Spring(response: 0.5, damping: 0.8, velocity: 0).settlingTime(from: 0, epsilon: 0.1) == 0)
        #expect(Spring(response: 0.5, damping: 0.8, velocity: 0.5).settlingTime(from: 0.09, epsilon: 0.1) == 0)
        #expect(Spring(response: 0.5, damping: 3, velocity: 0.1).settlingTime(from: 0, epsilon: 0.1) == 0)
        #expect(Spring(response: 0.5, damping: 1, velocity: 0).settlingTime(from: -0.09, epsilon: 0.1) == 0)
    }

    @Test func settlingTakesTenMinutesAtMost() {
        let spring = Spring(response: 10, damping: 0.05, velocity: 20_000)
        #expect(spring.settlingTime(from: 2e9, epsilon: 0.0001) == 600_000)
        #expect(Spring(response: 10, damping: 5, velocity: 0).settlingTime(from: 1e300, epsilon: 0.1) == 600_000)
    }

    @Test(arguments: [516, 517] as [UInt64])
    func aDecayIsTheIntegralOfItsSpeed(seed: UInt64) {
        var inventor = Inventor(seed: seed)
        for _ in 0..<100 {
            let rate = inventor.uniform(0.9...0.9995)
            let ms = inventor.uniform(1...5000)
            // The speed loses the same share in each ms: v′ = −k·v.
            let k = -log(rate)
            let segment = Segment(from: 10, to: 510, ms: ms, curve: .decay(Decay(rate: rate)))
            let v0 = segment.velocity(after: 0)
            let end = ms * inventor.uniform(0...1)
            let (x, v) = Self.integrated(10, v0 / 1000, seconds: end, steps: 4000) { _, v in -k * v }
            #expect((segment.value(after: end) - x).magnitude < 1e-6 * 500, "seed \(seed): \(segment), \(end)")
            #expect((segment.velocity(after: end) - v * 1000).magnitude < 1e-6 * v0, "seed \(seed)")
        }
    }
}
