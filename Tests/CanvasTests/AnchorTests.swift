import Canvas
import Testing

@Suite struct AnchorTests {
    @Test func nineAnchorsHaveNames() {
        let expected: [AnchorPoint: (Double, Double)] = [
            .topLeft: (0, 0), .top: (0.5, 0), .topRight: (1, 0), .left: (0, 0.5), .center: (0.5, 0.5),
            .right: (1, 0.5), .bottomLeft: (0, 1), .bottom: (0.5, 1), .bottomRight: (1, 1),
        ]
        #expect(AnchorPoint.allCases.count == 9)
        for (anchor, (x, y)) in expected { #expect(anchor.unitPoint == Point(x: x, y: y)) }
    }

    @Test func anElementScalesAboutItsAnchor() {
        var note = Element(id: "e", type: "note", createdBy: "u")
        (note.originalWidth, note.originalHeight) = (1000, 1000)
        (note.positionX, note.positionY, note.scaleX, note.scaleY) = (500, 500, 0.5, 0.5)
        #expect(note.matrix().applied(to: Point(x: 700, y: 300)) == Point(x: 600, y: 400))
    }

    @Test(arguments: [131, 132] as [UInt64])
    func anotherAnchorMovesNothingVisible(seed: UInt64) throws {
        var inventor = Inventor(seed: seed)
        for _ in 0..<1000 {
            let note = inventor.note()
            let anchor = inventor.anchor()
            let moved = try #require(note.anchored(at: anchor))
            #expect(isClose(moved.corners(), note.corners()), "seed \(seed): \(note)")
            #expect(Point(x: moved.anchorX, y: moved.anchorY) == anchor, "seed \(seed)")
            let original = Point(x: note.anchorX, y: note.anchorY)
            let back = try #require(moved.anchored(at: original))
            #expect(isClose(back.pose.position, note.pose.position), "seed \(seed): \(note)")
        }
    }

    @Test(arguments: [133, 134] as [UInt64])
    func anotherAnchorMovesNoAnnotation(seed: UInt64) throws {
        var inventor = Inventor(seed: seed)
        for _ in 0..<500 {
            var note = inventor.note()
            note.space = .normalized
            (note.positionX, note.positionY) = (inventor.uniform(0...1), inventor.uniform(0...1))
            let parent = inventor.size(50...2000)
            let moved = try #require(note.anchored(at: inventor.point(0...1), parentSize: parent))
            #expect(
                isClose(moved.corners(parentSize: parent), note.corners(parentSize: parent)), "seed \(seed): \(note)")
        }
    }

    @Test func everyFiniteAnchorResultsInAFinitePosition() throws {
        var inventor = Inventor(seed: 135)
        for _ in 0..<2000 {
            let moved = try #require(inventor.note().anchored(at: inventor.anyPoint()))
            #expect(moved.pose.isFinite)
            #expect(CanvasLimits.anchor.contains(moved.anchorX) && CanvasLimits.anchor.contains(moved.anchorY))
        }
        for number in notFinite {
            #expect(inventor.note().anchored(at: Point(x: number, y: 0)) == nil)
            #expect(inventor.note().anchored(at: Point(x: 0, y: number)) == nil)
        }
    }

    @Test(arguments: [136, 137] as [UInt64])
    func theAnchorUnderAPointIsThatPoint(seed: UInt64) throws {
        var inventor = Inventor(seed: seed)
        for _ in 0..<1000 {
            let note = inventor.note()
            let point = inventor.point(-1000...1000)
            let anchor = try #require(note.anchor(under: point))
            let held = try #require(note.anchored(at: anchor))
            guard CanvasLimits.anchor.contains(anchor.x), CanvasLimits.anchor.contains(anchor.y) else { continue }
            #expect(isClose(held.pose.position, point, within: 1e-8), "seed \(seed): \(note)")
            let frame = Rect(
                x: point.x, y: point.y, width: inventor.uniform(1...900), height: inventor.uniform(1...900))
            let inFrame = inventor.point(-1...2)
            let there = Point(
                x: frame.origin.x + inFrame.x * frame.size.width, y: frame.origin.y + inFrame.y * frame.size.height)
            let back = try #require(frame.anchor(at: there))
            #expect(isClose(back, inFrame), "seed \(seed)")
        }
        #expect(Rect(x: 0, y: 0, width: 0, height: 1).anchor(at: .zero) == nil)
        #expect(Rect(x: 0, y: 0, width: 1, height: 1).anchor(at: Point(x: .nan, y: 0)) == nil)
        #expect(inventor.note().anchor(under: Point(x: .infinity, y: 0)) == nil)
    }
}
