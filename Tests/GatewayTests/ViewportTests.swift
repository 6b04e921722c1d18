import Canvas
import Testing
import Timing
import Wire

@testable import GatewayCore

/// Ada (slot 0) looks at x from 0 to 100 with a margin of 10, Ben (slot 1) at everything; elements are moved by
/// somebody at another gateway, and by Ben.
@Suite struct ViewportTests {
    private static let view = #"{"roomId":"r","x":0,"y":0,"width":100,"height":100}"#

    private static func stage() throws -> (scene: Scene, ada: Slot, ben: Slot) {
        var scene = Scene()
        let ada = try scene.member("ada")
        let ben = try scene.member("ben")
        scene.send(ada, "viewport:set", Self.view)
        _ = scene.take()
        return (scene, ada, ben)
    }

    /// A preview at x of an element that was at `before`, as it comes from the fan-out.
    private static func preview(
        _ x: Double, from before: Double? = nil, element: Identifier = "e", gesture: UInt64 = 1, connection: UInt64 = 5,
        group: GroupRole = .alone
    ) -> Preview {
        var preview = Preview(
            room: "r", element: element, connection: connection, user: "cid", sid: "s-cid", gesture: gesture,
            fields: TransformFields(positionX: x), group: group)
        let left = min(x, before ?? x)
        preview.area = PreviewArea(Rect(x: left, y: 0, width: max(x, before ?? x) - left + 10, height: 10))
        return preview
    }

    /// Which x each event shows.
    private static func shown(_ texts: [String]) -> [Int] {
        texts.compactMap { text in
            text.split(separator: "\"positionX\":").dropFirst().first.flatMap { Int($0.prefix { $0.isNumber }) }
        }
    }

    private static func deliver(_ previews: Preview..., to scene: inout Scene) -> [GatewayAction] {
        scene.gateway.relay.previewsReceived(previews, at: scene.moment, lateness: .zero, into: &scene.actions)
        return scene.take()
    }

    /// The time passes, and what the gateway shows because of it.
    private static func wait(_ milliseconds: UInt64, _ scene: inout Scene) -> [GatewayAction] {
        scene.now += milliseconds
        scene.gateway.relay.rooms.turnBegan()
        scene.gateway.relay.timeReached(scene.moment, into: &scene.actions)
        return scene.take()
    }

    /// A viewport of 100 pixels around x.
    private static func around(_ x: Int) -> String {
        #"{"roomId":"r","x":\#(x - 50),"y":0,"width":100,"height":100}"#
    }

    /// Shows many motions at once.
    private static func deliver(_ previews: [Preview], to scene: inout Scene) {
        scene.gateway.relay.previewsReceived(previews, at: scene.moment, lateness: .zero, into: &scene.actions)
        _ = scene.take()
    }

