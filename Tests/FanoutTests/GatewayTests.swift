import DatabaseTestKit
import FanoutCore
import Testing
import Wire

@Suite struct RoomInterestTests {
    @Test func whatWasMissedComesBeforeThePosition() {
        var scene = Scene()
        scene.member("ben", 9, at: Scene.g2)
        for _ in 1...4 { scene.commit() }
        _ = scene.take()
        scene.interest([("ann", 1)], seq: 2)
        let records = scene.taken(by: Scene.g1)
        #expect(records.seqs == [3, 4])
        let position = RoomPosition(room: "r", position: Position(epoch: "epoch-1", seq: 4), isReset: false)
        #expect(records.suffix(2) == [.roomPosition(position), .members(["ann", "ben"], isComplete: false)])
        scene.commit()
        #expect(scene.taken(by: Scene.g1).seqs == [5])
    }

    @Test func aFanoutThatTakesARoomOverReadsTheLogForItsGateways() {
        var scene = Scene()
        for _ in 1...4 { scene.database.commit() }
        scene.interest([("ann", 1)], seq: 1, at: Scene.g1)
        scene.interest([("ben", 2)], seq: 4, at: Scene.g2)
        scene.answer(with: .room(scene.database.snapshot(of: "r")))
        // Nothing numbered overtakes what the first gateway still misses.
        scene.commit()
        scene.join("ann", 7)
        let news = scene.taken(by: Scene.g1)
        #expect(news.presence == ["+ben"] && news.count == 1)
        scene.answer()
        let first = scene.taken(by: Scene.g1)
        #expect(first.seqs == [2, 3, 4, 5])
        #expect(first.joined.first?.position.seq == 5)
        #expect(first.joined.first?.members == [.named("ann"), .named("ben")])
        #expect(first.presence == [])
    }

