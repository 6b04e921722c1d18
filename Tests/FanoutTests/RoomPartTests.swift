import Canvas
import Testing
import Timing
import Wire

@testable import FanoutCore

/// The rules of a room's parts, each alone.
@Suite struct RoomStreamTests {
    private var database = DatabaseModel()
    private var stream = RoomStream()
    private var limits = FanoutLimits()

    private mutating func update() -> Update { self.database.commit("r", [("e", Scene.element("e"))]) }

    @Test mutating func earlyUpdatesAreKeptAndDequeuedInOrder() {
        let updates = (1...3).map { _ in self.update() }
        _ = self.stream.install(snapshotAt: 0)
        #expect(self.stream.offer(updates[2], limits: self.limits) == .kept)
        #expect(self.stream.offer(updates[1], limits: self.limits) == .kept)
        #expect(self.stream.offer(updates[1], limits: self.limits) == .duplicate)
        #expect(self.stream.hasHole && self.stream.dequeueNext() == nil)
        #expect(self.stream.offer(updates[0], limits: self.limits) == .next)
        self.stream.advance(over: updates[0], at: .start, limits: self.limits)
        while let next = self.stream.dequeueNext() { self.stream.advance(over: next, at: .start, limits: self.limits) }
        #expect(self.stream.seq == 3 && !self.stream.hasHole)
        #expect(self.stream.missed(after: 1, rows: [], limits: self.limits) == Array(updates.dropFirst()))
    }

    @Test mutating func tooManyKeptUpdatesNeedAnotherLoad() {
        self.limits.keptUpdates = 1
        #expect(self.stream.offer(self.update(), limits: self.limits) == .kept)
        #expect(self.stream.offer(self.update(), limits: self.limits) == .overflow)
        #expect(self.stream.needsLoad)
        self.stream.loadAsked(1)
        #expect(!self.stream.needsLoad)
    }

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
            var update = self.update()
            update.seq = number
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
    private var catchUps = CatchUps()
    private var stream = RoomStream()
    private var history = DatabaseHistory()

    private init() {
        _ = self.history.follow("epoch-1")
        _ = self.stream.install(snapshotAt: 5)
    }

    private mutating func advance(rows: [Update]? = nil) -> CatchUps.Step {
        self.catchUps.advance(Scene.g1, along: self.stream, in: self.history, rows: rows, limits: FanoutLimits())
    }

    private mutating func begin(at seq: UInt64, epoch: Identifier = "epoch-1") {
        self.catchUps.begin(Scene.g1, at: Position(epoch: epoch, seq: seq))
    }

    @Test mutating func gatewayInStepMissedNothing() {
        self.begin(at: 5)
        #expect(self.advance() == .finish(missed: []))
        #expect(self.catchUps.isEmpty && self.advance() == .waits)
    }

    @Test mutating func theLogIsReadOnceAndFailureResets() {
        self.begin(at: 3)
        #expect(self.advance() == .readLog(after: 3))
        self.catchUps.logAsked(7, for: Scene.g1)
        #expect(self.advance() == .waits)
        #expect(self.catchUps.awaitsLog(7, for: Scene.g1))
        #expect(self.advance(rows: []) == .finish(missed: nil))
    }

    @Test mutating func laterInterestMakesAnEarlierReadMeaningless() {
        self.begin(at: 3)
        self.catchUps.logAsked(7, for: Scene.g1)
        self.begin(at: 4)
        #expect(!self.catchUps.awaitsLog(7, for: Scene.g1))
    }

    @Test mutating func gatewayAheadOfTheRoomLoadsItOnce() {
        self.begin(at: 8)
        #expect(self.advance() == .load)
        #expect(self.advance() == .finish(missed: nil))
    }

    @Test mutating func anotherHistoryIsReset() {
        self.begin(at: 5, epoch: "epoch-0")
        #expect(self.advance() == .finish(missed: nil))
    }
}

@Suite struct PendingJoinTests {
    private var joins = PendingJoins()
    private var history = DatabaseHistory()

    init() { _ = self.history.follow("epoch-1") }

    private func pending(
        _ request: UInt64, session: String = "", after: UInt64 = 0, at now: Instant = .start
    ) -> PendingJoin {
        let join = Join(
            request: request, room: "r", connection: request, member: .named("ann"), session: session, after: after)
        return PendingJoin(join, from: Scene.g1, at: now, limits: FanoutLimits())
    }

