import Canvas
import Testing

@Suite struct TrackTests {
    private static let linear = Curve.easing(.linear)

    @Test func eachSegmentBeginsWhereTheOneBeforeEnds() {
        let track = Track(
            startedAt: 1000,
            segments: [
                Segment(from: 0, to: 100, ms: 50.5, curve: Self.linear),
                Segment(from: 100, to: 40, ms: 20, curve: .easing(.steps(count: 2, jump: .end))),
            ])
        let values = [900, 1000, 1025.25, 1050.5, 1060, 1060.5, 1070].map { track.value(at: $0) }
        #expect(values == [0, 0, 50, 100, 100, 70, 70])
        #expect(track.value(at: 1070.5) == nil)
        #expect(track.value(at: 1e300) == nil)
        #expect(track.endsAt == 1070.5)
    }

    @Test func everyCurveEndsExactly() {
        let curves: [Curve] = [
            Self.linear, .easing(.bezier(x1: 1, y1: 10, x2: 0, y2: -10)), .easing(.steps(count: 3, jump: .none)),
            .spring(Spring(response: 10, damping: 0.05, velocity: 20_000)), .decay(Decay(rate: 0.9995)),
        ]
        for curve in curves {
            let segment = Segment(from: 0.1, to: 0.3, ms: 0.7, curve: curve)
            #expect([0.7, 0.8, 1e9].allSatisfy { segment.value(after: $0) == 0.3 }, "\(curve)")
            #expect(segment.velocity(after: 0.7) == 0)
        }
        // Decays begin and end where they should, without a jump.
        let decay = Segment(from: 5, to: 1e9, ms: 1000, curve: .decay(Decay(rate: 0.998)))
        #expect(decay.value(after: 0) == 5)
        #expect(isClose(decay.value(after: 1000.0.nextDown), 1e9))
    }

    @Test func aStartFarAheadCountsAsLongOver() {
        let track = Track(startedAt: 100_000, segments: [Segment(from: 1, to: 2, ms: 10, curve: Self.linear)])
        #expect(track.value(at: 40_000) == 1)
        #expect(track.value(at: 39_999) == nil)
        #expect(track.velocity(at: 39_999) == 0)
    }

    @Test func springsAndDecaysHaveAVelocity() throws {
        let curves: [Curve] = [
            .spring(Spring(response: 0.5, damping: 0.5, velocity: 100)), .decay(Decay(rate: 0.998)), Self.linear,
        ]
        for curve in curves {
            let track = Track(startedAt: 0, segments: [Segment(from: 0, to: 50, ms: 800, curve: curve)])
            for time in [0.0, 10, 100, 799] {
                let (here, there) = (try #require(track.value(at: time)), try #require(track.value(at: time + 0.001)))
                let expected = curve == Self.linear ? 0 : (there - here) * 1e6
                #expect((track.velocity(at: time) - expected).magnitude < 0.1, "\(curve), \(time)")
            }
            #expect(track.velocity(at: 800) == 0)
        }
    }

    @Test func aMotionHasItsTracksInTheOrderOfTheTable() {
        var motion = Motion()
        #expect(motion.isEmpty && motion[.positionX] == nil)
        let track = Track(startedAt: 0, segments: [Segment(from: 1, to: 2, ms: 10, curve: Self.linear)])
        for field in [ElementField.opacity, .positionX, .scaleX, .positionX] { motion[field] = track }
        #expect(motion.fields == [.positionX, .scaleX, .opacity])
        motion[.scaleX] = nil
        motion[.rotation] = nil
        #expect(motion.fields == [.positionX, .opacity] && motion[.scaleX] == nil)
        #expect(track.value(at: -1) != nil && track.value(at: 9.9) != nil && track.value(at: 10) == nil)
    }

    /// The fields that move: below which change they are still, and how fast they may be.
    private static let table: [(field: ElementField, stillness: Double, topSpeed: Double)] = [
        (.positionX, 0.1, 20_000), (.positionY, 0.1, 20_000), (.positionZ, 0.1, 20_000), (.rotation, 0.01, 3600),
        (.rotationX, 0.01, 3600), (.rotationY, 0.01, 3600), (.scaleX, 0.0001, 100), (.scaleY, 0.0001, 100),
        (.opacity, 0.001, 100),
    ]

    @Test func theTableSaysWhatMoves() {
        #expect(ElementField.allCases.filter(\.isAnimated) == Self.table.map(\.field))
        for (field, stillness, topSpeed) in Self.table {
            #expect(field.kind == .moving && field.stillness == stillness && field.topSpeed == topSpeed, "\(field)")
        }
        #expect(ElementField.positionX.motionUnit(in: .canvas) == 1)
        #expect(ElementField.positionY.motionUnit(in: .normalized) == 0.001)
        #expect(ElementField.rotation.motionUnit(in: .normalized) == 1)
    }

    @Test func whatCannotBeSeenToMoveHasNoTrack() {
        for (degrees, moves) in [(0.009, false), (0.011, true)] {
            let former = Element(id: "e", type: "note", createdBy: "ann")
            let sent = TransformFields(rotation: degrees)
            var element = former
            _ = rules.apply(sent, to: &element)
            let request = MotionRequest(.eased(ms: 100, .linear))
            _ = rules.begin(request, of: &element, from: former, sent: sent, at: 0)
            #expect(element.motion.fields == (moves ? [.rotation] : []) && element.rotation == degrees)
        }
    }

    @Test func aSpringIsAsFastAsItsFieldAtMost() {
        for (field, _, top) in Self.table {
            let former = Element(id: "e", type: "note", createdBy: "ann")
            var (element, sent, velocity) = (former, TransformFields(), ByField<Double>())
            sent[field] = former[field]
            velocity[field] = -top - 1
            let request = MotionRequest(.spring(response: 0.5, damping: 0.825, velocity: velocity))
            let adjusted = rules.begin(request, of: &element, from: former, sent: sent, at: 0)
            #expect(adjusted == [adjustment("motion.spring.velocity.\(field)", -top - 1, -top, .range)])
            #expect(element.motion[field]?.velocity(at: 0) == -top, "\(field)")
        }
    }
}
