import Canvas
import Testing

@Suite struct TransformTests {
    @Test func theOrderIsScaleThenRotateThenTranslate() {
        let (position, turn) = (Point(x: 100, y: 200), Angle(degrees: 90))
        let anchor = Point(x: 10, y: 10)
        let matrix = AffineMatrix(scaleX: 2, scaleY: 3, rotation: turn, anchor: anchor, position: position)
        let toAnchor = AffineMatrix(a: 1, b: 0, c: 0, d: 1, tx: -anchor.x, ty: -anchor.y)
        let scaling = AffineMatrix(a: 2, b: 0, c: 0, d: 3, tx: 0, ty: 0)
        let rotation = AffineMatrix(a: 0, b: 1, c: -1, d: 0, tx: 0, ty: 0)
        let toPosition = AffineMatrix(a: 1, b: 0, c: 0, d: 1, tx: position.x, ty: position.y)
        let inOrder = toAnchor.followed(by: scaling).followed(by: rotation).followed(by: toPosition)
        let turnedFirst = toAnchor.followed(by: rotation).followed(by: scaling).followed(by: toPosition)
        let movedFirst = toPosition.followed(by: toAnchor).followed(by: scaling).followed(by: rotation)
        let point = Point(x: 11, y: 12)
        // 1 to the right becomes 2 down, 2 down become 6 to the left.
        #expect(matrix.applied(to: point) == Point(x: 94, y: 202))
        #expect(inOrder.applied(to: point) == Point(x: 94, y: 202))
        #expect(turnedFirst.applied(to: point) == Point(x: 96, y: 203))
        #expect(movedFirst.applied(to: point) == Point(x: -606, y: 202))
    }