    @Test(arguments: [(UInt64(2), Identifier("epoch-0")), (9, "epoch-1")])
    func aPlaceThatCannotBeFilledIsReset(seq: UInt64, epoch: Identifier) {
        var scene = Scene()
        for _ in 1...4 { scene.database.commit() }
        scene.interest([("ann", 1)], seq: seq, epoch: epoch)
        scene.answer()
        let records = scene.taken(by: Scene.g1)
        #expect(
            records == [
                .roomPosition(RoomPosition(room: "r", position: Position(epoch: "epoch-1", seq: 4), isReset: true)),
                .members(["ann"], isComplete: false),
            ])
    }

    @Test func aGatewayThatKnowsMoreMakesTheRoomLookAgain() {
        var scene = Scene()
        scene.member("ben", 9, at: Scene.g2)
        scene.commit()
        _ = scene.take()
        for _ in 1...2 { scene.database.commit() }
        scene.interest([("ann", 1)], seq: 3)
        #expect(scene.asked() == [.room("r")])
        scene.answer()
        let actions = scene.take()
        #expect(
            actions.contains(
                .send(
                    .roomPosition(
                        RoomPosition(room: "r", position: Position(epoch: "epoch-1", seq: 3), isReset: false)),
                    to: Scene.g1)))
        // The other gateway's stream has no gap either.
        let seqs = actions.compactMap { action -> UInt64? in
            if case .send(.update(let update), Scene.g2) = action { update.seq } else { nil }
        }
        #expect(seqs == [2, 3])
    }

    @Test func whileAGatewayCatchesUpNothingOvertakesWhatItMissed() {
        var limits = FanoutLimits()
        limits.ringBytes = 1
        var scene = Scene(limits: limits)
        scene.member("ann", 1)
        for _ in 1...4 { scene.commit() }
        _ = scene.take()
        scene.interest([("ann", 1)], seq: 1)
        scene.commit()
        scene.join("ben", 2)
        #expect(scene.taken(by: Scene.g1) == [])
        scene.answer()
        let records = scene.taken(by: Scene.g1)
        #expect(records.seqs == [2, 3, 4, 5])
        #expect(records.joined.first?.position.seq == 5)
        // Without occupants it need not catch up, and a join need not wait for that.
        scene.interest([("ann", 1)], seq: 1)
        scene.join("cid", 3)
        let meanwhile = scene.taken(by: Scene.g1)
        #expect(meanwhile.joined.isEmpty)
        scene.leave(2)
        scene.leave(1)
        #expect(scene.taken(by: Scene.g1).joined.first?.position.seq == 5)
    }

    @Test func anUnreadableLogResetsRatherThanWaits() {
        var scene = Scene()
        for _ in 1...4 { scene.database.commit() }
        scene.interest([("ann", 1)], seq: 1)
        scene.answer(with: .room(scene.database.snapshot(of: "r")))
        scene.failAll()
        #expect(scene.taken(by: Scene.g1).positions.map(\.isReset) == [true])
    }

    @Test func occupantsAreReplacedAndOnlyTheVanishedAreTold() {
        var scene = Scene()
        scene.member("ann", 1)
        scene.member("ben", 2)
        scene.member("cid", 9, at: Scene.g2)
        scene.reconnect(Scene.g1)
        scene.interest([("ann", 1), ("ann", 3)], seq: 0)
        #expect(scene.taken(by: Scene.g2).presence == ["-ben"])
        scene.interest([("dan", 4), ("ann", 1)], seq: 0)
        #expect(scene.taken(by: Scene.g2).presence == ["+dan"])
    }

    /// The gateway wrote the interest before Ben's join was answered, or while Ben was to join again: it says so when a
    /// connection leaves.
    @Test func aMemberWhomAnInterestDoesNotNameStays() {
        var scene = Scene()
        scene.member("ann", 1)
        scene.member("ben", 2)
        scene.interest([("ann", 1)], seq: 0)
        scene.interest([("ann", 1)], seq: 0)
        scene.join("cid", 9, at: Scene.g2)
        #expect(scene.taken(by: Scene.g2).joined.first?.members == ["ann", "ben", "cid"].map(Member.named))
        scene.leave(2)
        #expect(scene.taken(by: Scene.g2).presence == ["-ben"])
    }

    /// The answer to a join cannot have the members of gateways that have not moved here yet.
    @Test func membersWhoComeAfterTheAnswerToAJoinAreAnnouncedAndThenWhatTheyShow() {
        var scene = Scene()
        scene.interest([("ann", 1)], seq: 0)
        scene.answer()
        scene.member("cid", 3)
        let occupant = RoomInterest.Occupant(
            connection: 2, member: .named("ben"),
            awareness: ShownAwareness(sid: "s-ben", selection: ["e"], version: 1))
        let interest = RoomInterest(room: "r", position: Position(epoch: "epoch-1", seq: 0), occupants: [occupant])
        scene.send(interest, from: Scene.g2)
        let records = scene.taken(by: Scene.g1)
        #expect(records.presence == ["+ben"])
        #expect(records.awareness.map(\.selection) == [["e"]])
        #expect(records.first?.kind == .presence)
    }

    /// Somebody may have left between two fan-outs: nobody was told, and the second one never knew.
    @Test func whoIsInARoomThatMovedIsSentToEverybodyWhenThatIsCertain() {
        var scene = Scene()
        scene.interest([("ann", 1)], seq: 0)
        scene.answer()
        scene.pass(1_000)
        scene.interest([("ben", 2)], seq: 0, at: Scene.g2)
        _ = scene.take()
        scene.pass(3_900)
        #expect(scene.taken(by: Scene.g1) == [])
        scene.pass(100)
        let actions = scene.take()
        let members = GatewayRecord.members(["ann", "ben"], isComplete: true)
        #expect(actions == [.broadcast(members, to: [Scene.g1, Scene.g2], except: nil)])
        scene.pass(10_000)
        #expect(scene.take() == [])
    }

    @Test func whoStaysWhenAGatewayTurnsToAnotherFanoutIsSentLater() {
        var scene = Scene()
        scene.member("ann", 1)
        scene.member("ben", 2, at: Scene.g2)
        scene.interest([], seq: 0)
        scene.interest([("ben", 2)], seq: 0, at: Scene.g2)
        #expect(scene.taken(by: Scene.g2).last == .members(["ben"], isComplete: false))
        scene.pass(5_000)
        #expect(scene.taken(by: Scene.g2) == [.members(["ben"], isComplete: true)])
    }

    /// Its people are served by another fan-out, to which the other gateways go, too.
    @Test func noOccupantsMeansNoInterestAndNobodyLeft() {
        var scene = Scene()
        scene.member("ann", 1)
        scene.member("ben", 2, at: Scene.g2)
        scene.interest([], seq: 0)
        #expect(scene.taken(by: Scene.g2).presence == [])
        #expect(scene.fanout.rooms.connectionCount(in: "r") == 1)
        scene.commit()
        #expect(scene.taken(by: Scene.g1) == [])
        scene.interest([], seq: 0, room: "unknown")
        #expect(scene.fanout.rooms.count == 1)
    }
}

