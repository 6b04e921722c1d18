import Canvas
import Testing

/// What a gesture about a pivot makes of a member's own axes.
@Suite struct GroupGestureTests {
    private static let pivot = Point(x: 100, y: -50)

    private static func scaling(_ x: Double, _ y: Double, turn: Double = 0) -> Gesture {
        var gesture = Gesture.turn(degrees: turn)
        (gesture.scaleX, gesture.scaleY) = (x, y)
        return gesture
    }

    /// A note about its centre, not rounded.
    private static func scaled(_ note: Element, by gesture: Gesture) -> Element {
        let fields = gesture.fields(on: note, pivot: Self.pivot)
        var scaled = note
        scaled.positionX = fields.positionX ?? note.positionX
        scaled.positionY = fields.positionY ?? note.positionY
        scaled.rotation = Angle(degrees: fields.rotation ?? note.rotation).degrees
        scaled.scaleX = fields.scaleX ?? note.scaleX
        scaled.scaleY = fields.scaleY ?? note.scaleY
        return scaled
    }

    /// Where the gesture takes the corners of a note.
    private static func image(of note: Element, by gesture: Gesture) -> [Point] {
        note.corners().map { corner in
            let arm = corner - Self.pivot
            let grown = Point(x: arm.x * gesture.scaleX, y: arm.y * gesture.scaleY)
            return Self.pivot + grown.rotated(by: Angle(degrees: gesture.rotation)) + gesture.translation
        }
    }

    /// Rotation, signed scales of a member, the gesture's scale and turn, and what comes of them.
    @Test(
        arguments: [
            // Mirrors, exact at every angle.
            ([30, 1, 1], [-1, 1, 0], [330, -1, 1]), ([30, 1, 1], [1, -1, 0], [330, 1, -1]),
            ([100, 1, 1], [-1, 1, 0], [80, 1, -1]), ([30.1, 1, 1], [-1, 1, 0], [329.9, -1, 1]),
            ([30, -2, 3], [-1, 1, 0], [330, 2, 3]), ([30, 1, 1], [-2, 2, 0], [330, -2, 2]),
            ([30, 1, 1], [-1, 1, 90], [60, -1, 1]), ([0, 1, 1], [-1, 1, 0], [0, -1, 1]),
            ([90, 1, 1], [-1, 1, 0], [90, 1, -1]), ([270, 1, 1], [-1, 1, 0], [270, 1, -1]),
            // Halfway between both spellings the first is taken.
            ([45, 1, 1], [-1, 1, 0], [135, 1, -1]), ([135, 1, 1], [-1, 1, 0], [45, 1, -1]),
            ([225, 1, 1], [1, -1, 0], [135, 1, -1]), ([45, 1, -1], [1, -1, 0], [315, 1, 1]),
            // Quarter turns: an axis grows along itself.
            ([90, 1, 1], [2, 1, 0], [90, 1, 2]), ([180, 1, 1], [2, 1, 0], [180, 2, 1]),
            ([270, 1, -1], [2, -3, 90], [0, -3, -2]), ([90, 1, 1], [1, 0.5, 180], [270, 0.5, 1]),
            // Both axes alike: the angle stays, whatever it is.
            ([30, 1, 1], [2, 2, 0], [30, 2, 2]), ([30, 1, 1], [-1, -1, 0], [30, -1, -1]),
            ([30, 1, -1], [-2, -2, 15], [45, -2, 2]),
            // Of a flat image the direction that is left.
            ([90, 1, 1], [1, 0, 0], [90, 0, 1]), ([0, 1, 1], [0, 2, 0], [0, 0, 2]),
            ([30, 1, 1], [0, 0, 0], [30, 0, 0]),
        ] as [([Double], [Double], [Double])])
    func axes(of member: [Double], under gesture: [Double], become expected: [Double]) {
        var note = Element(id: "e", type: "note", createdBy: "u")
        (note.rotation, note.scaleX, note.scaleY) = (member[0], member[1], member[2])
        let scaled = Self.scaled(note, by: Self.scaling(gesture[0], gesture[1], turn: gesture[2]))
        #expect([scaled.rotation, scaled.scaleX, scaled.scaleY] == expected)
    }