    @Test func theFirstViewportOfARoomAsksTheFanoutForAreasOnce() throws {
        var scene = Scene()
        let (ada, ben) = (try scene.member("ada"), try scene.member("ben"))
        scene.send(ada, "viewport:set", Self.view, ack: 1)
        let first = scene.take()
        #expect(first.acknowledged == [1])
        #expect(first.contains(.fanout(of: "r", .areaInterest(AreaInterest(room: "r")))))
        scene.send(ada, "viewport:set", #"{"roomId":"r"}"#)
        scene.send(ben, "viewport:set", Self.view)
        scene.send(ada, "viewport:set", Self.view)
        #expect(scene.take() == [])
    }

    @Test func whatIsOutOfViewIsNotSentButElementsAreSeenToLeaveAndToComeIn() throws {
        var (scene, ada, ben) = try Self.stage()
        var seen: [Int] = []
        var before = 50.0
        for x in [50.0, 500, 600, 700, 105, 600] {
            let actions = Self.deliver(Self.preview(x, from: before), to: &scene)
            before = x
            seen += Self.shown(actions.texts(for: ada))
            #expect(Self.shown(actions.texts(for: ben)) == [Int(x)])
        }
        #expect(seen == [50, 500, 105, 600])
        #expect(scene.gateway.relay.rooms.previewsHiddenTotal == 2)
    }

    @Test func aPreviewWithoutAnAreaIsSentToEverybody() throws {
        var (scene, ada, _) = try Self.stage()
        var preview = Self.preview(900)
        preview.area = .everywhere
        #expect(Self.shown(Self.deliver(preview, to: &scene).texts(for: ada)) == [900])
    }

    @Test func aViewportThatMovesOverAMovingElementShowsAllOfItsGesture() throws {
        var (scene, ada, _) = try Self.stage()
        var turned = Self.preview(520)
        turned.fields.rotation = 45
        _ = Self.deliver(Self.preview(500), turned, to: &scene)
        scene.send(ada, "viewport:set", #"{"roomId":"r","x":450,"y":0,"width":100,"height":100}"#)
        let texts = scene.take().texts(for: ada)
        #expect(texts.count == 1 && texts[0].contains(#""rotation":45"#) && Self.shown(texts) == [520])
        // Nothing is shown twice.
        _ = Self.wait(50, &scene)
        scene.send(ada, "viewport:set", #"{"roomId":"r","x":460,"y":0,"width":100,"height":100}"#)
        #expect(scene.take() == [])
    }

    @Test func aViewportThatComesBackShowsThatAnElementHasLeft() throws {
        var (scene, ada, _) = try Self.stage()
        _ = Self.deliver(Self.preview(50), to: &scene)
        scene.send(ada, "viewport:set", #"{"roomId":"r","x":5000,"y":0,"width":100,"height":100}"#)
        _ = Self.deliver(Self.preview(900, from: 50), to: &scene)
        _ = Self.wait(50, &scene)
        scene.send(ada, "viewport:set", Self.view)
        #expect(Self.shown(scene.take().texts(for: ada)) == [900])
    }

    @Test func anEndedGestureIsShownNoMore() throws {
        for isCommitted in [true, false] {
            var (scene, ada, _) = try Self.stage()
            _ = Self.deliver(Self.preview(500), to: &scene)
            if isCommitted {
                scene.gateway.relay.updateReceived(update(1, sid: "s-cid", gesture: 1), into: &scene.actions)
            } else {
                let end = GestureEnd(room: "r", element: "e", user: "cid", sid: "s-cid", gesture: 1)
                scene.gateway.relay.rooms.gestureEnded(
                    GestureEnded(gesture: end, seq: 0, json: []), into: &scene.actions)
            }
            _ = scene.take()
            scene.send(ada, "viewport:set", #"{"roomId":"r"}"#)
            #expect(scene.take() == [])
        }
    }

    /// A gateway that was cut off cannot say that the gesture has ended.
    @Test func whatASessionShowedOverAFormerConnectionIsShownNoMore() throws {
        var (scene, ada, _) = try Self.stage()
        _ = Self.deliver(Self.preview(500), to: &scene)
        var next = Self.preview(900)
        next.connection += 1
        next.gesture += 1
        _ = Self.deliver(next, to: &scene)
        scene.send(ada, "viewport:set", #"{"roomId":"r","x":450,"y":0,"width":100,"height":100}"#)
        #expect(Self.shown(scene.take().texts(for: ada)) == [900], "it has left that part")
    }

    @Test func aGroupIsSeenWhereverOneOfItsElementsIs() throws {
        var (scene, ada, _) = try Self.stage()
        let inside = Self.deliver(
            Self.preview(500, element: "a", group: .member), Self.preview(50, element: "b", group: .last), to: &scene)
        #expect(inside.texts(for: ada).count == 1)
        let outside = Self.deliver(
            Self.preview(600, element: "c", group: .member), Self.preview(700, element: "d", group: .last), to: &scene)
        #expect(outside.texts(for: ada).isEmpty)
    }

    @Test func aPublishersOwnPreviewIsNotSentBackAndCommitsAreAlwaysSent() throws {
        var (scene, ada, ben) = try Self.stage()
        let connection = scene.gateway.relay.connections.id(in: ada)
        let actions = Self.deliver(Self.preview(50, connection: connection), to: &scene)
        #expect(actions.texts(for: ada).isEmpty && actions.texts(for: ben).count == 1)
        scene.gateway.relay.updateReceived(update(1), into: &scene.actions)
        #expect(scene.take().texts(for: ada).count == 1)
    }

    @Test func membersWhoSeeTheSameShareItsText() throws {
        var (scene, ada, ben) = try Self.stage()
        scene.send(ben, "viewport:set", Self.view)
        _ = scene.take()
        let actions = Self.deliver(Self.preview(50), Self.preview(900, element: "f"), to: &scene)
        #expect(actions.count == 1)
        guard case .sightings(let sightings, let texts)? = actions.first else { return }
        #expect(texts.count == 2)
        #expect(sightings == [Sighting(slot: ada, indices: [0]), Sighting(slot: ben, indices: [0])])
    }

    @Test func aViewportInTermsOfZoomAndPanIsAsGood() throws {
        var (scene, ada, _) = try Self.stage()
        // The canvas's centre, (500, 500), is in the view's; a point of the screen is half a pixel.
        let zoom =
            #"{"roomId":"r","zoomScale":2,"offset":{"x":0,"y":0},"viewSize":{"width":100,"height":100},"#
            + #""canvasSize":{"width":1000,"height":1000}}"#
        scene.send(ada, "viewport:set", zoom, ack: 2)
        #expect(scene.take().acknowledged.contains(2))
        for (y, isSeen) in [(500.0, true), (400, false), (600, false)] {
            var preview = Self.preview(500, element: Identifier("at \(y)"))
            preview.area = PreviewArea(Rect(x: 500, y: y, width: 1, height: 1))
            #expect(Self.deliver(preview, to: &scene).texts(for: ada).isEmpty != isSeen)
        }
    }

    @Test(arguments: [
        (#"{"roomId":"r","x":1,"y":1,"width":-1,"height":5}"#, "width"),
        (#"{"roomId":"r","x":1}"#, "width"),
        (#"{"roomId":"r","x":null}"#, "x"),
        (#"{"roomId":"r","zoomScale":1}"#, "offset"),
        (#"{"roomId":"r","x":1,"y":1,"width":5,"height":5,"zoomScale":1}"#, "zoomScale"),
    ])
    func aMalformedViewportIsRefusedAndChangesNothing(payload: String, field: String) throws {
        var (scene, ada, _) = try Self.stage()
        _ = scene.take()
        scene.send(ada, "viewport:set", payload, ack: 7)
        let texts = scene.take().texts(for: ada)
        #expect(texts.count == 1 && texts[0].contains(#""code":"invalid""#))
        #expect(texts[0].contains("\"field\":\"\(field)") || field == "width" && texts[0].contains("\"field\":\""))
        #expect(Self.deliver(Self.preview(900), to: &scene).texts(for: ada).isEmpty)
    }

    @Test func whoIsNotInTheRoomHasNoViewportThereAndFrequentOnesAreRefused() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        scene.send(ada, "viewport:set", #"{"roomId":"elsewhere"}"#, ack: 1)
        #expect(scene.take().texts(for: ada).first?.contains(#""code":"forbidden""#) == true)
        for ack in 2...UInt64(scene.limits.previewsPerSecond + 2) {
            scene.send(ada, "viewport:set", Self.view, ack: ack)
        }
        let last = try #require(scene.take().texts(for: ada).last)
        #expect(last.contains(#""code":"rate_limited""#) && last.contains("retryAfterMs"))
    }

    @Test func aRoomIsForgottenWithItsLastMember() throws {
        var (scene, ada, ben) = try Self.stage()
        scene.send(ada, "room:leave", #"{"roomId":"r"}"#)
        scene.send(ben, "room:leave", #"{"roomId":"r"}"#)
        _ = scene.take()
        // The next first viewport must be announced again.
        scene.send(ada, "room:join", #"{"roomId":"r"}"#, ack: 3)
        scene.answerJoins(sid: "s-ada")
        _ = scene.take()
        scene.send(ada, "viewport:set", Self.view)
        #expect(scene.take().count == 1)
    }

    @Test func anotherFanoutHearsOfViewportsWithTheRoom() throws {
        var (scene, _, _) = try Self.stage()
        scene.gateway.fanoutMoved(
            shards: [Shard.of(room: "r")], hadOwner: false, at: scene.moment, into: &scene.actions)
        let flags = scene.take().compactMap { action -> Bool? in
            if case .fanout(_, .interest(let interest)) = action { interest.hasViewports } else { nil }
        }
        #expect(flags == [true])
    }

    @Test func aMemberThatJoinsAgainKeepsItsViewport() throws {
        var (scene, ada, ben) = try Self.stage()
        let reset = RoomPosition(room: "r", position: Position(epoch: "e2", seq: 4), isReset: true)
        scene.gateway.relay.positionReceived(reset, at: scene.moment, into: &scene.actions)
        _ = scene.take()
        for slot in [ada, ben] { scene.send(slot, "room:join", #"{"roomId":"r"}"#, ack: 4) }
        scene.answerJoins(sid: "s")
        let interest = GatewayAction.fanout(of: "r", .areaInterest(AreaInterest(room: "r")))
        #expect(scene.take().filter { $0 == interest }.count == 1)
        #expect(Self.deliver(Self.preview(900), to: &scene).texts(for: ada).isEmpty)
    }

    // MARK: Many viewports, many motions

    @Test func ofViewportsThatFollowEachOtherCloselyTheLastIsShown() throws {
        var (scene, ada, ben) = try Self.stage()
        scene.now += 1000
        Self.deliver((0..<50).map { Self.preview($0 % 2 == 0 ? 500 : 900, element: Identifier("e\($0)")) }, to: &scene)
        for turn in 0..<120 { scene.send(ada, "viewport:set", Self.around(turn % 2 == 0 ? 500 : 900)) }
        #expect(Self.shown(scene.take().texts(for: ada)) == Array(repeating: 500, count: 25))
        #expect(scene.gateway.relay.nextDeadline() == scene.moment + .milliseconds(50))
        #expect(Self.wait(49, &scene) == [])
        let last = Self.wait(1, &scene)
        #expect(Self.shown(last.texts(for: ada)) == Array(repeating: 900, count: 25))
        #expect(last.texts(for: ben).isEmpty)
        #expect(Self.wait(50, &scene) == [])
        #expect(scene.gateway.relay.nextDeadline() == nil)
    }

    @Test func untilAViewportIsShownTheOneBeforeHolds() throws {
        var (scene, ada, _) = try Self.stage()
        _ = Self.deliver(Self.preview(500), to: &scene)
        for x in [500, 900, 500] { scene.send(ada, "viewport:set", Self.around(x)) }
        #expect(Self.shown(scene.take().texts(for: ada)) == [500])
        #expect(Self.shown(Self.deliver(Self.preview(510, from: 500), to: &scene).texts(for: ada)) == [510])
        #expect(Self.wait(50, &scene) == [], "it has seen all of it")
        for x in [500, 900] { scene.send(ada, "viewport:set", Self.around(x)) }
        #expect(Self.deliver(Self.preview(900, element: "f"), to: &scene).texts(for: ada).isEmpty)
        #expect(Self.shown(Self.wait(50, &scene).texts(for: ada)) == [900])
        #expect(Self.shown(Self.deliver(Self.preview(910, element: "f"), to: &scene).texts(for: ada)) == [910])
    }

    /// An app could remove its viewport and set it again as often.
    @Test func everythingIsShownNoSoonerThanAPart() throws {
        var (scene, ada, _) = try Self.stage()
        _ = Self.deliver(Self.preview(500), to: &scene)
        for _ in 0..<3 {
            scene.send(ada, "viewport:set", #"{"roomId":"r"}"#)
            scene.send(ada, "viewport:set", Self.view)
        }
        scene.send(ada, "viewport:set", #"{"roomId":"r"}"#)
        #expect(Self.shown(scene.take().texts(for: ada)) == [500])
        #expect(Self.shown(Self.wait(50, &scene).texts(for: ada)) == [500])
        #expect(Self.shown(Self.deliver(Self.preview(5000), to: &scene).texts(for: ada)) == [5000])
    }

    @Test func whoHasLeftIsNotShownItsLastViewport() throws {
        for isDisconnected in [true, false] {
            var (scene, ada, _) = try Self.stage()
            _ = Self.deliver(Self.preview(500), to: &scene)
            for x in [900, 500] { scene.send(ada, "viewport:set", Self.around(x)) }
            if isDisconnected {
                scene.gateway.disconnected(ada, at: scene.moment, into: &scene.actions)
            } else {
                scene.send(ada, "room:leave", #"{"roomId":"r"}"#)
            }
            _ = scene.take()
            #expect(Self.wait(50, &scene) == [])
        }
    }

    @Test func whoHasFallenBehindKeepsItsLastViewportButIsShownNothing() throws {
        var (scene, ada, _) = try Self.stage()
        _ = Self.deliver(Self.preview(500), to: &scene)
        for x in [900, 500] { scene.send(ada, "viewport:set", Self.around(x)) }
        scene.gateway.relay.rooms.fellBehind([ada], in: "r", at: 1, into: &scene.actions)
        _ = scene.take()
        #expect(Self.wait(50, &scene) == [])
        scene.send(ada, "room:join", #"{"roomId":"r"}"#, ack: 4)
        scene.answerJoins(sid: "s-ada")
        _ = scene.take()
        #expect(Self.shown(Self.deliver(Self.preview(510), to: &scene).texts(for: ada)) == [510])
        #expect(Self.deliver(Self.preview(910, element: "f"), to: &scene).texts(for: ada).isEmpty)
    }

    @Test func aTurnShowsABoundedNumberOfPreviewsBecauseOfViewports() throws {
        var (scene, ada, ben) = try Self.stage()
        scene.send(ben, "viewport:set", Self.view)
        let count = RoomMotions.capacity
        Self.deliver((0...count).map { Self.preview(500, element: Identifier("e\($0)")) }, to: &scene)
        for slot in [ada, ben] { scene.send(slot, "viewport:set", Self.around(500)) }
        let first = scene.take()
        #expect(first.texts(for: ada).count == count && first.texts(for: ben).isEmpty)
        let second = Self.wait(50, &scene)
        #expect(second.texts(for: ben).count == count && second.texts(for: ada).isEmpty)
    }

    @Test func aViewportOverNothingCountsInATurnForWhatItWasComparedWith() throws {
        var (scene, ada, _) = try Self.stage()
        let others = try (0..<20).map { try scene.member("user-\($0)") }
        for slot in others { scene.send(slot, "viewport:set", Self.view) }
        let count = RoomMotions.capacity
        Self.deliver((0..<count).map { Self.preview(500, element: Identifier("e\($0)")) }, to: &scene)
        for slot in others { scene.send(slot, "viewport:set", Self.around(9000)) }
        scene.send(ada, "viewport:set", Self.around(500))
        #expect(scene.take() == [])
        #expect(Self.wait(50, &scene).texts(for: ada).count == count)
    }

    @Test func theMotionsOfAllRoomsTogetherAreBounded() {
        var viewports = RoomViewports()
        let previews = (0..<RoomMotions.capacity).map { Self.preview(500, element: Identifier("e\($0)")) }
        let rooms = (0..<18).map { Identifier("r\($0)") }
        for room in rooms {
            _ = viewports.set(PreviewArea(Rect(x: 0, y: 0, width: 9, height: 9)), for: 1, in: room, at: .start)
            viewports.note(RoomShow(previews: previews[...]), of: room)
        }
        #expect(viewports.motionCount == RoomViewports.maxMotions)
        // What ends makes space for what begins elsewhere.
        viewports.drop([EndedPreviews(room: "r", element: "e1", sid: "s-cid", gesture: 1)], in: rooms[0])
        viewports.settle(["e2"], by: "cid", in: rooms[0])
        #expect(viewports.motionCount == RoomViewports.maxMotions - 2)
        viewports.note(RoomShow(previews: previews[...]), of: rooms[17])
        #expect(viewports.motionCount == RoomViewports.maxMotions)
        for room in rooms {
            viewports.leave(1, room)
            viewports.forgetIfUnseen(room)
        }
        #expect(viewports.motionCount == 0)
    }

    @Test func aLeaversManyGesturesEndWithoutThoseOfOthers() throws {
        var (scene, ada, _) = try Self.stage()
        let leavers = (0..<1000).map { Self.preview(500, element: Identifier("e\($0)")) }
        let others = (0..<3000).map { index in
            var preview = Self.preview(500, element: Identifier("e\(index)"), connection: 6)
            (preview.user, preview.sid) = ("dan", "s-dan")
            return preview
        }
        Self.deliver(leavers + others, to: &scene)
        // One that went on before its former gesture's end came here.
        Self.deliver([Self.preview(520, element: "e7", gesture: 2)], to: &scene)
        for preview in leavers {
            let end = GestureEnd(room: "r", element: preview.element, user: "cid", sid: "s-cid", gesture: 1)
            scene.gateway.relay.rooms.gestureEnded(GestureEnded(gesture: end, seq: 0, json: []), into: &scene.actions)
        }
        _ = scene.take()
        scene.send(ada, "viewport:set", Self.around(500))
        let texts = scene.take().texts(for: ada)
        #expect(texts.count == 3001 && texts.count { $0.contains("s-dan") } == 3000)
        #expect(Self.shown(texts.filter { $0.contains("s-cid") }) == [520])
    }

    @Test func aDeletedElementsGesturesEndWhoeverMovesIt() throws {
        var (scene, ada, _) = try Self.stage()
        var other = Self.preview(500, connection: 6)
        (other.user, other.sid) = ("dan", "s-dan")
        Self.deliver([Self.preview(500), other, Self.preview(510, element: "f")], to: &scene)
        scene.gateway.relay.updateReceived(update(1, event: .deleted), into: &scene.actions)
        _ = scene.take()
        scene.send(ada, "viewport:set", Self.around(500))
        #expect(Self.shown(scene.take().texts(for: ada)) == [510])
    }
}