    @Test mutating func duplicateJoinKeepsItsPlaceInLineAndStays() {
        let tag = self.joins.enqueue(self.pending(1))
        #expect(tag != nil)
        self.joins.setLeaving([tag ?? 0], from: Scene.g1)
        #expect(self.joins[tag ?? 0]?.leavesAfter == true)
        #expect(self.joins.enqueue(self.pending(1)) == nil)
        #expect(self.joins[tag ?? 0]?.leavesAfter == false)
        _ = self.joins.remove(tag ?? 0)
        #expect(self.joins.count == 0 && self.joins.enqueue(self.pending(1)) != nil)
    }

    @Test mutating func onlyConnectionsOfTheGatewayLeave() {
        let tags = (1...3).compactMap { self.joins.enqueue(self.pending($0)) }
        self.joins.setLeaving(tags, from: Scene.g2)
        #expect(tags.map { self.joins[$0]?.leavesAfter } == [false, false, false])
        self.joins.setLeaving([tags[1]], from: Scene.g1)
        #expect(tags.map { self.joins[$0]?.leavesAfter } == [false, true, false])
    }

    @Test func joinIsReadyWhenItsSessionIsSettled() {
        var new = self.pending(1)
        #expect(!new.isReady(at: 0, in: self.history, provenAt: nil))
        #expect(new.identify(by: Scene.issuer) && new.isReady(at: 0, in: self.history, provenAt: nil))
        var resumed = self.pending(2, session: "s-ann.good")
        #expect(resumed.identify(by: Scene.issuer) && !resumed.isReady(at: 0, in: self.history, provenAt: nil))
        let isGranted = resumed.claimAnswered(.granted(claim: 2, number: 7))
        #expect(isGranted && resumed.isReady(at: 0, in: self.history, provenAt: nil))
        var foreign = self.pending(3, session: "s-ben.good")
        #expect(foreign.identify(by: Scene.issuer) == false)
    }

    @Test func joinWaitsForAnUpdateThatItsAppHasSeenUnlessThereIsNone() {
        let arrival = Instant.start + .seconds(1)
        var pending = self.pending(1, after: 4, at: arrival)
        _ = pending.identify(by: Scene.issuer)
        #expect(!pending.isReady(at: 3, in: self.history, provenAt: nil))
        #expect(pending.isReady(at: 4, in: self.history, provenAt: nil))
        #expect(!pending.isReady(at: 3, in: self.history, provenAt: .start))
        #expect(pending.isReady(at: 3, in: self.history, provenAt: arrival))
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

    @Test func noRoomIsOpenedBeyondTheBounds() {
        var limits = FanoutLimits()
        limits.rooms = 1
        var few = RoomTable(limits: limits)
        #expect(few.open("one") == 0)
        #expect(few.open("two") == nil)
        limits.rooms = 2
        limits.memory = 1
        var small = RoomTable(limits: limits)
        #expect(small.open("one") == 0)
        #expect(small.open("two") == nil)
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
    @Test func gatewayLeavesWithItsLastConnection() {
        var occupancy = Occupancy()
        #expect(occupancy.enter(1, at: Scene.g1, as: .named("ann")) == .named("ann"))
        #expect(occupancy.enter(2, at: Scene.g1, as: .named("ann")) == nil)
        occupancy.stream(true, to: Scene.g1)
        #expect(occupancy.leave(1) == Occupancy.MemberDeparture())
        #expect(occupancy.leave(2) == Occupancy.MemberDeparture(member: .named("ann"), gateway: Scene.g1))
        #expect(occupancy.streaming == [] && occupancy.isEmpty)
        occupancy.stream(true, to: Scene.g1)
        #expect(occupancy.streaming == [])
    }

    @Test func connectionsInDoubtAreThoseNotNamedAgain() {
        var occupancy = Occupancy()
        for connection in UInt64(1)...2 { _ = occupancy.enter(connection, at: Scene.g1, as: .named("ann")) }
        occupancy.doubt(Scene.g1)
        _ = occupancy.enter(2, at: Scene.g1, as: .named("ann"))
        #expect(occupancy.connections(of: Scene.g1, onlyStale: true) == [1])
        #expect(occupancy.connections(of: Scene.g1, onlyStale: false) == [1, 2])
    }

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