@Suite struct GatewayLossTests {
    @Test func streamsStopAtOnceAndPeopleStayForAWhile() {
        var scene = Scene()
        scene.member("ann", 1)
        scene.member("ben", 2, at: Scene.g2)
        scene.fanout.linkDown(to: Scene.g1, at: scene.now)
        scene.commit()
        scene.preview(.by("s-ben", 2))
        #expect(scene.taken(by: Scene.g1) == [])
        scene.pass(4_900)
        #expect(scene.taken(by: Scene.g2).presence == [])
        scene.pass(100)
        #expect(scene.taken(by: Scene.g2).presence == ["-ann"])
    }

    @Test func aGatewayThatComesBackInTimeKeepsItsPeople() {
        var scene = Scene()
        scene.member("ann", 1)
        scene.member("ben", 2, at: Scene.g2)
        scene.fanout.linkDown(to: Scene.g1, at: scene.now)
        scene.commit()
        scene.fanout.linkUp(to: Scene.g1, at: scene.now)
        _ = scene.take()
        scene.commit()
        #expect(scene.taken(by: Scene.g1) == [])
        scene.interest([("ann", 1)], seq: 0)
        #expect(scene.taken(by: Scene.g1).seqs == [1, 2])
        scene.pass(10_000)
        #expect(scene.taken(by: Scene.g2).presence == [])
    }

    @Test func aRestartedGatewaysOldPeopleLeave() {
        var scene = Scene()
        scene.member("ann", 1)
        scene.member("ben", 2)
        scene.member("cid", 9, at: Scene.g2)
        scene.fanout.linkDown(to: Scene.g1, at: scene.now)
        scene.fanout.linkUp(to: Scene.g1, at: scene.now)
        scene.join("ann", 3)
        #expect(scene.taken(by: Scene.g2).presence == [])
        scene.pass(5_000)
        #expect(scene.taken(by: Scene.g2).presence == ["-ben"])
        scene.commit()
        #expect(scene.taken(by: Scene.g1).seqs == [1])
    }

    @Test func aVanishedPublishersGestureEndsForTheOthers() {
        var scene = Scene()
        scene.member("ann", 1)
        scene.member("ben", 2, at: Scene.g2)
        scene.commit()
        scene.preview(.by("s-ann", 1, gesture: 4))
        _ = scene.take()
        scene.fanout.linkDown(to: Scene.g1, at: scene.now)
        scene.pass(5_000)
        let ended = GestureEnded(
            gesture: GestureEnd(room: "r", element: "e", user: "ann", sid: "s-ann", gesture: 4), seq: 1,
            json: Array(Scene.element("e").utf8))
        #expect(scene.taken(by: Scene.g2).first == .gestureEnded(ended))
        scene.preview(.by("s-ann", 1, gesture: 4))
        #expect(scene.taken(by: Scene.g2).previews == [])
    }

    @Test func aGatewayThatLostRecordsIsToldWhereItsRoomsStand() {
        var scene = Scene()
        scene.member("ann", 1)
        scene.commit()
        _ = scene.take()
        var actions: [FanoutAction] = []
        scene.fanout.linkDrained(to: Scene.g1, into: &actions)
        let position = RoomPosition(room: "r", position: Position(epoch: "epoch-1", seq: 1), isReset: false)
        #expect(
            actions == [
                .send(.roomPosition(position), to: Scene.g1),
                .send(.members(["ann"], isComplete: true), to: Scene.g1),
            ])
    }

    @Test func waitingJoinsOfALostGatewayAreForgotten() {
        var scene = Scene()
        scene.join("ann", 1)
        scene.fanout.linkDown(to: Scene.g1, at: scene.now)
        #expect(scene.fanout.waitingCount == 0)
        #expect(scene.fanout.rooms.count == 0)
        scene.answer()
        #expect(scene.take() == [])
    }
}
