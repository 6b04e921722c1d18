import Canvas
import DatabaseTestKit
import Testing
import Timing
import Wire

@testable import FanoutCore

/// The rules of a room's parts, each alone.
@Suite struct RoomStreamTests {
    private var database = DatabaseModel()
    private var stream = RoomStream()
    private var limits = FanoutLimits()

    private mutating func update() -> Update { self.database.commit() }

    @Test mutating func aSnapshotIsWhatItIsToTheStream() {
        #expect(self.stream.install(snapshotAt: 4) == .began)
        self.stream.loadAsked(1)
        #expect(self.stream.install(snapshotAt: 4) == .passed)
        #expect(self.stream.install(snapshotAt: 6) == .jumped)
        self.stream.loadAsked(2)
        // Older than the stream was when it was asked for: rows are lost.
        #expect(self.stream.install(snapshotAt: 5) == .lost)
        self.stream.historyReplaced()
        #expect(self.stream.install(snapshotAt: 9) == .lost)
        #expect(self.stream.seq == 9)
    }

    /// The numbers of a history that is gone say nothing of what comes in the new one.
    @Test mutating func whatCameBesideALostHistoryMustBeLoaded() {
        #expect(self.stream.install(snapshotAt: 4) == .began)
        self.stream.historyReplaced()
        self.stream.loadAsked(1)
        #expect(self.stream.install(snapshotAt: 2) == .lost && !self.stream.needsLoad)
        for number in [2, 9] as [UInt64] {
            self.stream.historyReplaced()
            self.stream.loadAsked(1)
            let update = self.update().changed(seq: number)
            // Taken for a known one, or for one that comes too early.
            #expect(self.stream.offer(update, limits: self.limits) != .next)
            #expect(self.stream.install(snapshotAt: 2) == .lost && self.stream.needsLoad)
            #expect(!self.stream.hasHole)
        }
    }

    @Test mutating func onlyTheNewestLoadIsAwaited() {
        self.stream.loadAsked(1)
        #expect(self.stream.endLoad() == 1)
        self.stream.loadAsked(2)
        #expect(!self.stream.awaitsLoad(1) && self.stream.awaitsLoad(2))
    }
}

@Suite struct CatchUpTests {
    @Test func laterInterestMakesAnEarlierReadMeaningless() {
        var catchUps = CatchUps()
        catchUps.begin(Scene.g1, at: Position(epoch: "epoch-1", seq: 3))
        catchUps.logAsked(7, for: Scene.g1)
        catchUps.begin(Scene.g1, at: Position(epoch: "epoch-1", seq: 4))
        #expect(!catchUps.awaitsLog(7, for: Scene.g1))
    }
}

@Suite struct PendingJoinTests {
    @Test func onlyConnectionsOfTheGatewayLeave() {
        var joins = PendingJoins()
        let tags = (UInt64(1)...3).compactMap { number in
            let join = Join(request: number, room: "r", connection: number, member: .named("ann"))
            return joins.enqueue(PendingJoin(join, from: Scene.g1, at: .start, limits: FanoutLimits()))
        }
        joins.setLeaving(tags, from: Scene.g2)
        #expect(tags.map { joins[$0]?.leavesAfter } == [false, false, false])
        joins.setLeaving([tags[1]], from: Scene.g1)
        #expect(tags.map { joins[$0]?.leavesAfter } == [false, true, false])
    }
}

@Suite struct RoomTableTests {
    private var table = RoomTable(limits: FanoutLimits())
    private var shards = ShardStreams(limits: FanoutLimits())
    private let shard = Shard.of(room: "r")

    /// Closes a room that was never used.
    private mutating func close(_ slot: Int) {
        var services = RoomServices(limits: FanoutLimits(), rules: .defaults)
        self.table[slot].reviewIdle(at: .start, with: &services)
        self.table.closeIfExpendable(slot, releasing: &self.shards)
    }

    @Test mutating func slotOfAClosedRoomIsUsedAgain() {
        #expect(self.table.open("one") == 0)
        #expect(self.table.open("two") == 1)
        #expect(self.table.bytes == self.table[0].bytes + self.table[1].bytes && self.table[0].bytes > 0)
        self.table.closeIfExpendable(0, releasing: &self.shards)
        #expect(self.table.count == 2)
        self.close(0)
        #expect(self.table.slot(of: "one") == nil && self.table.bytes == self.table[1].bytes)
        #expect(self.table.open("three") == 0)
    }

    @Test mutating func shardIsReleasedWithItsLastRoom() {
        let names: [Identifier] = ["r", StreamTests.neighbour(of: "r")]
        let slots = names.compactMap { self.table.open($0) }
        #expect(self.table.slots(of: self.shard) == slots)
        let mark = ShardCursor.Mark(1)
        #expect(self.shards.snapshotReceived(mark, of: self.shard, tag: 1, lastTag: 1, at: .start) == true)
        self.close(slots[0])
        #expect(self.shards.isFollowed(self.shard))
        self.close(slots[1])
        #expect(!self.shards.isFollowed(self.shard) && !self.table.hasRooms(of: self.shard))
    }

    @Test mutating func readsOfAllRoomsAreCounted() {
        let read = PendingRead(
            read: RoomRead(request: 1, room: "one", after: 3), gateway: Scene.g1, expiresAt: .never,
            followsUntil: .never)
        for name: Identifier in ["one", "two"] {
            if let slot = self.table.open(name) { self.table[slot].reads.enqueue(read) }
        }
        #expect(self.table.readCount == 2)
        #expect(self.table[0].reads.dequeueReady(at: 2, .start).isEmpty)
        #expect(self.table[0].reads.dequeueReady(at: 3, .start).count == 1)
        #expect(self.table.readCount == 1)
    }
}

@Suite struct MemberTests {
    @Test func newestClaimOwnsASession() {
        var owners = SessionOwners()
        #expect(owners.claimed("s", 2, by: 20) == true)
        #expect(owners.claimed("s", 1, by: 10) == false)
        #expect(owners.isSuperseded("s", from: 10) && !owners.isSuperseded("s", from: 20))
        owners.remove(10)
        #expect(owners.isSuperseded("s", from: 10))
        owners.remove(20)
        #expect(!owners.isSuperseded("s", from: 10))
    }

    @Test func aConnectionOwnsItsLatestSessionOnly() {
        var owners = SessionOwners()
        #expect(owners.claimed("s", 2, by: 20) && owners.claimed("t", 2, by: 20))
        #expect(!owners.isSuperseded("s", from: 10) && owners.isSuperseded("t", from: 10))
        owners.remove(20)
        #expect(!owners.isSuperseded("t", from: 10))
    }
}

@Suite struct DepartedFenceTests {
    /// Whoever moves elements that do not exist gets memory for some of them, which counts.
    @Test func gesturesOnElementsThatAreNotThereAreBounded() {
        var store = ElementStore()
        let empty = store.footprint
        for index in 0..<5000 {
            let end = GestureEnd(room: "r", element: Identifier("e\(index)"), user: "ann", sid: "s", gesture: 1)
            #expect(store.end(end, isUncertain: false, at: .start, limits: FanoutLimits()) == nil)
        }
        #expect(store.footprint - empty == 1024 * (160 + 128))
        store.removeExpiredFences(at: .start + .seconds(600), limits: FanoutLimits())
        #expect(store.footprint == empty)
    }
}
