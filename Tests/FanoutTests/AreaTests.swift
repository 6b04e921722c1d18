import Canvas
import FanoutCore
import Testing
import Wire

/// Where previews can be seen. The element is at (1, 2), 100 × 100 pixels about its centre.
@Suite struct AreaTests {
    /// Ben's gateway has members with viewports.
    private static func stage(_ element: String? = nil) -> Scene {
        var scene = PreviewTests.stage(element)
        scene.fanout.areaInterestReceived(AreaInterest(room: "r"), from: Scene.g2)
        return scene
    }

    private static func areas(_ scene: inout Scene, _ preview: Preview) -> [PreviewArea] {
        scene.preview(preview)
        return scene.taken(by: Scene.g2).previews.map(\.area)
    }

    private static func box(_ x: Double, _ y: Double, _ width: Double, _ height: Double) -> PreviewArea {
        PreviewArea(Rect(x: x, y: y, width: width, height: height))
    }

    @Test func withoutViewportsNoAreaIsComputed() {
        var scene = PreviewTests.stage()
        #expect(Self.areas(&scene, .by()) == [.everywhere])
        scene.interest([("ben", 2)], seq: 1, at: Scene.g2, hasViewports: true)
        _ = scene.take()
        #expect(Self.areas(&scene, .by(gesture: 2)) != [.everywhere])
        scene.interest([("ben", 2)], seq: 1, at: Scene.g2)
        _ = scene.take()
        #expect(Self.areas(&scene, .by(gesture: 2)) == [.everywhere])
    }

    /// Whoever sets a viewport in the middle of a gesture, and sees the element there, must see it leave.
    @Test func theFirstAreaOfAGestureThatWasShownWithoutOneIsEverywhere() {
        var scene = PreviewTests.stage()
        for _ in 1...2 {
            _ = Self.areas(&scene, .by(showing: TransformFields(positionX: 1001)))
            scene.interest([("ben", 2)], seq: 1, at: Scene.g2, hasViewports: true)
            _ = scene.take()
            #expect(Self.areas(&scene, .by(showing: TransformFields(positionX: 2001))) == [.everywhere])
            let next = Self.areas(&scene, .by(showing: TransformFields(positionX: 3001)))
            #expect(next == [Self.box(1951, -48, 1100, 100)])
            scene.interest([("ben", 2)], seq: 1, at: Scene.g2)
            _ = scene.take()
        }
    }

