import DatabaseTestKit
import FanoutCore
import Testing
import Wire

@Suite struct StreamTests {
    @Test func anUpdateGoesToEveryGatewayWithMembersAndNoOther() {
        var scene = Scene()
        scene.member("ann", 1)
        scene.member("ben", 2, at: Scene.g2, room: "other")
        let update = scene.commit()
        #expect(scene.take() == [.broadcast(.update(update), to: [Scene.g1], except: nil)])
        scene.member("ben", 3, at: Scene.g2)
        let next = scene.commit()
        #expect(scene.take() == [.broadcast(.update(next), to: [Scene.g1, Scene.g2], except: nil)])
    }

    @Test func anUpdateKeepsItsTrace() {
        var scene = Scene()
        scene.member("ann", 1)
        var updates = (1...2).map { _ in scene.database.commit() }
        updates[1] = updates[1].changed(trace: TraceID(high: 1, low: 2))
        _ = scene.take()
        // It waits for the one before it.
        scene.receive(updates[1])
        scene.receive(updates[0])
        #expect(scene.take() == updates.map { .broadcast(.update($0), to: [Scene.g1], except: nil) })
    }

    @Test func duplicatesAreDropped() {
        var scene = Scene()
        scene.member("ann", 1)
        let first = scene.commit()
        let second = scene.commit()
        _ = scene.take()
        scene.receive(first)
        scene.receive(second)
        #expect(scene.take() == [])
        #expect(scene.fanout.counters.duplicates == 2)
    }

    @Test func lateUpdatesArePutInOrderWithoutAQuestion() {
        var scene = Scene()
        scene.member("ann", 1)
        let updates = (1...3).map { _ in scene.database.commit() }
        scene.receive(updates[2])
        scene.receive(updates[1])
        #expect(scene.take() == [])
        scene.receive(updates[0])
        #expect(scene.taken(by: Scene.g1).seqs == [1, 2, 3])
        scene.pass(100)
        #expect(!scene.asked().contains { if case .shardLog = $0 { true } else { false } })
    }

    @Test func aHoleIsFilledFromTheLog() {
        var scene = Scene()
        scene.member("ann", 1)
        scene.database.commit()
        scene.commit()
        #expect(scene.take() == [])
        scene.pass(20)
        #expect(scene.asked().contains(.shardLog(Shard.of(room: "r"), after: 0, limit: 1000)))
        scene.answer()
        #expect(scene.taken(by: Scene.g1).seqs == [1, 2])
        #expect(scene.fanout.lag == 0)
    }

    @Test func aLostLastUpdateIsFoundByTheHeads() {
        var scene = Scene()
        scene.member("ann", 1)
        scene.database.commit()
        scene.pass(250)
        scene.answer()
        #expect(scene.take() == [])
        scene.pass(20)
        scene.answer()
        #expect(scene.taken(by: Scene.g1).seqs == [1])
        #expect(scene.fanout.counters.gaps == 1)
    }

    @Test func aFailedReadOfTheLogIsTriedAgain() {
        var scene = Scene()
        scene.member("ann", 1)
        scene.database.commit()
        scene.commit()
        scene.pass(20)
        scene.failAll()
        scene.pass(250)
        scene.answer()
        #expect(scene.taken(by: Scene.g1).seqs == [1, 2])
    }

    @Test func aLongHoleIsReadInPages() {
        var limits = FanoutLimits()
        limits.logPage = 2
        var scene = Scene(limits: limits)
        scene.member("ann", 1)
        for _ in 1...5 { scene.database.commit() }
        scene.commit()
        scene.pass(20)
        scene.answer()
        #expect(scene.taken(by: Scene.g1).seqs == [1, 2, 3, 4, 5, 6])
    }