    /// A photograph 200 × 60 that stands upright grows in height on the screen's x axis: along its own y.
    @Test func anElementAtAQuarterTurnGrowsAlongItsOwnY() throws {
        var (note, _) = try created("note", #""width":200,"height":60,"rotation":90"#)
        #expect(rules.apply(Self.scaling(2, 1), to: &note, pivot: .zero).isEmpty)
        #expect((note.width, note.height, note.rotation) == (200, 120, 90))
        #expect(note.boundingBox() == Rect(x: -60, y: -100, width: 120, height: 200))
    }

    @Test func whatAGestureDoesNotChangeStaysUnset() throws {
        let (upright, _) = try created("note", #""rotation":90"#)
        let stretched = Self.scaling(2, 1).fields(on: upright, pivot: .zero)
        #expect(stretched == TransformFields(scaleY: 2))
        #expect(Self.scaling(-1, 1).fields(on: upright, pivot: .zero) == TransformFields(scaleY: -1))
        let (turned, _) = try created("note", #""rotation":30"#)
        #expect(Self.scaling(2, 2).fields(on: turned, pivot: .zero) == TransformFields(scaleX: 2, scaleY: 2))
        // Without a pivot the factors are along the element's own axes.
        #expect(Self.scaling(-1, 2).fields(on: turned) == TransformFields(scaleX: -1, scaleY: 2))
    }

    @Test func theRulesHoldAfterwards() throws {
        var (audio, _) = try created("audio", #""width":200,"height":60"#)
        _ = rules.apply(Self.scaling(-1, 1, turn: 40), to: &audio, pivot: .zero)
        #expect((audio.rotation, audio.scaleX, audio.scaleY) == (0, -1, 1))
        var (snapping, _) = try created("note", #""rotation":40,"snapDegrees":20"#)
        _ = rules.apply(Self.scaling(1, 2), to: &snapping, pivot: .zero)
        #expect(snapping.rotation == 60)
        var (photo, _) = try created("photo", #""rotation":30"#)
        _ = rules.apply(Self.scaling(-2, 1), to: &photo, pivot: .zero)
        #expect(
            photo.scaleX.magnitude == photo.scaleY.magnitude
                && (photo.scaleX, photo.scaleY.sign) == (-photo.scaleY, .plus))
    }

    @Test(arguments: [171, 172] as [UInt64])
    func scalesThatAreAlikeDoWhatTheyDidOnEveryAxis(seed: UInt64) {
        var inventor = Inventor(seed: seed)
        for _ in 0..<1000 {
            let note = inventor.note()
            let factor = inventor.uniform(0.01...20) * (inventor.chance(30) ? -1 : 1)
            let fields = Self.scaling(factor, factor, turn: inventor.uniform(-400...400)).fields(
                on: note, pivot: Self.pivot)
            #expect(
                fields.scaleX == note.scaleX * factor && fields.scaleY == note.scaleY * factor, "seed \(seed): \(note)")
        }
    }

    /// With a mirror, at any turn, the note is exactly where the gesture takes its corners; so is one at a quarter turn
    /// under any scale.
    @Test(arguments: [173, 174] as [UInt64])
    func mirrorsAndQuarterTurnsAreExact(seed: UInt64) {
        var inventor = Inventor(seed: seed)
        for _ in 0..<2000 {
            var note = inventor.note()
            let factor = inventor.uniform(0.1...5)
            var gesture = Self.scaling(-factor, factor, turn: inventor.uniform(-400...400))
            if inventor.chance(50) { (gesture.scaleX, gesture.scaleY) = (factor, -factor) }
            if inventor.chance(50) {
                note.rotation = [0, 90, 180, 270][Int.random(in: 0..<4, using: &inventor.generator)]
                gesture.scaleX = inventor.uniform(-5...5)
            }
            gesture.translation = inventor.point(-100...100)
            let scaled = Self.scaled(note, by: gesture)
            let image = Self.image(of: note, by: gesture)
            #expect(isClose(scaled.corners(), image, within: 1e-9), "seed \(seed): \(gesture) on \(note)")
        }
    }

    @Test(arguments: [175, 176] as [UInt64])
    func aMirrorAppliedTwiceChangesNothing(seed: UInt64) {
        var inventor = Inventor(seed: seed)
        for _ in 0..<2000 {
            var note = inventor.note()
            // Angles that are normalised without rounding.
            if inventor.chance(50) { note.rotation = Double(Int.random(in: 0..<2880, using: &inventor.generator)) / 8 }
            let mirror = inventor.chance(50) ? Self.scaling(-1, 1) : Self.scaling(1, -1)
            let twice = Self.scaled(Self.scaled(note, by: mirror), by: mirror)
            #expect(isClose(twice.rotation, note.rotation, within: 1e-13), "seed \(seed): \(note)")
            #expect((twice.scaleX, twice.scaleY) == (note.scaleX, note.scaleY), "seed \(seed): \(note)")
            if note.rotation * 8 == (note.rotation * 8).rounded() { #expect(twice.rotation == note.rotation) }
        }
    }

    /// Of the two spellings of one rectangle the rotation nearer to the old one.
    @Test(arguments: [177, 178] as [UInt64])
    func noScaleTurnsAMemberByMoreThanAQuarter(seed: UInt64) {
        var inventor = Inventor(seed: seed)
        for _ in 0..<2000 {
            let note = inventor.note()
            let scaled = Self.scaled(note, by: Self.scaling(inventor.uniform(-5...5), inventor.uniform(-5...5)))
            let turn = Angle(degrees: note.rotation).shortestTurn(to: Angle(degrees: scaled.rotation))
            #expect(turn.magnitude <= 90.000001, "seed \(seed): \(note)")
        }
    }

    /// Rectangles are sampled in all directions with the sides that fit best there, and with those of the true image's.
    @Test(arguments: [179, 180] as [UInt64])
    func noRectangleIsMuchNearerToTheTrueImage(seed: UInt64) {
        var inventor = Inventor(seed: seed)
        for _ in 0..<20 {
            var note = inventor.note()
            (note.anchorX, note.anchorY) = (0.5, 0.5)
            (note.scaleX, note.scaleY) = (inventor.chance(30) ? -1 : 1, inventor.chance(30) ? -1 : 1)
            (note.originalWidth, note.originalHeight) = (inventor.uniform(50...200), inventor.uniform(50...200))
            let gesture = Self.scaling(
                inventor.uniform(1...1.5) * (inventor.chance(50) ? -1 : 1), inventor.uniform(1...1.5),
                turn: inventor.uniform(-400...400))
            let image = Self.image(of: note, by: gesture)
            let scaled = Self.scaled(note, by: gesture)
            var best = Double.infinity
            for _ in 0..<10_000 {
                var other = scaled
                other.rotation = inventor.uniform(0...359)
                other.scaleX = inventor.uniform(-2...2)
                other.scaleY = inventor.uniform(-2...2)
                best = min(best, Self.distance(other.corners(), image))
            }
            let diagonal = max(Self.distance([image[0]], [image[2]]), Self.distance([image[1]], [image[3]]))
            #expect(
                Self.distance(scaled.corners(), image) <= best + diagonal / 10, "seed \(seed): \(gesture) on \(note)")
        }
    }

    /// That of the corner that lies farthest from where it belongs.
    private static func distance(_ corners: [Point], _ others: [Point]) -> Double {
        zip(corners, others).map { corner, other in
            let way = corner - other
            return (way.x * way.x + way.y * way.y).squareRoot()
        }.max() ?? 0
    }

    @Test(arguments: [181, 182] as [UInt64])
    func everyFiniteScaleKeepsAMemberFinite(seed: UInt64) {
        var inventor = Inventor(seed: seed)
        for _ in 0..<2000 {
            var note = inventor.note()
            let gesture = Self.scaling(inventor.anyNumber(), inventor.anyNumber(), turn: inventor.anyNumber())
            _ = rules.apply(gesture, to: &note, pivot: inventor.anyPoint())
            #expect(note.pose.isFinite && (0.1...10).contains(note.scaleX.magnitude), "seed \(seed): \(gesture)")
            #expect((0.1...10).contains(note.scaleY.magnitude), "seed \(seed): \(gesture)")
        }
    }
}
