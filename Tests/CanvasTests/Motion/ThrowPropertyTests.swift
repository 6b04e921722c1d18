import Canvas
import Foundation
import Testing

/// Random throws against an independent integration of v′ = −k·v in small steps.
@Suite struct ThrowPropertyTests {
    private struct Fall {
        var place: Double
        /// Units a second.
        var velocity: Double
        var ms = 0.0
        var hasHit = false
    }

    /// Runge–Kutta of fourth order in steps of 0.5 ms, until it is slower than a unit a second or meets a wall.
    private static func fall(
        from start: Double, _ velocity: Double, rate: Double, unit: Double, walls: ClosedRange<Double>
    ) -> Fall {
        let k = -log(rate)
        var fall = Fall(place: start, velocity: velocity)
        let step = 0.5
        while fall.velocity.magnitude > unit {
            let v1 = fall.velocity
            let v2 = v1 - k * v1 * step / 2
            let v3 = v1 - k * v2 * step / 2
            let v4 = v1 - k * v3 * step
            let next = v1 - k * step * (v1 + 2 * v2 + 2 * v3 + v4) / 6
            let place = fall.place + step / 1000 * (v1 + 2 * v2 + 2 * v3 + v4) / 6
            if !walls.contains(place) {
                let wall = place < walls.lowerBound ? walls.lowerBound : walls.upperBound
                let share = (wall - fall.place) / (place - fall.place)
                return Fall(place: wall, velocity: v1 + (next - v1) * share, ms: fall.ms + share * step, hasHit: true)
            }
            fall = Fall(place: place, velocity: next, ms: fall.ms + step)
        }
        return fall
    }

    private static func spring(_ segment: Segment?) -> Spring? {
        if case .spring(let spring) = segment?.curve { spring } else { nil }
    }

    private static func isDecay(_ segment: Segment) -> Bool {
        if case .decay = segment.curve { true } else { false }
    }

    @Test(arguments: [21, 22, 23] as [UInt64])
    func tracksLeadFromTheHandToARestWithinTheRules(seed: UInt64) throws {
        var inventor = Inventor(seed: seed)
        for round in 0..<400 {
            let (element, _) = rules.create(inventor.newElement(), id: "e", by: "u")
            var request = Throw(
                velocity: Point(x: inventor.number(-4000...4000), y: inventor.number(-4000...4000)),
                angularVelocity: inventor.maybe(-2000...2000))
            request.rate = inventor.uniform(0.9...0.9995)
            request.bounce = inventor.uniform(0...1)
            if inventor.chance(30) {
                request.snap = Throw.Snap()
                request.snap?.gridX = inventor.positive(1...300)
                request.snap?.points = inventor.chance(50) ? [inventor.anyPoint(), inventor.point(-500...500)] : []
                request.snap?.within = inventor.maybe(0...500).map(\.magnitude)
            }
            let fields = inventor.fields()
            let shown = TransformFields(
                positionX: inventor.chance(50) ? inventor.uniform(-2e9...2e9) : nil, rotation: inventor.uniform(0...359)
            )
            var all = [ThrownElement(element, fields: fields, shown: shown)]
            rules.apply(request, to: &all, at: 5e12)
            let one = all[0]
            var again = one.element
            let rest = TransformFields(
                positionX: again.positionX, positionY: again.positionY, rotation: again.rotation)
            #expect(rules.apply(rest, to: &again).isEmpty && again == one.element, "seed \(seed), round \(round)")
            for (field, track) in one.tracks.entries.map({ ($0.field, $0.value) }) {
                #expect(track.startedAt == 5e12)
                let segments = track.segments
                #expect(segments.allSatisfy { $0.ms > 0 && $0.ms.isFinite && $0.from.isFinite && $0.to.isFinite })
                #expect(zip(segments, segments.dropFirst()).allSatisfy { $0.to == $1.from })
                let end = try #require(segments.last).to
                let stored = try #require(one.element[field])
                #expect(
                    field == .rotation
                        ? Angle(degrees: end).shortestTurn(to: Angle(degrees: stored)).magnitude < 1e-9
                        : end == stored, "seed \(seed), round \(round): \(field)")
            }
        }
    }

    @Test(arguments: [31, 32] as [UInt64])
    func flightsAndBouncesAreThoseOfTheEquation(seed: UInt64) throws {
        var inventor = Inventor(seed: seed)
        var counts = (flown: 0, bounced: 0)
        for _ in 0..<60 {
            let unit = inventor.chance(30) ? 0.001 : 1
            var element = try created(
                "note", unit == 1 ? "" : #""space":"normalized","parentId":"p""#
            ).0
            let (low, high) = unit == 1 ? (-300.0, 300.0) : (0, 1)
            if unit == 1, inventor.chance(60) { element.bounds = Bounds(x: -300, y: -300, width: 600, height: 600) }
            let walls = unit == 1 && element.bounds == nil ? -1e9...1e9 : low...high
            let velocity = inventor.uniform(-3000...3000) * unit
            var request = Throw(velocity: Point(x: velocity, y: 0))
            request.rate = inventor.uniform(0.99...0.9995)
            request.bounce = 0.5
            let start = inventor.uniform(low...high)
            var all = [ThrownElement(element, fields: TransformFields(), shown: TransformFields(positionX: start))]
            rules.apply(request, to: &all, at: 0)
            let fall = Self.fall(from: start, velocity, rate: request.rate, unit: unit, walls: walls)
            guard let segments = all[0].tracks[.positionX]?.segments, let first = segments.first else {
                #expect((fall.place - start).magnitude < 0.61 * unit)
                continue
            }
            let slack = unit == 1 ? 0.51 : 1e-6
            #expect((first.to - fall.place).magnitude < slack)
            // What would rest a little beyond a wall counts as resting at it.
            guard Self.isDecay(first), !fall.hasHit || fall.velocity.magnitude > 10 * unit else { continue }
            #expect((first.ms - fall.ms).magnitude < 0.51)
            if fall.hasHit {
                counts.bounced += 1
                #expect(isClose(first.ms, fall.ms, within: 1e-3))
                let last = first.velocity(after: first.ms * (1 - 1e-12))
                #expect(isClose(last / unit, fall.velocity / unit, within: 1e-3))
                if let spring = Self.spring(segments.last) {
                    #expect(isClose(spring.velocity / unit, -0.5 * fall.velocity / unit, within: 1e-3))
                }
            } else {
                counts.flown += 1
                #expect(segments.count == 1)
            }
        }
        #expect(counts.flown > 5 && counts.bounced > 10, "\(counts)")
    }
}
