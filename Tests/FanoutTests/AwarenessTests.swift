import Canvas
import FanoutCore
import Testing
import Wire

/// Cursors, selections and other awareness: Ann (1) at the first gateway, Ben (2) at the second.
@Suite struct AwarenessTests {
    private static func stage() -> Scene {
        var scene = PreviewTests.stage()
        _ = scene.take()
        return scene
    }

    private static func of(
        _ connection: UInt64 = 1, _ value: AwarenessValue, version: UInt64, sid: Identifier = "s-ann"
    ) -> Awareness {
        Awareness(room: "r", connection: connection, user: "ann", sid: sid, version: version, value: value)
    }

    private static func cursor(_ x: Double?, version: UInt64, sid: Identifier = "s-ann", _ connection: UInt64 = 1)
        -> Awareness
    {
        Self.of(connection, .cursor(x.map { Point(x: $0, y: 0) }), version: version, sid: sid)
    }

    private static func selection(_ ids: [Identifier], version: UInt64, _ connection: UInt64 = 1) -> Awareness {
        Self.of(connection, .selection(ids), version: version)
    }

    @Test func theyGoToTheGatewaysOfTheRoom() {
        var scene = Self.stage()
        scene.show(Self.cursor(5, version: 2), Self.selection(["e"], version: 1))
        let shown = scene.taken(by: Scene.g2).awareness
        #expect(shown.map(\.cursor?.x) == [5, nil])
        #expect(shown.map(\.selection) == [nil, ["e"]])
    }

    @Test func whatARoomSelectsIsBounded() {
        var scene = Self.stage()
        let ids = (0..<500).map { Identifier(String(repeating: "x", count: 4000) + "\($0)") }
        scene.show(Self.selection(ids, version: 1))
        #expect(scene.taken(by: Scene.g2).awareness.map(\.selection) == [[]])
        scene.show(Self.selection(Array(ids.prefix(100)), version: 2))
        #expect(scene.taken(by: Scene.g2).awareness.map(\.selection?.count) == [100])
    }

    @Test func whatIsSelectedAndMovedCountsAsMemory() {
        var scene = Self.stage()
        let before = scene.fanout.rooms.bytes
        scene.show(Self.selection((0..<100).map { Identifier("element-\($0)") }, version: 1))
        let selected = scene.fanout.rooms.bytes
        #expect(selected > before + 100 * 10)
        scene.preview(.by(gesture: 1))
        #expect(scene.fanout.rooms.bytes > selected + 100)
        scene.leave(1)
        for _ in 1...5 { scene.pass(30_000) }
        #expect(scene.fanout.rooms.bytes < before)
    }

    @Test func olderOnesAndThoseOfUnknownConnectionsAreDropped() {
        var scene = Self.stage()
        scene.show(Self.cursor(5, version: 2))
        _ = scene.take()
        scene.show(Self.cursor(4, version: 1), Self.cursor(7, version: 9, 77))
        #expect(scene.take() == [])
    }

    @Test func whatWasShownUnderAnotherSessionIsHidden() {
        var scene = Self.stage()
        scene.show(Self.cursor(5, version: 1))
        _ = scene.take()
        scene.show(Self.cursor(6, version: 2, sid: "s-other"))
        let shown = scene.taken(by: Scene.g2).awareness
        #expect(shown.map(\.sid) == ["s-ann", "s-other"] && shown.map(\.isHidden) == [true, false])
    }

    @Test func theyEndWithTheirConnection() {
        var scene = Self.stage()
        scene.show(Self.cursor(5, version: 1), Self.selection(["e"], version: 2))
        _ = scene.take()
        scene.leave(1)
        let records = scene.taken(by: Scene.g2)
        #expect(records.awareness.allSatisfy { $0.isHidden && $0.connection == 1 } && records.awareness.count == 2)
        #expect(records.presence == ["-ann"])
        scene.show(Self.cursor(6, version: 3))
        #expect(scene.take() == [])
    }

    @Test func whatIsLateOfAFormerVisitIsNotShown() {
        var scene = Self.stage()
        scene.show(Self.cursor(5, version: 1, sid: "s-former"))
        scene.leave(1)
        scene.join("ann", 1, at: Scene.g1)
        scene.answer()
        _ = scene.take()
        scene.show(Self.cursor(6, version: 9, sid: "s-former"))
        #expect(scene.take() == [])
        scene.show(Self.cursor(7, version: 1))
        #expect(scene.taken(by: Scene.g2).awareness.map(\.sid) == ["s-ann"])
    }