    @Test func aShardFarBehindLoadsItsRoomsAnew() {
        var limits = FanoutLimits()
        limits.catchUp = 3
        var scene = Scene(limits: limits)
        scene.member("ann", 1)
        for _ in 1...5 { scene.database.commit() }
        scene.commit()
        scene.pass(20)
        #expect(scene.fanout.counters.rebases == 1)
        #expect(scene.asked().contains(.room("r")))
        scene.answer()
        // The gateway still gets what it missed, from the room's log, and then where the stream stands.
        let records = scene.taken(by: Scene.g1)
        #expect(records.seqs == [1, 2, 3, 4, 5, 6])
        #expect(records.positions.map(\.isReset) == [false])
    }

    @Test func rowsThatAreGoneFromTheLogResetTheRoom() {
        var scene = Scene()
        scene.member("ann", 1)
        for _ in 1...4 { scene.database.commit() }
        for seq in UInt64(1)...2 { scene.database.forget(seq, in: "r") }
        scene.commit()
        scene.pass(20)
        scene.answer()
        let records = scene.taken(by: Scene.g1)
        #expect(records.seqs == [])
        #expect(
            records.positions
                == [RoomPosition(room: "r", position: Position(epoch: "epoch-1", seq: 5), isReset: true)])
        scene.commit()
        #expect(scene.taken(by: Scene.g1).seqs == [6])
    }

    @Test func anotherRoomsUpdatesCloseTheShardsHoleToo() {
        var scene = Scene()
        let other = Self.neighbour(of: "r")
        scene.member("ann", 1)
        scene.member("ben", 2, room: other)
        scene.database.commit("x", room: other)
        scene.commit()
        // The room's own stream has no gap: its update goes on at once.
        #expect(scene.taken(by: Scene.g1).seqs == [1])
        scene.pass(20)
        scene.answer()
        let records = scene.taken(by: Scene.g1)
        #expect(records.seqs == [1])
        #expect(scene.fanout.lag == 0)
    }

    @Test func aRoomWhoseSnapshotIsOlderThanTheCursorMissesNothing() {
        var scene = Scene()
        let other = Self.neighbour(of: "r")
        scene.join("ann", 1)
        scene.join("ben", 2, room: other)
        let old = scene.database.snapshot(of: "r")
        // Its publication is lost, and the other room's snapshot already knows of it.
        scene.database.commit()
        let new = scene.database.snapshot(of: other)
        scene.answer(1, with: .room(new))
        scene.answer(0, with: .room(old))
        _ = scene.take()
        scene.pass(20)
        scene.answer()
        #expect(scene.taken(by: Scene.g1).seqs == [1])
    }

    @Test func anotherEpochResetsEveryRoom() {
        var scene = Scene()
        scene.member("ann", 1)
        for _ in 1...3 { scene.commit() }
        _ = scene.take()
        scene.database = DatabaseModel()
        scene.database.epoch = "epoch-2"
        scene.database.commit()
        scene.pass(250)
        scene.answer()
        #expect(
            scene.taken(by: Scene.g1).positions
                == [RoomPosition(room: "r", position: Position(epoch: "epoch-2", seq: 1), isReset: true)])
        scene.commit()
        #expect(scene.taken(by: Scene.g1).seqs == [2])
    }

    @Test func rowsLostInAFailoverResetTheRoom() {
        var scene = Scene()
        scene.member("ann", 1)
        for _ in 1...3 { scene.commit() }
        _ = scene.take()
        scene.database = DatabaseModel()
        scene.database.commit()
        scene.pass(250)
        scene.answer()
        #expect(
            scene.taken(by: Scene.g1).positions
                == [RoomPosition(room: "r", position: Position(epoch: "epoch-1+", seq: 1), isReset: true)])
        #expect(scene.fanout.counters.replacements == 1)
    }

    @Test func tooManyKeptUpdatesEndInAnotherLoad() {
        var limits = FanoutLimits()
        limits.keptUpdates = 2
        var scene = Scene(limits: limits)
        scene.join("ann", 1)
        let snapshot = scene.database.snapshot(of: "r")
        for _ in 1...5 { scene.commit() }
        scene.answer(with: .room(snapshot))
        scene.answer()
        let records = scene.taken(by: Scene.g1)
        // The first answer stands at what was kept; the rest follows it without a gap.
        let start = records.joined.first?.position.seq ?? 0
        #expect(records.seqs == Array((start + 1)...5))
    }

    @Test func deletedElementsAreNotInTheSnapshot() {
        var scene = Scene()
        scene.member("ann", 1)
        scene.commit("a", Scene.element("a"))
        scene.commit("b", Scene.element("b"))
        scene.receive(scene.database.delete("a"))
        scene.join("ben", 2)
        #expect(
            scene.taken(by: Scene.g1).joined.first?.content == .elements(Array("[\(Scene.element("b"))]".utf8)))
    }

    @Test func aRoomIsDroppedAWhileAfterTheLastMember() {
        var scene = Scene()
        scene.member("ann", 1)
        scene.commit()
        scene.leave(1)
        scene.pass(29_000)
        #expect(scene.fanout.rooms.count == 1)
        scene.commit()
        scene.join("ann", 2)
        #expect(scene.taken(by: Scene.g1).joined.first?.position.seq == 2)
        scene.pass(2_000)
        #expect(scene.fanout.rooms.count == 1)
        scene.leave(2)
        scene.pass(30_000)
        #expect(scene.fanout.rooms.count == 0)
        #expect(scene.fanout.rooms.bytes == 0)
    }

    @Test func overTheMemoryBoundIdleRoomsGoFirst() {
        var limits = FanoutLimits()
        limits.memory = 4_000
        var scene = Scene(limits: limits)
        scene.member("ann", 1, room: "one")
        scene.commit(room: "one")
        scene.leave(1, room: "one")
        scene.member("ann", 2, room: "two")
        for _ in 1...5 { scene.commit(room: "two") }
        #expect(scene.fanout.rooms.bytes > 4_000)
        scene.join("ben", 3, room: "three")
        _ = scene.take()
        scene.pass(250)
        #expect(scene.fanout.rooms.bytes <= 4_000)
        scene.answer()
        _ = scene.take()
        // The room without members must be loaded again; the other one is still there.
        scene.join("cid", 5, room: "one")
        #expect(scene.asked() == [.room("one")])
        scene.join("ben", 4, room: "two")
        #expect(scene.taken(by: Scene.g1).joined.first?.position.seq == 5)
    }

    @Test func aRoomReadComesFromMemoryOrTheDatabase() {
        var scene = Scene()
        let json = Scene.element("e")
        scene.database.commit("e", json)
        scene.read("r", request: 4)
        scene.answer()
        let state = RoomState(
            request: 4, room: "r",
            outcome: .state(Position(epoch: "epoch-1", seq: 1), elements: Array("[\(json)]".utf8)))
        #expect(scene.take() == [.send(.roomState(state), to: Scene.g1)])
        scene.read("r", request: 5)
        #expect(scene.asked() == [])
        #expect(scene.take().count == 1)
        scene.read("never", request: 6)
        scene.answer()
        let unused = RoomState(request: 6, room: "never", outcome: .neverUsed)
        #expect(scene.take() == [.send(.roomState(unused), to: Scene.g1)])
        #expect(scene.fanout.rooms.count == 1)
    }

    @Test func readsAndJoinsWaitForWhatWasAcknowledged() {
        var scene = Scene()
        scene.member("ann", 1)
        scene.commit()
        _ = scene.take()
        // The gateway has given an acknowledgement for 2 already; its update is still on its way.
        scene.read("r", request: 4, after: 2)
        scene.read("r", request: 5, after: 1)
        scene.send(Join(request: 90, room: "r", connection: 2, member: .named("ben"), after: 2), from: Scene.g1)
        #expect(scene.taken(by: Scene.g1).positionsOfReads == [5: 1])
        scene.commit()
        let records = scene.taken(by: Scene.g1)
        #expect(records.positionsOfReads == [4: 2])
        #expect(records.joined.map(\.position.seq) == [2])
        // The update is in the answer, so it stands before it on the link and not behind it.
        let update = records.firstIndex { if case .update = $0 { true } else { false } }
        let joined = records.firstIndex { if case .joinReply = $0 { true } else { false } }
        #expect(update != nil && joined != nil && (update ?? 9) < (joined ?? 0))
        #expect(scene.fanout.waitingCount == 0)
    }

    @Test func whatWasAcknowledgedIsNotWaitedForForEver() {
        var scene = Scene()
        scene.member("ann", 1)
        scene.commit()
        _ = scene.take()
        scene.read("r", request: 4, after: 99)
        scene.send(Join(request: 90, room: "r", connection: 2, member: .named("ben"), after: 99), from: Scene.g1)
        scene.pass(499)
        #expect(scene.taken(by: Scene.g1).positionsOfReads == [:])
        scene.pass(1)
        let records = scene.taken(by: Scene.g1)
        #expect(records.positionsOfReads == [4: 1] && records.joined == [])
        // A join waits until the shard's head shows that there is no more.
        scene.answer()
        scene.pass(250)
        #expect(scene.taken(by: Scene.g1).joined.map(\.position.seq) == [1])
        #expect(scene.fanout.waitingCount == 0)
    }

    @Test func aRoomReadWaitsForTheDatabaseOnlySoLong() {
        var scene = Scene()
        scene.read("r", request: 4)
        scene.failAll()
        scene.pass(5_000)
        let state = RoomState(request: 4, room: "r", outcome: .unavailable)
        #expect(scene.take().contains(.send(.roomState(state), to: Scene.g1)))
        #expect(scene.fanout.waitingCount == 0)
    }

    /// Another room of the same shard.
    static func neighbour(of room: Identifier) -> Identifier {
        let names = (0...).lazy.map { Identifier("room-\($0)") }
        return names.first { Shard.of(room: $0) == Shard.of(room: room) } ?? room
    }
}

