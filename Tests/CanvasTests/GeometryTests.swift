import Canvas
import Testing

@Suite("Geometry")
struct GeometryTests {
    @Test("degrees are clockwise in [0, 360), radians their other spelling")
    func angles() {
        #expect(Angle(degrees: -90).degrees == 270)
        #expect(Angle(degrees: 360).degrees == 0)
        #expect(Angle(degrees: .nan).degrees == 0)
        #expect(Angle(radians: .pi).degrees == 180)
        for degrees in stride(from: 0.0, to: 360, by: 7.3) {
            #expect((Angle(radians: Angle(degrees: degrees).radians).degrees - degrees).magnitude < 1e-12 * 360)
        }
        #expect(Point(x: 1, y: 0).rotated(by: Angle(degrees: 90)) == Point(x: 0, y: 1))
    }

    @Test("a step too small to matter snaps nothing, and neither does one that is none")
    func uselessSteps() {
        for step in [Double.leastNonzeroMagnitude, 1e-300, 1e-13, 0, -45, 181, .nan, .infinity] {
            #expect(Angle(degrees: 123.4).snapped(to: step).degrees == 123.4)
        }
    }

    @Test func theShortWayRound() {
        #expect(Angle(degrees: 350).shortestTurn(to: Angle(degrees: 10)) == 20)
        #expect(Angle(degrees: 10).shortestTurn(to: Angle(degrees: 350)) == -20)
        #expect(Angle(degrees: 0).shortestTurn(to: Angle(degrees: 180)) == 180)
        #expect(Angle(degrees: 180).shortestTurn(to: Angle(degrees: 0)) == 180)
        #expect(Angle(degrees: 350).interpolated(to: Angle(degrees: 20), fraction: 0.5).degrees == 5)
        #expect(Angle(degrees: 350).interpolated(to: Angle(degrees: 20), fraction: 1).degrees == 20)
    }

    @Test("scale, then rotate, then translate: p ↦ position + R·S·(p − anchor)")
    func matrix() {
        let matrix = AffineMatrix(
            scaleX: 2, scaleY: 3, rotation: Angle(degrees: 90), anchor: Point(x: 10, y: 10),
            position: Point(x: 100, y: 200))
        #expect(matrix.applied(to: Point(x: 10, y: 10)) == Point(x: 100, y: 200))
        // One to the right is scaled to 2, and clockwise by 90° "right" becomes "down".
        #expect(matrix.applied(to: Point(x: 11, y: 10)) == Point(x: 100, y: 202))
        #expect(matrix.applied(to: Point(x: 10, y: 11)) == Point(x: 97, y: 200))
        #expect(AffineMatrix(a: 1, b: 2, c: 2, d: 4, tx: 0, ty: 0).inverse == nil)
    }

    @Test(arguments: [1, 2] as [UInt64])
    func aMapAndItsInverseAreTheIdentity(seed: UInt64) throws {
        var inventor = Inventor(seed: seed)
        for _ in 0..<500 {
            func random(_ range: ClosedRange<Double>) -> Double { Double.random(in: range, using: &inventor.generator) }
            let matrix = AffineMatrix(
                scaleX: random(0.1...10), scaleY: -random(0.1...10), rotation: Angle(degrees: random(0...360)),
                anchor: Point(x: random(0...100), y: random(0...100)),
                position: Point(x: random(-1000...1000), y: random(-1000...1000)))
            let inverse = try #require(matrix.inverse)
            let point = Point(x: random(-500...500), y: random(-500...500))
            #expect(isClose(inverse.applied(to: matrix.applied(to: point)), point, within: 1e-7), "seed \(seed)")
            #expect(isClose(matrix.followed(by: inverse).applied(to: point), point, within: 1e-7), "seed \(seed)")
        }
    }