    @Test func theyStandInTheAnswersToJoins() {
        var scene = Self.stage()
        scene.show(Self.cursor(5, version: 1), Self.selection(["e"], version: 2))
        _ = scene.take()
        scene.join("cid", 3, at: Scene.g2)
        scene.answer()
        let joined = scene.taken(by: Scene.g2).joined
        #expect(joined.first?.members.map(\.user) == ["ann", "ben", "cid"])
        let awareness = joined.first?.awareness ?? []
        #expect(awareness.map { $0.map(\.sid) } == [["s-ann"], ["s-ben"], ["s-cid"]])
        #expect(awareness.first?.first?.cursor == Point(x: 5, y: 0))
        #expect(awareness.first?.first?.selection == Array(#"["e"]"#.utf8))
    }

    /// Its other members may have missed a selection, which does not come again.
    @Test func aGatewayThatCatchesUpGetsWhatIsShown() {
        var scene = Self.stage()
        scene.show(Self.cursor(5, version: 1), Self.selection(["e"], version: 2))
        _ = scene.take()
        scene.interest([("ben", 2)], seq: 1, at: Scene.g2)
        let second = scene.taken(by: Scene.g2)
        #expect(second.positions.count == 1 && second.awareness.count == 2)
        scene.interest([("ann", 1)], seq: 1, at: Scene.g1)
        #expect(scene.taken(by: Scene.g1).awareness.map(\.selection) == [["e"]])
    }

    @Test func aFanoutWithoutMemoryHearsItFromGateways() {
        var scene = Scene()
        scene.interest([("ben", 2)], seq: 0, at: Scene.g2)
        scene.answer()
        _ = scene.take()
        var occupant = RoomInterest.Occupant(connection: 1, member: .named("ann"))
        occupant.awareness = ShownAwareness(sid: "s-ann", cursor: Point(x: 5, y: 0), selection: ["e"], version: 7)
        let interest = RoomInterest(
            room: "r", position: Position(epoch: "epoch-1", seq: 0), occupants: [occupant])
        scene.send(interest, from: Scene.g1)
        #expect(scene.taken(by: Scene.g2).awareness.map(\.version) == [7, 7])
        // The same again is nothing new.
        scene.send(interest, from: Scene.g1)
        #expect(scene.taken(by: Scene.g2).awareness.isEmpty)
        scene.show(Self.cursor(4, version: 6))
        #expect(scene.take() == [])
    }

    @Test func aSessionThatMovesOnLeavesNothingBehind() {
        var scene = Self.stage()
        scene.show(Self.cursor(5, version: 1))
        _ = scene.take()
        scene.join("ann", 9, at: Scene.g2, session: "s-ann.good")
        scene.answer()
        #expect(scene.taken(by: Scene.g2).awareness.map(\.isHidden) == [true])
        // The connection that lost its session leaves quietly.
        scene.leave(1)
        #expect(scene.taken(by: Scene.g2).awareness.isEmpty)
    }

    /// A join that its link held up, and the leave right behind it: the app has long come back through another gateway.
    @Test func aJoinWhoseConnectionHasLeftTakesNoSession() {
        var scene = Self.stage()
        scene.show(Self.selection(["e"], version: 1))
        _ = scene.take()
        scene.join("ann", 9, at: Scene.g2, session: "s-ann.good")
        scene.leave(9, at: Scene.g2)
        scene.answer()
        #expect(scene.taken(by: Scene.g2).awareness.isEmpty)
        scene.show(Self.selection(["f"], version: 2))
        #expect(scene.taken(by: Scene.g2).awareness.map(\.selection) == [["f"]])
    }

    /// The link went down, and the leave was lost with it: the gateway says what the new membership shows.
    @Test func aConnectionInDoubtThatJoinsAgainShowsNothing() {
        var scene = Self.stage()
        scene.show(Self.cursor(5, version: 1), Self.selection(["e"], version: 2))
        _ = scene.take()
        scene.reconnect(Scene.g1)
        scene.join("ann", 1, session: "s-ann.good")
        scene.answer()
        let shown = scene.taken(by: Scene.g2).awareness
        #expect(shown.allSatisfy { $0.isHidden && $0.connection == 1 } && shown.count == 2)
        scene.show(Self.selection(["f"], version: 3))
        #expect(scene.taken(by: Scene.g2).awareness.map(\.selection) == [["f"]])
    }

