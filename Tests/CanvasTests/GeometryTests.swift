import Canvas
import Testing

@Suite("Geometry")
struct GeometryTests {
    @Test("a step too small to matter snaps nothing, and neither does one that is none")
    func uselessSteps() {
        for step in [Double.leastNonzeroMagnitude, 1e-300, 1e-13, 0, -45, 181, .nan, .infinity] {
            #expect(Angle(degrees: 123.4).snapped(to: step).degrees == 123.4)
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
        #expect(throttle.offer(4, at: 132) == 4)
        #expect(throttle.offer(5, at: .max) == 5)
    }

    @Test func latestWinsPerField() {
        var fields = TransformFields(positionX: 1, rotation: 2)
        fields.merge(TransformFields(rotation: 3, scaleX: 4))
        #expect(fields == TransformFields(positionX: 1, rotation: 3, scaleX: 4))
        #expect(TransformFields(width: 1).isEmpty)
        #expect(!fields.isEmpty)
    }
}