    @Test func cornersAndBoundingBoxOfATurnedElement() throws {
        let (element, _) = try created("note", #""positionX":50,"positionY":50,"width":100,"height":40,"rotation":90"#)
        #expect(element.boundingBox() == Rect(x: 30, y: 0, width: 40, height: 100))
        #expect(element.corners().first == Point(x: 70, y: 0))
        let (note, _) = try created(
            "note", #""space":"normalized","parentId":"p","positionX":0.5,"positionY":0.5,"width":10,"height":10"#)
        #expect(
            note.boundingBox(parentSize: Size(width: 200, height: 100)) == Rect(x: 95, y: 45, width: 10, height: 10))
    }

    @Test("letterbox: screen ↔ image ↔ normalized round trips")
    func letterbox() throws {
        let box = try #require(Letterbox(image: Size(width: 4000, height: 3000), view: Size(width: 375, height: 812)))
        #expect(box.frame == Rect(x: 0, y: 265.375, width: 375, height: 281.25))
        #expect(box.screenPoint(fromNormalized: .zero) == box.frame.origin)
        #expect(box.normalizedPoint(fromScreen: box.frame.end) == Point(x: 1, y: 1))
        for x in stride(from: 0.0, through: 1, by: 0.1) {
            let point = Point(x: x, y: 1 - x)
            #expect(
                isClose(box.normalizedPoint(fromScreen: box.screenPoint(fromNormalized: point)), point, within: 1e-12))
            #expect(
                isClose(box.normalizedPoint(fromImage: box.imagePoint(fromNormalized: point)), point, within: 1e-15))
        }
        for (image, view) in [
            (Size(width: 0, height: 1), Size(width: 1, height: 1)),
            (Size(width: 1, height: 1), Size(width: -1, height: 1)),
            (Size(width: .nan, height: 1), Size(width: 1, height: 1)),
            (Size(width: 1e-300, height: 1e-300), Size(width: 1e300, height: 1e300)),
        ] {
            #expect(Letterbox(image: image, view: view) == nil)
        }
    }

    @Test func aNewAnchorMovesNothingVisibly() throws {
        let (element, _) = try created(
            "note", #""positionX":50,"positionY":70,"width":100,"height":40,"rotation":33,"scaleX":-2,"scaleY":1.5"#)
        var moved = element
        (moved.anchorX, moved.anchorY) = (0, 1)
        let position = element.position(withAnchor: Point(x: 0, y: 1))
        (moved.positionX, moved.positionY) = (position.x, position.y)
        for (before, after) in zip(element.corners(), moved.corners()) { #expect(isClose(before, after)) }
    }

    @Test("gestures: drags add, pinches multiply, turns add, rounded once")
    func gesture() throws {
        var (element, _) = try created("note", #""positionX":10,"positionY":20,"rotation":350,"scaleX":2,"scaleY":2"#)
        var drag = Gesture()
        drag.translation = Point(x: 0.4, y: -0.4)
        drag.scaleX = 1.5
        drag.scaleY = 2
        drag.rotation = 20
        #expect(
            drag.followed(by: drag).fields(on: element)
                == TransformFields(positionX: 10.8, positionY: 19.2, rotation: 390, scaleX: 4.5, scaleY: 8))
        _ = rules.apply(drag.followed(by: drag), to: &element)
        #expect((element.positionX, element.positionY, element.rotation) == (11, 19, 30))
        #expect(Gesture().fields(on: element).isEmpty)
    }

    @Test("group gesture: position' = v + R(θ)·S·(position − v) + translation")
    func pivot() throws {
        var (element, _) = try created("note", #""positionX":110,"positionY":100"#)
        var gesture = Gesture()
        (gesture.scaleX, gesture.scaleY, gesture.rotation) = (2, 2, 90)
        gesture.translation = Point(x: 1, y: 0)
        #expect(rules.apply(gesture, to: &element, pivot: Point(x: 100, y: 100)).isEmpty)
        #expect((element.positionX, element.positionY, element.rotation, element.scaleX) == (101, 120, 90, 2))
    }

    @Test("gesture: the anchor first, without visible movement, then the rest about it")
    func gestureAnchor() throws {
        var (element, _) = try created("note", #""positionX":50,"positionY":50"#)
        var gesture = Gesture()
        gesture.anchor = .zero
        gesture.rotation = 90
        #expect(rules.apply(gesture, to: &element).isEmpty)
        #expect((element.positionX, element.positionY, element.anchorX, element.anchorY) == (0, 0, 0, 0))
        #expect(element.corners()[0] == .zero)
        #expect(element.corners()[1] == Point(x: 0, y: 100))
    }

    @Test func presets() throws {
        var (element, _) = try created("photo", #""rotation":300,"scaleX":2,"scaleY":2"#)
        for (preset, rotation, x, y) in [
            (Preset.rotateCW, 30.0, 2.0, 2.0), (.rotateCCW, 300, 2, 2), (.rotate180, 120, 2, 2), (.flipX, 120, -2, 2),
            (.flipY, 120, -2, -2), (.reset, 0, 1, 1),
        ] {
            #expect(rules.apply(preset.fields(on: element), to: &element).isEmpty)
            #expect((element.rotation, element.scaleX, element.scaleY) == (rotation, x, y))
        }
    }

    @Test func posesMeetHalfwayAnglesTheShortWay() {
        let from = Pose(position: .zero, rotation: Angle(degrees: 350), scaleX: 1, scaleY: 1)
        let to = Pose(position: Point(x: 10, y: -10), rotation: Angle(degrees: 10), scaleX: 3, scaleY: -1)
        #expect(
            from.interpolated(to: to, fraction: 0.5)
                == Pose(position: Point(x: 5, y: -5), rotation: .zero, scaleX: 2, scaleY: 0))
        #expect(from.interpolated(to: to, fraction: 1) == to)
        #expect(from.interpolated(to: to, fraction: 0) == from)
    }

    @Test("throttle: the first at once, the latest at the interval, the last always")
    func throttle() {
        var throttle = Throttle<Int>(interval: 16)
        #expect(throttle.offer(1, at: 100) == 1)
        #expect(throttle.deadline == nil)
        #expect(throttle.offer(2, at: 101) == nil)
        #expect(throttle.offer(3, at: 115) == nil)
        #expect(throttle.deadline == 116)
        #expect(throttle.due(at: 115) == nil)
        #expect(throttle.due(at: 116) == 3)
        #expect(throttle.due(at: 200) == nil)
        #expect(throttle.offer(4, at: 131) == nil)
        #expect(throttle.flush() == 4)
        #expect(throttle.flush() == nil)
        #expect(throttle.offer(5, at: 132) == 5)
        #expect(throttle.offer(6, at: .max) == 6)
    }

    @Test func latestWinsPerField() {
        var fields = TransformFields(positionX: 1, rotation: 2)
        fields.merge(TransformFields(rotation: 3, scaleX: 4))
        #expect(fields == TransformFields(positionX: 1, rotation: 3, scaleX: 4))
        #expect(TransformFields(width: 1).isEmpty)
        #expect(!fields.isEmpty)
    }
}