    /// It was not here when the session moved on, and its members see what the former connection showed. It hides that with
    /// the position that follows, for the connection owns nothing any more.
    @Test func aGatewayThatNamesWhatAFormerConnectionShowsHearsWhoOwnsTheSession() {
        var scene = Self.stage()
        scene.join("ann", 9, at: Scene.g2, session: "s-ann.good")
        scene.answer()
        _ = scene.take()
        let occupant = RoomInterest.Occupant(
            connection: 1, member: .named("ann"), awareness: ShownAwareness(sid: "s-ann", selection: ["e"], version: 1))
        let interest = RoomInterest(room: "r", position: Position(epoch: "epoch-1", seq: 1), occupants: [occupant])
        scene.send(interest, from: Scene.g1)
        let actions = scene.take()
        let claimed = SessionClaimed(room: "r", sid: "s-ann", sessionEpoch: 2)
        #expect(actions.first == .send(.sessionClaimed(claimed), to: Scene.g1))
        let isFollowedByThePosition = actions.dropFirst().contains { action in
            if case .send(.roomPosition, Scene.g1) = action { true } else { false }
        }
        #expect(isFollowedByThePosition)
    }

    /// Another fan-out answered its join while the host was cut off. The connection that had the session before is here still.
    @Test func aSessionThatMovedOnElsewhereShowsWhatItsNewOwnerShows() {
        var scene = Self.stage()
        scene.join("ann", 9, at: Scene.g2, session: "s-ann.good")
        scene.answer()
        let former = Self.selection(["e"], version: 1, 9)
        scene.show(former)
        _ = scene.take()
        let occupant = RoomInterest.Occupant(
            connection: 12, member: .named("ann"),
            awareness: ShownAwareness(sid: "s-ann", selection: ["f"], version: 1),
            sessionEpoch: 7)
        let interest = RoomInterest(room: "r", position: Position(epoch: "epoch-1", seq: 1), occupants: [occupant])
        scene.send(interest, from: Scene.g1)
        let own = Self.selection(["f"], version: 1, 12)
        #expect(scene.taken(by: Scene.g2).awareness.filter { $0.selection != nil } == [former.hidden, own])
        // Whoever names the former owner again shows nothing by it.
        scene.show(Self.selection(["g"], version: 2, 9))
        #expect(scene.taken(by: Scene.g2).awareness.isEmpty)
    }

    /// A viewport may have left it behind where it was.
    @Test func aCursorsAreaIsWhereItWasAndIsAndEverywhereWhenItIsHidden() {
        var scene = Self.stage()
        scene.fanout.areaInterestReceived(AreaInterest(room: "r"), from: Scene.g2)
        scene.show(Self.cursor(5, version: 1))
        scene.show(Self.cursor(50, version: 2))
        scene.show(Self.cursor(nil, version: 3))
        let areas = scene.taken(by: Scene.g2).awareness.map(\.area)
        let boxes = [(5.0, 0.0), (5, 45)].map { PreviewArea(Rect(x: $0.0, y: 0, width: $0.1, height: 0)) }
        #expect(areas == boxes + [.everywhere])
    }

    // MARK: Signals

    @Test func aSignalGoesToTheGatewaysOfTheOthers() {
        var scene = Self.stage()
        func send(_ connection: UInt64, _ user: Identifier = "ann", sid: Identifier = "s-ann") -> [[GatewayRecord]] {
            let signal = RoomSignal(
                room: "r", connection: connection, user: user, sid: sid, name: "wave", data: Array("1".utf8))
            scene.send(signal)
            let actions = scene.take()
            return [Scene.g1, Scene.g2].map { gateway in
                actions.compactMap { action in
                    guard case .broadcast(let record, let to, let except) = action else { return nil }
                    return to.contains(gateway) && except != gateway ? record : nil
                }
            }
        }
        // Ann is alone at her gateway.
        #expect(send(1).map(\.count) == [0, 1])
        // Nobody of that connection is here, or not under that name.
        #expect(send(77).map(\.count) == [0, 0])
        #expect(send(1, "ben").map(\.count) == [0, 0])
        scene.join("ann", 9, at: Scene.g2, session: "s-ann.good")
        scene.answer()
        _ = scene.take()
        #expect(send(1).map(\.count) == [0, 0])
        #expect(scene.fanout.counters.signals == 4 && scene.fanout.counters.signalsRefused == 3)
    }
}
