import Canvas
import DatabaseTestKit
import FanoutCore
import JSONBytes
import Testing
import Wire

@Suite struct PreviewTests {
    /// Ann (1, first gateway) and Ben (2, second gateway) in a room with one element, update 1.
    static func stage(_ element: String? = nil) -> Scene {
        var scene = Scene()
        scene.member("ann", 1)
        scene.member("ben", 2, at: Scene.g2)
        scene.commit("e", element)
        _ = scene.take()
        return scene
    }

    @Test func aPreviewGoesOnWithTheUpdateThatItFollows() {
        var scene = Self.stage()
        scene.preview(.by(showing: TransformFields(positionX: 7.6, rotation: -90)))
        var expected = Preview.by(showing: TransformFields(positionX: 8, rotation: 270))
        expected.after = 1
        // Its sender is alone at the first gateway, which needs it not.
        #expect(
            scene.take() == [.broadcast(.preview(expected), to: [Scene.g1, Scene.g2], except: Scene.g1)])
        scene.member("cid", 3)
        scene.preview(.by(showing: TransformFields(positionX: 7.6, rotation: -90)))
        #expect(scene.take() == [.broadcast(.preview(expected), to: [Scene.g1, Scene.g2], except: nil)])
    }

    @Test func aLonePublishersPreviewsGoNowhere() {
        var scene = Scene()
        scene.member("ann", 1)
        scene.commit()
        _ = scene.take()
        scene.preview(.by())
        #expect(scene.take() == [])
    }

    @Test func onlyWhatWasSentIsShownButALockedAspectMovesBothScales() {
        var scene = Self.stage(Scene.element("e", type: "photo"))
        scene.preview(.by(showing: TransformFields(scaleX: 9)))
        #expect(scene.taken(by: Scene.g2).previews.map(\.fields) == [TransformFields(scaleX: 5, scaleY: 5)])
        // Back at the stored scale the other axis must be shown again too.
        scene.preview(.by(showing: TransformFields(scaleX: 1)))
        #expect(scene.taken(by: Scene.g2).previews.map(\.fields) == [TransformFields(scaleX: 1, scaleY: 1)])
        var free = Self.stage()
        free.preview(.by(showing: TransformFields(scaleX: 20)))
        #expect(free.taken(by: Scene.g2).previews.map(\.fields) == [TransformFields(scaleX: 10)])
    }

    @Test func newRulesApplyToPreviewsAndJoinsFromThenOn() throws {
        var scene = Self.stage()
        var document = JSONDocument()
        try document.parse(Array(#"{"note":{"maxScale":3}}"#.utf8))
        let rules = try RulesTable(json: document.root)
        // Waits for the update that it follows: it is clamped when it leaves.
        scene.preview(.by(gesture: 2, after: 2, showing: TransformFields(scaleX: 20)))
        scene.fanout.rulesChanged(rules)
        scene.commit(gesture: 1)
        #expect(scene.taken(by: Scene.g2).previews.map(\.fields) == [TransformFields(scaleX: 3)])
        scene.preview(.by(gesture: 2, after: 2, showing: TransformFields(scaleY: 20)))
        #expect(scene.taken(by: Scene.g2).previews.map(\.fields) == [TransformFields(scaleY: 3)])
        scene.join("cid", 3)
        var writer = JSONWriter()
        rules.encode(into: &writer)
        #expect(scene.taken(by: Scene.g1).joined.map(\.rules) == [writer.bytes])
    }

    private static func shown(_ fields: GestureFields, pivot: Point? = nil, in scene: inout Scene) -> [TransformFields]
    {
        var preview = Preview.by(showing: TransformFields())
        preview.delta = PreviewDelta(fields, pivot: pivot)
        scene.preview(preview)
        let previews = scene.taken(by: Scene.g2).previews
        #expect(previews.allSatisfy { $0.delta == nil })
        return previews.map(\.fields)
    }

    /// The element is at (1, 2), 100 × 100 pixels about its centre.
    @Test func deltasBecomeValuesOnTheStoredElement() {
        var scene = Self.stage()
        var fields = GestureFields()
        fields.rotation = -20
        #expect(Self.shown(fields, in: &scene) == [TransformFields(rotation: 340)])
        fields.translation = Point(x: 10.4, y: -1)
        fields.scale = Point(x: 99, y: 1)
        #expect(
            Self.shown(fields, in: &scene) == [
                TransformFields(positionX: 11, positionY: 1, rotation: 340, scaleX: 10, scaleY: 1)
            ])
        var tilt = GestureFields()
        tilt.tilt = Point(x: 0, y: -20)
        #expect(Self.shown(tilt, in: &scene) == [TransformFields(rotationX: 0, rotationY: 340)])
        var turn = GestureFields()
        turn.rotation = 90
        #expect(
            Self.shown(turn, pivot: Point(x: 1, y: 12), in: &scene) == [
                TransformFields(positionX: 11, positionY: 12, rotation: 90)
            ])
    }

    /// A member remembers what earlier previews of a gesture showed: it must see that a turned element turns back, too.
    @Test func aScaleAboutAPivotShowsTheRotationOfWhatIsTurned() {
        var scene = Self.stage(Scene.element("e", rotation: 30))
        var fields = GestureFields()
        let pivot = Point(x: 0, y: 0)
        fields.scale = Point(x: -1, y: 1)
        let mirrored = TransformFields(positionX: -1, positionY: 2, rotation: 330, scaleX: -1, scaleY: 1)
        #expect(Self.shown(fields, pivot: pivot, in: &scene) == [mirrored])
        fields.scale = Point(x: 2, y: 2)
        let grown = TransformFields(positionX: 2, positionY: 4, rotation: 30, scaleX: 2, scaleY: 2)
        #expect(Self.shown(fields, pivot: pivot, in: &scene) == [grown])
        // About its own anchor, and along the canvas's axes, nothing turns.
        #expect(Self.shown(fields, in: &scene) == [TransformFields(scaleX: 2, scaleY: 2)])
        var upright = Self.stage(Scene.element("e", rotation: 90))
        fields.scale = Point(x: -1, y: 1)
        #expect(
            Self.shown(fields, pivot: pivot, in: &upright) == [
                TransformFields(positionX: -1, positionY: 2, scaleX: 1, scaleY: -1)
            ])
    }

    /// Members draw about the stored anchor. Turned by a half about the top left corner, the centre is on its other side.
    @Test func aNewAnchorIsShownAsThePositionOfTheStoredOne() {
        var scene = Self.stage()
        var fields = GestureFields()
        fields.anchor = .zero
        #expect(Self.shown(fields, in: &scene) == [TransformFields(positionX: 1, positionY: 2)])
        fields.rotation = 180
        #expect(Self.shown(fields, in: &scene) == [TransformFields(positionX: -99, positionY: -98, rotation: 180)])
    }

    @Test func snapsAndBoundsHold() {
        let more = #","snapDegrees":45,"bounds":{"x":0,"y":0,"width":50,"height":50}"#
        var scene = Self.stage(Scene.element("e", more: more))
        scene.preview(.by(showing: TransformFields(positionX: 90, rotation: 50)))
        #expect(
            scene.taken(by: Scene.g2).previews.map(\.fields) == [TransformFields(positionX: 50, rotation: 45)])
    }

    @Test func constraintsHold() {
        let more =
            #","constraints":{"axis":"x","rotation":{"min":0,"max":30},"scale":{"min":1,"max":2},"grid":{"x":20}}"#
        var scene = Self.stage(Scene.element("e", more: more))
        let (x, y) = (90.5, 90.5)
        scene.preview(.by(showing: TransformFields(positionX: x, positionY: y, rotation: 50, scaleX: 3)))
        #expect(
            scene.taken(by: Scene.g2).previews.map(\.fields) == [
                TransformFields(positionX: 100, positionY: 2, rotation: 30, scaleX: 2)
            ])
    }

    @Test func unknownDeletedAndLockedElementsHaveNone() {
        var scene = Self.stage(Scene.element("e", more: #","locked":true"#))
        scene.preview(.by(), .by(element: "unknown"))
        #expect(scene.take() == [])
        #expect(scene.fanout.counters.previewsDropped[.locked] == 1)
        #expect(scene.fanout.counters.previewsDropped[.element] == 1)
        scene.receive(scene.database.delete("e"))
        _ = scene.take()
        scene.preview(.by())
        #expect(scene.take() == [])
        #expect(scene.fanout.counters.previewsDropped[.element] == 2)
        scene.preview(.by(room: "nowhere"))
        #expect(scene.fanout.counters.previewsDropped[.room] == 1)
    }

    @Test func nothingOfAGestureFollowsItsCommit() {
        var scene = Self.stage()
        scene.preview(.by(gesture: 3))
        scene.commit(gesture: 3)
        _ = scene.take()
        scene.preview(.by(gesture: 3), .by(gesture: 2))
        #expect(scene.take() == [])
        #expect(scene.fanout.counters.previewsDropped[.closed] == 2)
        scene.preview(.by(gesture: 4))
        #expect(scene.taken(by: Scene.g2).previews.map(\.after) == [2])
        // Another session's gestures, and other elements', are their own.
        scene.preview(.by("s-ben", 2, gesture: 1))
        #expect(scene.taken(by: Scene.g1).previews.count == 1)
    }

    @Test func aPreviewWaitsForTheUpdateThatItMustFollow() {
        var scene = Self.stage()
        scene.preview(.by(gesture: 2, after: 2, showing: TransformFields(positionX: 5)))
        scene.preview(.by(gesture: 2, after: 2, showing: TransformFields(positionY: 6)))
        scene.preview(.by(gesture: 2, after: 2, showing: TransformFields(positionX: 7, positionY: 6)))
        #expect(scene.take() == [])
        scene.commit(gesture: 1)
        let records = scene.taken(by: Scene.g2)
        #expect(records.seqs == [2])
        guard case .preview(let preview) = records.last else {
            Issue.record("no preview")
            return
        }
        #expect(preview.fields == TransformFields(positionX: 7, positionY: 6))
        #expect(preview.after == 2)
        #expect(preview.folded == 3)
    }

    @Test func aWaitingPreviewIsTakenAlongByANewerOne() {
        var scene = Self.stage()
        scene.preview(.by(after: 2, showing: TransformFields(positionX: 5)))
        scene.preview(.by(showing: TransformFields(positionX: 5, positionY: 6)))
        #expect(scene.take() == [])
        scene.commit(sid: "s-other")
        let shown = scene.taken(by: Scene.g2).previews
        #expect(shown.map(\.fields) == [TransformFields(positionX: 5, positionY: 6)] && shown.map(\.folded) == [2])
    }

    @Test func aWaitingPreviewIsDroppedWithItsGestureOrAfterAWhile() {
        var scene = Self.stage()
        scene.preview(.by(gesture: 2, after: 2))
        scene.commit(gesture: 2)
        #expect(scene.taken(by: Scene.g2).previews == [])
        scene.preview(.by(gesture: 3, after: 9))
        scene.pass(500)
        #expect(scene.fanout.counters.previewsDropped[.waited] == 1)
        var limits = FanoutLimits()
        limits.earlyPreviews = 1
        var small = Scene(limits: limits)
        small.member("ann", 1)
        small.preview(.by(after: 1), .by(element: "f", after: 1))
        #expect(small.fanout.counters.previewsDropped[.waited] == 1)
    }

    @Test func previewsDuringALoadAreShownAfterIt() {
        var scene = Scene()
        scene.database.commit()
        scene.interest([("ann", 1)], seq: 1)
        scene.interest([("ben", 2)], seq: 1, at: Scene.g2)
        scene.preview(.by())
        scene.answer()
        #expect(scene.taken(by: Scene.g2).positions.map(\.isReset) == [false])
        scene.preview(.by())
        #expect(scene.taken(by: Scene.g2).previews.count == 1)
    }

    @Test func aBatchLeavesGroupedByRoom() {
        var scene = Self.stage()
        scene.member("ann", 3, room: "q")
        scene.member("ben", 4, at: Scene.g2, room: "q")
        scene.commit("f", Scene.element("f"), room: "q")
        _ = scene.take()
        scene.preview(
            .by(), .by("s-ann", 3, room: "q", element: "f"), .by("s-ben", 2),
            .by("s-ben", 4, room: "q", element: "f"))
        let rooms = scene.take().compactMap { action -> Identifier? in
            if case .broadcast(.preview(let preview), _, _) = action { preview.room } else { nil }
        }
        #expect(rooms == ["r", "r", "q", "q"] || rooms == ["q", "q", "r", "r"])
    }

    @Test func closedGesturesAreForgottenAfterALongTime() {
        var scene = Self.stage()
        scene.commit(gesture: 3)
        for _ in 1...5 { scene.pass(30_000) }
        _ = scene.take()
        scene.preview(.by(gesture: 3))
        #expect(scene.taken(by: Scene.g2).previews.count == 1)
    }

    /// An element that two sessions move, as many as may before a gesture of theirs has ended, and that another one has
    /// committed.
    private static func crowd() -> Scene {
        var limits = FanoutLimits()
        limits.fencesPerElement = 2
        var scene = Scene(limits: limits)
        scene.member("ben", 2, at: Scene.g2)
        scene.commit()
        scene.preview(.by("s-1", 1, gesture: 1), .by("s-2", 3, gesture: 1))
        scene.commit(sid: "s-0", gesture: 1)
        _ = scene.take()
        return scene
    }

    @Test func noPreviewOfFurtherSessionsIsShownWhileGesturesOfOthersMustBeRemembered() {
        var scene = Self.crowd()
        scene.preview(.by("s-3", 4, gesture: 1), .by("s-4", 5, gesture: 1), .by("s-0", 6, gesture: 1))
        #expect(scene.taken(by: Scene.g2).previews == [])
        #expect(scene.fanout.counters.previewsDropped[.crowded] == 2)
        scene.preview(.by("s-2", 3, gesture: 1), .by("s-0", 6, gesture: 2))
        #expect(scene.taken(by: Scene.g2).previews.map(\.sid) == ["s-2", "s-0"])
    }

    @Test func whoseGestureLiesStillGivesWay() {
        var scene = Self.crowd()
        scene.pass(5000)
        scene.preview(.by("s-3", 4, gesture: 1))
        #expect(scene.taken(by: Scene.g2).previews.map(\.sid) == ["s-3"])
    }

    @Test func aCommitIsRememberedHoweverManyMoveTheElement() {
        var scene = Self.crowd()
        for session in 3...40 { scene.commit(sid: Identifier("s-\(session)"), gesture: 1) }
        scene.pass(100_000)
        _ = scene.take()
        for session in 3...40 { scene.preview(.by(Identifier("s-\(session)"), 4, gesture: 1)) }
        #expect(scene.taken(by: Scene.g2).previews == [])
        #expect(scene.fanout.counters.previewsDropped[.closed] == 38)
        scene.preview(.by("s-50", 50, gesture: 1))
        #expect(scene.taken(by: Scene.g2).previews.map(\.sid) == ["s-50"])
    }

    @Test func aSnapshotBringsTheGesturesThatMustStayClosed() {
        var scene = Scene()
        scene.database.commit(gesture: 3)
        scene.interest([("ben", 2)], seq: 1, at: Scene.g2)
        var snapshot = scene.database.snapshot(of: "r")
        snapshot.closed = [RoomSnapshot.ClosedGesture(element: "e", sid: "s-ann", gesture: 3)]
        scene.answer(with: .room(snapshot))
        _ = scene.take()
        scene.preview(.by(gesture: 3))
        #expect(scene.taken(by: Scene.g2).previews == [])
    }
}

@Suite struct GestureEndTests {
    @Test func whoSawTheGestureIsToldWhatStands() {
        var scene = PreviewTests.stage()
        scene.preview(.by(gesture: 2))
        _ = scene.take()
        scene.end(2)
        let ended = GestureEnded(
            gesture: GestureEnd(room: "r", element: "e", user: "ann", sid: "s-ann", gesture: 2), seq: 1,
            json: Array(Scene.element("e").utf8))
        #expect(scene.take() == [.broadcast(.gestureEnded(ended), to: [Scene.g1, Scene.g2], except: nil)])
        scene.end(2)
        #expect(scene.take() == [])
        scene.preview(.by(gesture: 2))
        #expect(scene.take() == [])
    }

    @Test func gestureThatItsSessionsNextOwnerContinuesHasNotEnded() {
        var scene = PreviewTests.stage()
        scene.preview(.by("s-ann", 1, gesture: 2))
        scene.preview(.by("s-ann", 9, gesture: 2))
        _ = scene.take()
        scene.end(2, left: 1)
        #expect(scene.take() == [])
        scene.preview(.by("s-ann", 9, gesture: 2))
        #expect(scene.take().count == 1)
        // Nobody comes after the second one.
        scene.end(2, left: 9)
        #expect(scene.take().count == 1)
        scene.preview(.by("s-ann", 9, gesture: 2))
        #expect(scene.take() == [])
    }

    @Test func nobodyIsToldOfAGestureThatNobodySaw() {
        var scene = PreviewTests.stage()
        scene.end(2)
        #expect(scene.take() == [])
        scene.preview(.by(gesture: 2))
        #expect(scene.take() == [])
        scene.preview(.by(gesture: 3))
        _ = scene.take()
        scene.commit(gesture: 3)
        _ = scene.take()
        scene.end(3)
        #expect(scene.take() == [])
    }

    @Test func joiningAgainUnderAnotherSessionEndsWhatTheFormerOneShowed() {
        var scene = PreviewTests.stage()
        scene.preview(.by("s-before", 1, gesture: 2))
        _ = scene.take()
        scene.join("ann", 1)
        let ended = scene.taken(by: Scene.g2).compactMap { record -> Identifier? in
            if case .gestureEnded(let news) = record { news.gesture.sid } else { nil }
        }
        #expect(ended == ["s-before"])
        // Joining again under the same one ends nothing.
        scene.preview(.by("s-ann", 1, gesture: 2))
        _ = scene.take()
        scene.join("ann", 1)
        #expect(scene.taken(by: Scene.g2) == [])
    }

    @Test func aFanoutThatJustTookTheRoomOverTellsInDoubt() {
        var scene = Scene()
        scene.database.commit()
        scene.interest([("ben", 2)], seq: 1, at: Scene.g2)
        scene.answer()
        _ = scene.take()
        scene.end(2)
        #expect(scene.take().count == 1)
    }
}