    @Test(arguments: [111, 112] as [UInt64])
    func mapsAreAGroup(seed: UInt64) throws {
        var inventor = Inventor(seed: seed)
        for _ in 0..<1000 {
            let (first, second, third) = (inventor.note().matrix(), inventor.note().matrix(), inventor.note().matrix())
            let point = inventor.point(-500...500)
            #expect(first.followed(by: .identity) == first)
            #expect(AffineMatrix.identity.followed(by: first) == first)
            #expect(
                isClose(
                    first.followed(by: second).applied(to: point), second.applied(to: first.applied(to: point))),
                "seed \(seed)")
            #expect(
                isClose(
                    first.followed(by: second).followed(by: third).applied(to: point),
                    first.followed(by: second.followed(by: third)).applied(to: point), within: 1e-8), "seed \(seed)")
            let inverse = try #require(first.inverse)
            #expect(isClose(inverse.applied(to: first.applied(to: point)), point, within: 1e-8), "seed \(seed)")
            #expect(isClose(first.applied(to: inverse.applied(to: point)), point, within: 1e-8), "seed \(seed)")
        }
    }

    @Test(arguments: [113, 114] as [UInt64])
    func anInverseIsFiniteOrThereIsNone(seed: UInt64) {
        var inventor = Inventor(seed: seed)
        var found = 0
        for _ in 0..<5000 {
            let map = AffineMatrix(
                a: inventor.number(-9...9), b: inventor.number(-9...9), c: inventor.number(-9...9),
                d: inventor.number(-9...9), tx: inventor.number(-9...9), ty: inventor.number(-9...9))
            guard let inverse = map.inverse else { continue }
            found += 1
            let numbers = [inverse.a, inverse.b, inverse.c, inverse.d, inverse.tx, inverse.ty]
            #expect(numbers.allSatisfy { $0.isFinite }, "seed \(seed): \(map)")
        }
        #expect(found > 1000, "seed \(seed)")
    }

    @Test(arguments: [115, 116] as [UInt64])
    func aBoundingBoxTouchesAllFourSidesOfItsElement(seed: UInt64) {
        var inventor = Inventor(seed: seed)
        for _ in 0..<1000 {
            let note = inventor.note()
            let (box, corners) = (note.boundingBox(), note.corners())
            #expect(corners.allSatisfy { box.expanded(by: 1e-9).contains($0) }, "seed \(seed): \(note)")
            #expect(corners.contains { $0.x == box.origin.x }, "seed \(seed): \(note)")
            #expect(corners.contains { $0.y == box.origin.y }, "seed \(seed): \(note)")
            #expect(corners.contains { isClose($0.x, box.end.x) }, "seed \(seed): \(note)")
            #expect(corners.contains { isClose($0.y, box.end.y) }, "seed \(seed): \(note)")
        }
    }

    @Test func aTurnedElementIsHitWhereItIsDrawn() {
        var note = Element(id: "e", type: "note", createdBy: "u")
        (note.originalWidth, note.originalHeight, note.rotation) = (200, 20, 45)
        // A bar from upper left to lower right through the origin.
        #expect(note.contains(Point(x: 65, y: 65)))
        #expect(!note.contains(Point(x: 65, y: -65)))
        #expect(!note.contains(Point(x: 65, y: 0)))
        // Its bounding box contains all three.
        for y in [65.0, -65, 0] { #expect(note.boundingBox().contains(Point(x: 65, y: y))) }
        #expect(!note.contains(Point(x: 75, y: 75)))
        #expect(note.contains(Point(x: 75, y: 75), tolerance: 10))
        // The tolerance does not grow with the element, which ends at 200 / √2 = 141.4 now; 10 / √2 = 7.1.
        (note.scaleX, note.scaleY) = (2, 2)
        #expect(note.contains(Point(x: 145, y: 145), tolerance: 10))
        #expect(!note.contains(Point(x: 150, y: 150), tolerance: 10))
        note.scaleX = 0
        #expect(!note.contains(.zero, tolerance: 10))
    }

    @Test(arguments: [117, 118] as [UInt64])
    func ownPointIsTheInverseOfTheMatrixAndHitsAreItsInside(seed: UInt64) {
        var inventor = Inventor(seed: seed)
        for _ in 0..<2000 {
            let note = inventor.note()
            let unit = inventor.point(-0.5...1.5)
            let own = Point(x: unit.x * note.originalWidth, y: unit.y * note.originalHeight)
            let onCanvas = note.matrix().applied(to: own)
            let found = note.ownPoint(fromCanvas: onCanvas) ?? .zero
            #expect(isClose(found, own, within: 1e-8), "seed \(seed): \(note)")
            let isInside = (0...1).contains(unit.x) && (0...1).contains(unit.y)
            #expect(note.contains(onCanvas) == isInside, "seed \(seed): \(note) at \(unit)")
        }
    }

    @Test(arguments: [119, 120] as [UInt64])
    func flipsMirrorInTheElementsOwnAxes(seed: UInt64) throws {
        var inventor = Inventor(seed: seed)
        for _ in 0..<500 {
            var note = inventor.note()
            (note.positionX, note.positionY) = (note.positionX.rounded(), note.positionY.rounded())
            (note.anchorX, note.anchorY) = (0.5, 0.5)
            for (preset, order) in [(Preset.flipX, [1, 0, 3, 2]), (.flipY, [3, 2, 1, 0])] {
                let before = note.corners()
                var flipped = note
                #expect(rules.apply(preset.fields(on: flipped), to: &flipped).isEmpty)
                #expect(isClose(flipped.corners(), order.map { before[$0] }), "seed \(seed): \(preset) of \(note)")
                #expect(rules.apply(preset.fields(on: flipped), to: &flipped).isEmpty)
                #expect(flipped == note, "seed \(seed): \(preset) twice")
            }
        }
    }

    @Test func anAnnotationTurnsWithItsParent() throws {
        var (photo, _) = try created("photo", #""positionX":100,"positionY":100,"width":200,"height":100"#)
        let (label, _) = try created(
            "text", #""space":"normalized","parentId":"e1","positionX":1,"positionY":0.5,"width":20,"height":10"#)
        #expect(label.boundingBox(on: photo) == Rect(x: 190, y: 95, width: 20, height: 10))
        (photo.rotation, photo.scaleX, photo.scaleY) = (90, 2, 2)
        // The middle of the right edge has become that of the lower edge.
        #expect(label.boundingBox(on: photo) == Rect(x: 90, y: 280, width: 20, height: 40))
        #expect(label.contains(Point(x: 100, y: 315), on: photo))
        #expect(!label.contains(Point(x: 115, y: 300), on: photo))
        #expect(label.contains(Point(x: 115, y: 300), on: photo, tolerance: 5))
        // An element in canvas space keeps its place, whatever belongs to it.
        #expect(photo.boundingBox(on: label) == photo.boundingBox())
        #expect(photo.contains(Point(x: 100, y: 100), on: label))
    }

    @Test func aPoseIsWhatWasSet() {
        var inventor = Inventor(seed: 121)
        for _ in 0..<100 {
            var note = inventor.note()
            let pose = inventor.pose()
            note.pose = pose
            #expect(note.pose == pose)
        }
    }

    @Test(arguments: [122, 123] as [UInt64])
    func interpolationOfFinitePosesIsFiniteAndEndsAtBothEnds(seed: UInt64) {
        var inventor = Inventor(seed: seed)
        func pose() -> Pose {
            Pose(
                position: inventor.anyPoint(), rotation: Angle(degrees: inventor.anyNumber()),
                scaleX: inventor.anyNumber(), scaleY: inventor.anyNumber())
        }
        for _ in 0..<2000 {
            let (from, to) = (pose(), pose())
            #expect(from.interpolated(to: to, fraction: 0) == from, "seed \(seed)")
            #expect(from.interpolated(to: to, fraction: 1) == to, "seed \(seed)")
            let between = from.interpolated(to: to, fraction: inventor.uniform(0...1))
            #expect(between.isFinite, "seed \(seed): \(from) \(to)")
        }
    }
}
