import Canvas
import FanoutCore
import Testing
import Wire

/// Cursors and selections: Ann (1) at the first gateway, Ben (2) at the second.
@Suite struct AttentionTests {
    private static func stage() -> Scene {
        var scene = PreviewTests.stage()
        _ = scene.take()
        return scene
    }

    private static func cursor(_ x: Double?, version: UInt64, sid: Identifier = "s-ann", _ connection: UInt64 = 1)
        -> Preview
    {
        .cursor(
            x.map { Point(x: $0, y: 0) }, in: "r", connection: connection, user: "ann", sid: sid, version: version)
    }

    private static func selection(_ ids: [Identifier], version: UInt64) -> Preview {
        .selection(ids, in: "r", connection: 1, user: "ann", sid: "s-ann", version: version)
    }

    @Test func theyGoToTheGatewaysOfTheRoom() {
        var scene = Self.stage()
        scene.preview(Self.cursor(5, version: 2), Self.selection(["e"], version: 1))
        let previews = scene.taken(by: Scene.g2).previews
        #expect(previews.map(\.cursor?.x) == [5, nil])
        #expect(previews.map(\.selection?.elements) == [nil, ["e"]])
    }

    @Test func whatARoomSelectsIsBounded() {
        var scene = Self.stage()
        let ids = (0..<500).map { Identifier(String(repeating: "x", count: 4000) + "\($0)") }
        scene.preview(Self.selection(ids, version: 1))
        #expect(scene.taken(by: Scene.g2).previews.map(\.selection?.elements) == [[]])
        scene.preview(Self.selection(Array(ids.prefix(100)), version: 2))
        #expect(scene.taken(by: Scene.g2).previews.map(\.selection?.elements.count) == [100])
    }

    @Test func whatIsSelectedAndMovedCountsAsMemory() {
        var scene = Self.stage()
        let before = scene.fanout.bytes
        scene.preview(Self.selection((0..<100).map { Identifier("element-\($0)") }, version: 1))
        let selected = scene.fanout.bytes
        #expect(selected > before + 100 * 10)
        scene.preview(.by(gesture: 1))
        #expect(scene.fanout.bytes > selected + 100)
        scene.leave(1)
        for _ in 1...5 { scene.pass(30_000) }
        #expect(scene.fanout.bytes < before)
    }

    @Test func olderOnesAndThoseOfUnknownConnectionsAreDropped() {
        var scene = Self.stage()
        scene.preview(Self.cursor(5, version: 2))
        _ = scene.take()
        scene.preview(Self.cursor(4, version: 1), Self.cursor(7, version: 9, 77))
        #expect(scene.take() == [])
    }

    @Test func whatWasShownUnderAnotherSessionIsHidden() {
        var scene = Self.stage()
        scene.preview(Self.cursor(5, version: 1))
        _ = scene.take()
        scene.preview(Self.cursor(6, version: 2, sid: "s-other"))
        let previews = scene.taken(by: Scene.g2).previews
        #expect(previews.map(\.sid) == ["s-ann", "s-other"] && previews.map(\.isHidden) == [true, false])
    }

    @Test func theyEndWithTheirConnection() {
        var scene = Self.stage()
        scene.preview(Self.cursor(5, version: 1), Self.selection(["e"], version: 2))
        _ = scene.take()
        scene.leave(1)
        let records = scene.taken(by: Scene.g2)
        #expect(records.previews.allSatisfy { $0.isHidden && $0.connection == 1 } && records.previews.count == 2)
        #expect(records.presence == ["-ann"])
        scene.preview(Self.cursor(6, version: 3))
        #expect(scene.take() == [])
    }

    @Test func whatIsLateOfAFormerVisitIsNotShown() {
        var scene = Self.stage()
        scene.preview(Self.cursor(5, version: 1, sid: "s-former"))
        scene.leave(1)
        scene.join("ann", 1, at: Scene.g1)
        scene.answer()
        _ = scene.take()
        scene.preview(Self.cursor(6, version: 9, sid: "s-former"))
        #expect(scene.take() == [])
        scene.preview(Self.cursor(7, version: 1))
        #expect(scene.taken(by: Scene.g2).previews.map(\.sid) == ["s-ann"])
    }

    @Test func theyStandInTheAnswersToJoins() {
        var scene = Self.stage()
        scene.preview(Self.cursor(5, version: 1), Self.selection(["e"], version: 2))
        _ = scene.take()
        scene.join("cid", 3, at: Scene.g2)
        scene.answer()
        let joined = scene.taken(by: Scene.g2).joined
        #expect(joined.first?.members.map(\.user) == ["ann", "ben", "cid"])
        let attention = joined.first?.attention ?? []
        #expect(attention.map { $0.map(\.sid) } == [["s-ann"], ["s-ben"], ["s-cid"]])
        #expect(attention.first?.first?.cursor == Point(x: 5, y: 0))
        #expect(attention.first?.first?.selection == Array(#"["e"]"#.utf8))
    }

    /// Its other members may have missed a selection, which does not come again.
    @Test func aGatewayThatCatchesUpGetsWhatIsShown() {
        var scene = Self.stage()
        scene.preview(Self.cursor(5, version: 1), Self.selection(["e"], version: 2))
        _ = scene.take()
        scene.interest([("ben", 2)], seq: 1, at: Scene.g2)
        let second = scene.taken(by: Scene.g2)
        #expect(second.positions.count == 1 && second.previews.count == 2)
        scene.interest([("ann", 1)], seq: 1, at: Scene.g1)
        #expect(scene.taken(by: Scene.g1).previews.map(\.selection?.elements) == [["e"]])
    }