@Suite struct ShardCursorTests {
    @Test func itMovesOnlyOverWhatWasSeen() {
        var cursor = ShardCursor()
        _ = cursor.saw(ShardCursor.Mark(7))
        #expect(cursor.at == nil)
        _ = cursor.loaded(at: ShardCursor.Mark(5), births: 0)
        #expect(cursor.at == 5)
        #expect(cursor.isBehind)
        _ = cursor.saw(ShardCursor.Mark(9))
        _ = cursor.saw(ShardCursor.Mark(6))
        #expect(cursor.at == 7)
        #expect(cursor.lag == 2)
        _ = cursor.saw(ShardCursor.Mark(8))
        #expect(cursor.at == 9)
        _ = cursor.headIs(ShardCursor.Mark(12))
        #expect(cursor.lag == 3)
        _ = cursor.headIs(ShardCursor.Mark(3))
        _ = cursor.saw(ShardCursor.Mark(3))
        #expect(cursor.at == 9)
        #expect(cursor.head == 12)
    }

    @Test func anOlderSnapshotFromBeforeItsBirthTakesItBack() {
        var cursor = ShardCursor()
        _ = cursor.loaded(at: ShardCursor.Mark(9), births: 0)
        _ = cursor.loaded(at: ShardCursor.Mark(6), births: 0)
        #expect(cursor.at == 6)
        _ = cursor.saw(ShardCursor.Mark(7))
        _ = cursor.loaded(at: ShardCursor.Mark(5), births: 1)
        #expect(cursor.at == 7)
    }
}

extension [GatewayRecord] {
    /// Where the room stood in each answered read, by request.
    fileprivate var positionsOfReads: [UInt64: UInt64] {
        self.reduce(into: [:]) { positions, record in
            guard case .roomState(let state) = record, case .state(let position, _) = state.outcome else { return }
            positions[state.request] = position.seq
        }
    }
}