    /// What is half as far from the viewer is twice as large; behind the viewer it is its anchor.
    @Test func theAreaIsThatOfTheProjection() {
        var scene = Self.stage()
        let stored = Self.box(-49, -48, 100, 100)
        let near = TransformFields(positionX: 1001, positionZ: 400, perspective: 800)
        #expect(Self.areas(&scene, .by(showing: near)) == [stored.union(Self.box(901, -98, 200, 200))])
        let behind = TransformFields(positionX: 2001, positionZ: 900, perspective: 800)
        #expect(
            Self.areas(&scene, .by(showing: behind)) == [Self.box(901, -98, 200, 200).union(Self.box(2001, 2, 0, 0))])
    }

    /// A flying card is where time says, and a preview of its angle reaches whoever sees it there.
    @Test func whatFliesBesideAGestureIsSeenEverywhere() {
        let track = #"{"startedAt":0,"segments":[{"from":5000,"to":1,"ms":900,"curve":"linear"}]}"#
        var scene = Self.stage(Scene.element("e", more: #","motion":{"positionX":\#(track)}"#))
        #expect(Self.areas(&scene, .by(showing: TransformFields(rotation: 45))) == [.everywhere])
        // The hand caught it: it is where it is held. Before that it was somewhere on its way.
        #expect(Self.areas(&scene, .by(showing: TransformFields(positionX: 1001))) == [.everywhere])
        #expect(Self.areas(&scene, .by(showing: TransformFields(positionX: 1001))) != [.everywhere])
    }

    @Test func aRoomThatIsNotThereNeedsNoAreas() {
        var scene = Scene()
        scene.fanout.areaInterestReceived(AreaInterest(room: "r"), from: Scene.g1)
        #expect(scene.fanout.rooms.count == 0)
    }

    @Test func theAreaIsTheBoundingBoxAndTheOneBeforeAtFirstThatOfTheStoredElement() {
        var scene = Self.stage()
        let stored = Self.box(-49, -48, 100, 100)
        let first = Self.areas(&scene, .by(showing: TransformFields(positionX: 1001)))
        #expect(first == [stored.union(Self.box(951, -48, 100, 100))])
        let second = Self.areas(&scene, .by(showing: TransformFields(positionX: 2001)))
        #expect(second == [Self.box(951, -48, 1100, 100)])
    }

    @Test func aNewGestureBeginsAtTheStoredElement() {
        var scene = Self.stage()
        _ = Self.areas(&scene, .by(showing: TransformFields(positionX: 1001)))
        let scaled = Self.areas(&scene, .by(showing: TransformFields(positionX: 1001, scaleX: 2, scaleY: 2)))
        #expect(scaled == [Self.box(901, -98, 200, 200)])
        let next = Self.areas(&scene, .by(gesture: 2, showing: TransformFields(scaleX: 2)))
        #expect(next == [Self.box(-99, -48, 200, 100)])
    }

    @Test func aTurnedElementReachesFurther() {
        var scene = Self.stage()
        _ = Self.areas(&scene, .by(showing: TransformFields(positionX: 1001, rotation: 45)))
        let areas = Self.areas(&scene, .by(showing: TransformFields(positionX: 1001, rotation: 45)))
        let half = 50 * 2.0.squareRoot()
        #expect(areas == [Self.box(1001 - half, 2 - half, 2 * half, 2 * half)])
    }

    @Test func anAnnotationLiesOnItsParent() {
        var scene = Self.stage(Scene.element("e").replacing(#""scaleX":1"#, with: #""scaleX":2"#))
        let note =
            #"{"id":"a","type":"text","parentId":"e","space":"normalized","positionX":0.5,"positionY":0.5,"width":10,"#
            + #""height":10,"rotation":0,"scaleX":1,"scaleY":1,"originalWidth":10,"originalHeight":10,"anchorX":0.5,"#
            + #""anchorY":0.5,"createdBy":"ann","updatedBy":"ann","rev":1}"#
        scene.commit("a", note)
        _ = scene.take()
        _ = Self.areas(&scene, .by(element: "a", showing: TransformFields(positionX: 1)))
        let areas = Self.areas(&scene, .by(element: "a", showing: TransformFields(positionX: 1)))
        // At the right edge of its parent, in the middle of its height.
        #expect(areas == [Self.box(91, -3, 20, 10)])
        // It has no place in a gesture about a pivot: such a commit is refused.
        var turned = Preview.by(element: "a", showing: TransformFields())
        var turn = GestureFields()
        turn.rotation = 90
        turned.delta = PreviewDelta(turn, pivot: Point(x: 1, y: 12))
        #expect(Self.areas(&scene, turned) == [])
        #expect(scene.fanout.counters.previewsDropped[.place] == 1)
    }

    /// Another of Ann's devices comes in, under a session of its own.
    private static func addPhone(to scene: inout Scene) {
        scene.member("ann", 3, at: Scene.g2)
        scene.show(
            Awareness(
                room: "r", connection: 3, user: "ann", sid: "s-phone", version: 1, value: .cursor(nil)))
        scene.pass(1)
        _ = scene.take()
    }

    @Test func whatAnotherOfTheUsersDevicesGoesOnWithIsShownAgainAfterAChange() {
        var scene = Self.stage()
        Self.addPhone(to: &scene)
        _ = Self.areas(&scene, .by(showing: TransformFields(positionX: 1001, rotation: 90)))
        _ = Self.areas(&scene, .by("s-ben", 2, showing: TransformFields(positionX: 3001)))
        scene.commit(sid: "s-phone")
        var expected = Preview.by(after: 2, showing: TransformFields(positionX: 1001, rotation: 90))
        expected.area = Self.box(951, -48, 100, 100)
        #expect(scene.taken(by: Scene.g2).previews == [expected])
        scene.commit(sid: "s-phone")
        #expect(scene.taken(by: Scene.g2).previews.map(\.after) == [3])
        // The change that ends the gesture, and those after it.
        scene.commit(gesture: 1)
        scene.commit(sid: "s-phone")
        #expect(scene.taken(by: Scene.g2).previews == [])
    }

    @Test func aGestureThatMayHaveOutlivedItsSessionIsNotShownAgain() {
        var scene = Self.stage()
        _ = Self.areas(&scene, .by(showing: TransformFields(positionX: 1001)))
        // The device has come back as another session, and nobody has noticed yet that its connection is gone.
        Self.addPhone(to: &scene)
        scene.commit(sid: "s-phone")
        #expect(scene.taken(by: Scene.g2).previews == [])
        _ = Self.areas(&scene, .by(gesture: 2, showing: TransformFields(positionX: 1001)))
        scene.commit(sid: "s-phone")
        #expect(scene.taken(by: Scene.g2).previews.map(\.gesture) == [2])
    }

    @Test func aGestureWhoseConnectionIsGoneOrInDoubtIsNotShownAgain() {
        for isGone in [true, false] {
            var scene = Self.stage()
            Self.addPhone(to: &scene)
            _ = Self.areas(&scene, .by(showing: TransformFields(positionX: 1001)))
            if isGone { scene.leave(1) } else { scene.fanout.linkDown(to: Scene.g1, at: scene.now) }
            _ = scene.take()
            scene.commit(sid: "s-phone")
            #expect(scene.taken(by: Scene.g2).previews == [])
        }
    }

    @Test func withoutViewportsNothingIsShownAgain() {
        var scene = PreviewTests.stage()
        Self.addPhone(to: &scene)
        _ = Self.areas(&scene, .by(showing: TransformFields(positionX: 1001)))
        scene.commit(sid: "s-phone")
        #expect(scene.taken(by: Scene.g2).previews == [])
    }
}
