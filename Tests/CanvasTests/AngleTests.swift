import Canvas
import Testing

@Suite struct AngleTests {
    @Test(
        arguments: [
            (0.0, 0.0), (-0.0, 0), (360, 0), (-360, 0), (720, 0), (-90, 270), (450, 90), (359.5, 359.5), (-1e-20, 0),
            (-1e-300, 0), (.leastNonzeroMagnitude, .leastNonzeroMagnitude), (-.leastNonzeroMagnitude, 0),
            (3.6e17, 0), (1e300, 1e300.truncatingRemainder(dividingBy: 360)),
        ] as [(Double, Double)])
    func degreesAreNormalized(sent: Double, stored: Double) {
        #expect(Angle(degrees: sent).degrees == stored)
        #expect(Angle(degrees: sent).degrees.sign == .plus)
    }

    @Test(
        arguments: [
            (0.0, 0.0), (-0.0, 0), (.pi, 180), (.pi / 2, 90), (-.pi / 2, 270), (2 * .pi, 0), (-2 * .pi, 0),
            (5 * .pi, 180),
        ] as [(Double, Double)])
    func radiansAreAnotherUnitOfTheSameAngle(radians: Double, degrees: Double) {
        #expect(Angle(radians: radians).degrees == degrees)
        #expect(isClose(Angle(degrees: degrees).radians, Angle(radians: radians).radians))
    }

    @Test(arguments: [1e307, -1e307, 1e308, -1e308])
    func radiansBeyondTheLargestDegreesAreStillAnAngle(radians: Double) {
        let rest = radians.truncatingRemainder(dividingBy: 2 * .pi)
        #expect(rest != 0)
        #expect(Angle(radians: radians).shortestTurn(to: Angle(radians: rest)).magnitude < 1e-9)
    }

    @Test(arguments: [101, 102] as [UInt64])
    func everyFiniteNumberIsAnAngleInBothRanges(seed: UInt64) {
        var inventor = Inventor(seed: seed)
        let special = [360.nextDown, -360.nextDown, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, 2 * .pi]
        for number in special + (0..<5000).map({ _ in inventor.anyNumber() }) {
            for angle in [Angle(degrees: number), Angle(radians: number)] {
                #expect((0..<360).contains(angle.degrees), "seed \(seed): \(number)")
                #expect((0..<2 * .pi).contains(angle.radians), "seed \(seed): \(number)")
                #expect(angle.degrees.sign == .plus && angle.radians.sign == .plus, "seed \(seed): \(number)")
            }
        }
    }

    @Test(arguments: notFinite)
    func otherNumbersCountAsZero(number: Double) {
        #expect(Angle(degrees: number) == .zero)
        #expect(Angle(radians: number) == .zero)
    }

    @Test(arguments: [103, 104] as [UInt64])
    func degreesAndRadiansRoundTrip(seed: UInt64) {
        var inventor = Inventor(seed: seed)
        for _ in 0..<5000 {
            let angle = Angle(degrees: inventor.uniform(0...360))
            let back = Angle(radians: angle.radians)
            #expect(angle.shortestTurn(to: back).magnitude < 1e-12, "seed \(seed): \(angle)")
        }
    }

    @Test(arguments: [105, 106] as [UInt64])
    func theShortestTurnLeadsThereAndIsHalfATurnAtMost(seed: UInt64) {
        var inventor = Inventor(seed: seed)
        for _ in 0..<5000 {
            let (from, to) = (Angle(degrees: inventor.number(0...360)), Angle(degrees: inventor.number(0...360)))
            let turn = from.shortestTurn(to: to)
            #expect(turn > -180 && turn <= 180, "seed \(seed): \(from) \(to)")
            #expect(from.turned(by: turn).shortestTurn(to: to).magnitude < 1e-12 * 360, "seed \(seed): \(from) \(to)")
            let back = to.shortestTurn(to: from)
            #expect(turn == 180 ? back == 180 : back == -turn, "seed \(seed): \(from) \(to)")
        }
    }

    @Test(
        arguments: [
            (22.4, 45.0, 0.0), (22.5, 45, 45), (44, 45, 45), (337.4, 45, 315), (337.5, 45, 0), (359, 90, 0),
            (44.9, 90, 0),
            (45, 90, 90), (134.9, 90, 90), (200, 90, 180), (7, 15, 0), (8, 15, 15), (350, 50, 350), (355, 50, 0),
            (175, 180, 180), (271, 180, 0), (100, 7, 98), (359, 7, 0), (358, 7, 357), (0.3, 0.25, 0.25),
        ] as [(Double, Double, Double)])
    func anglesSnapToTheNearestMultiple(degrees: Double, step: Double, snapped: Double) {
        let result = Angle(degrees: degrees).snapped(to: step).degrees
        #expect(result == snapped)
    }

    @Test(arguments: [107, 108] as [UInt64])
    func snappingIsIdempotentAndMovesHalfAStepAtMost(seed: UInt64) {
        var inventor = Inventor(seed: seed)
        for _ in 0..<5000 {
            let angle = Angle(degrees: inventor.number(0...360))
            let step =
                inventor.chance(50)
                ? [45, 90, 15, 180].randomElement(using: &inventor.generator) ?? 45
                : inventor.uniform(0.5...180)
            let snapped = angle.snapped(to: step)
            #expect(angle.shortestTurn(to: snapped).magnitude <= step / 2 + 1e-9, "seed \(seed): \(angle) \(step)")
            #expect(snapped.snapped(to: step) == snapped, "seed \(seed): \(angle) \(step)")
            let ratio = snapped.degrees / step
            #expect(isClose(ratio, ratio.rounded()), "seed \(seed): \(angle) \(step)")
        }
    }
}