    @Test func aFanoutWithoutMemoryHearsItFromGateways() {
        var scene = Scene()
        scene.interest([("ben", 2)], seq: 0, at: Scene.g2)
        scene.answer()
        _ = scene.take()
        var occupant = RoomInterest.Occupant(connection: 1, member: .named("ann"))
        occupant.attention = Attention(sid: "s-ann", cursor: Point(x: 5, y: 0), selection: ["e"], version: 7)
        let interest = RoomInterest(
            room: "r", position: Position(epoch: "epoch-1", seq: 0), occupants: [occupant])
        scene.send(interest, from: Scene.g1)
        #expect(scene.taken(by: Scene.g2).previews.map(\.gesture) == [7, 7])
        // The same again is nothing new.
        scene.send(interest, from: Scene.g1)
        #expect(scene.taken(by: Scene.g2).previews.isEmpty)
        scene.preview(Self.cursor(4, version: 6))
        #expect(scene.take() == [])
    }

    @Test func aSessionThatMovesOnLeavesNothingBehind() {
        var scene = Self.stage()
        scene.preview(Self.cursor(5, version: 1))
        _ = scene.take()
        scene.join("ann", 9, at: Scene.g2, session: "s-ann.good")
        scene.answer()
        #expect(scene.taken(by: Scene.g2).previews.map(\.isHidden) == [true])
        // The connection that lost its session leaves quietly.
        scene.leave(1)
        #expect(scene.taken(by: Scene.g2).previews.isEmpty)
    }

    /// A join that its link held up, and the leave right behind it: the app has long come back through another gateway.
    @Test func aJoinWhoseConnectionHasLeftTakesNoSession() {
        var scene = Self.stage()
        scene.preview(Self.selection(["e"], version: 1))
        _ = scene.take()
        scene.join("ann", 9, at: Scene.g2, session: "s-ann.good")
        scene.leave(9, at: Scene.g2)
        scene.answer()
        #expect(scene.taken(by: Scene.g2).previews.isEmpty)
        scene.preview(Self.selection(["f"], version: 2))
        #expect(scene.taken(by: Scene.g2).previews.map(\.selection?.elements) == [["f"]])
    }

    /// The link went down, and the leave was lost with it: the gateway says what the new membership shows.
    @Test func aConnectionInDoubtThatJoinsAgainShowsNothing() {
        var scene = Self.stage()
        scene.preview(Self.cursor(5, version: 1), Self.selection(["e"], version: 2))
        _ = scene.take()
        scene.reconnect(Scene.g1)
        scene.join("ann", 1, session: "s-ann.good")
        scene.answer()
        let previews = scene.taken(by: Scene.g2).previews
        #expect(previews.allSatisfy { $0.isHidden && $0.connection == 1 } && previews.count == 2)
        scene.preview(Self.selection(["f"], version: 3))
        #expect(scene.taken(by: Scene.g2).previews.map(\.selection?.elements) == [["f"]])
    }

    /// It was not here when the session moved on, and its members see what the former connection showed.
    @Test func aGatewayThatNamesWhatAFormerConnectionShowsHidesIt() {
        var scene = Self.stage()
        scene.join("ann", 9, at: Scene.g2, session: "s-ann.good")
        scene.answer()
        _ = scene.take()
        let occupant = RoomInterest.Occupant(
            connection: 1, member: .named("ann"), attention: Attention(sid: "s-ann", selection: ["e"], version: 1))
        let interest = RoomInterest(room: "r", position: Position(epoch: "epoch-1", seq: 1), occupants: [occupant])
        scene.send(interest, from: Scene.g1)
        let actions = scene.take()
        let hidden = Preview.selection([], in: "r", connection: 1, user: "ann", sid: "s-ann", version: 1)
        #expect(actions.first == .send(.preview(hidden), to: Scene.g1))
    }

    /// Another fan-out answered its join while the host was cut off. The connection that had the session before is here still.
    @Test func aSessionThatMovedOnElsewhereShowsWhatItsNewOwnerShows() {
        var scene = Self.stage()
        scene.join("ann", 9, at: Scene.g2, session: "s-ann.good")
        scene.answer()
        let former = Preview.selection(["e"], in: "r", connection: 9, user: "ann", sid: "s-ann", version: 1)
        scene.preview(former)
        _ = scene.take()
        let occupant = RoomInterest.Occupant(
            connection: 12, member: .named("ann"), attention: Attention(sid: "s-ann", selection: ["f"], version: 1),
            claim: 7)
        let interest = RoomInterest(room: "r", position: Position(epoch: "epoch-1", seq: 1), occupants: [occupant])
        scene.send(interest, from: Scene.g1)
        let own = Preview.selection(["f"], in: "r", connection: 12, user: "ann", sid: "s-ann", version: 1)
        #expect(scene.taken(by: Scene.g2).previews.filter { $0.selection != nil } == [former.hidden, own])
        // Whoever names the former owner again shows nothing by it.
        scene.preview(Preview.selection(["g"], in: "r", connection: 9, user: "ann", sid: "s-ann", version: 2))
        #expect(scene.taken(by: Scene.g2).previews.isEmpty)
    }

    /// A viewport may have left it behind where it was.
    @Test func aCursorsAreaIsWhereItWasAndIsAndEverywhereWhenItIsHidden() {
        var scene = Self.stage()
        scene.fanout.areaInterestReceived(AreaInterest(room: "r"), from: Scene.g2)
        scene.preview(Self.cursor(5, version: 1))
        scene.preview(Self.cursor(50, version: 2))
        scene.preview(Self.cursor(nil, version: 3))
        let areas = scene.taken(by: Scene.g2).previews.map(\.area)
        let boxes = [(5.0, 0.0), (5, 45)].map { PreviewArea(Rect(x: $0.0, y: 0, width: $0.1, height: 0)) }
        #expect(areas == boxes + [.everywhere])
    }
}
