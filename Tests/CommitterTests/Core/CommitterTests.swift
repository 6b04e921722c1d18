import Canvas
import CommitterCore
import Testing
import Timing
import TimingTestKit
import Wire

/// The machine over all shards: lanes, bounds and deadlines. What one shard does stands with its ledger.
@Suite struct CommitterTests {
    private var limits = CommitterLimits()
    private var actions: [Committer.Action] = []

    private mutating func machine(lanes: Int = 1, up: Int = 1) -> Committer {
        var machine = Committer(lanes: lanes, rules: .defaults, limits: self.limits)
        for lane in 0..<up { machine.connectionUp(lane: lane) }
        return machine
    }

    private func results(_ actions: [Committer.Action]) -> [CommitResult] {
        actions.compactMap { if case .result(_, let result) = $0 { result } else { nil } }
    }

    private static let rooms: [Identifier] = {
        var seen: Set<Int> = []
        return (0..<200).map { Identifier("room\($0)") }.filter { seen.insert(Shard.of(room: $0)).inserted }
    }()

    @Test mutating func oneRequestALane() {
        var machine = self.machine(lanes: 3, up: 2)
        for room in Self.rooms.prefix(4) {
            machine.commitReceived(commit(1, create("a"), room: room), size: 10, at: 0, into: &self.actions)
        }
        machine.dispatch(at: 0, into: &self.actions)
        #expect(self.actions.count == 2)
        guard case .load(lane: 0, let first) = self.actions[0], case .load(lane: 1, let second) = self.actions[1] else {
            Issue.record("\(self.actions)")
            return
        }
        #expect([first.shard, second.shard] == Self.rooms.prefix(2).map { Shard.of(room: $0) })
        self.actions = []
        // What was read for is written before other shards are read for.
        machine.stateLoaded(lane: 1, LoadedState(version: 4, gseq: 9), at: 0)
        machine.dispatch(at: 0, into: &self.actions)
        guard case .write(lane: 1, let batch)? = self.actions.first else {
            Issue.record("\(self.actions)")
            return
        }
        #expect(batch.shard == second.shard && batch.version == 4 && batch.gseq == 10)
        self.actions = []
        machine.batchWritten(lane: 1, isStale: false, at: 0, into: &self.actions)
        #expect(self.actions.count == 2)  // the result, then the update
        machine.dispatch(at: 0, into: &self.actions)
        guard case .load(lane: 1, let third)? = self.actions.last else {
            Issue.record("\(self.actions)")
            return
        }
        #expect(third.shard == Shard.of(room: Self.rooms[2]))
        #expect(machine.queuedCommits == 3 && machine.queuedBytes == 30)
    }

    @Test mutating func overItsBoundsItRefusesAsBusy() {
        self.limits.queueCommits = 2
        self.limits.queueBytes = 1000
        var machine = self.machine()
        machine.commitReceived(commit(1, create("a")), size: 990, at: 0, into: &self.actions)
        machine.commitReceived(commit(2, create("b")), size: 11, at: 0, into: &self.actions)
        machine.commitReceived(commit(2, create("b")), size: 10, at: 0, into: &self.actions)
        machine.commitReceived(commit(3, create("c")), size: 0, at: 0, into: &self.actions)
        let refused = self.results(self.actions)
        #expect(refused.map(\.number) == [2, 3])
        #expect(refused.allSatisfy { $0.refusal?.code == .busy && $0.refusal?.retryAfterMs == 250 })
        #expect(text(refused[0].json).hasPrefix(#"{"ok":false,"error":{"code":"busy","#))
        #expect(machine.counters.busy == 2 && machine.queuedCommits == 2)
    }

    @Test mutating func everyCommitGivesItsSenderCreditBackOnce() {
        self.limits.queueCommits = 2
        var machine = self.machine()
        machine.commitReceived(commit(1, create("a")), size: 10, source: 1, at: 0, into: &self.actions)
        // A copy of what waits, and one too many: nothing of them is kept.
        machine.commitReceived(commit(1, create("a")), size: 10, source: 2, at: 0, into: &self.actions)
        machine.commitReceived(commit(2, create("b")), size: 20, source: 2, at: 0, into: &self.actions)
        machine.commitReceived(commit(3, create("c")), size: 30, source: 3, at: 0, into: &self.actions)
        var finished = machine.drainFinished()
        #expect(finished.mapValues(\.commits) == [2: 1, 3: 1] && finished.mapValues(\.bytes) == [2: 10, 3: 30])
        #expect(machine.drainFinished() == [:])
        machine.dispatch(at: 0, into: &self.actions)
        machine.stateLoaded(lane: 0, LoadedState(version: 0, gseq: 0), at: 0)
        machine.dispatch(at: 0, into: &self.actions)
        #expect(machine.drainFinished() == [:])
        // A batch whose outcome nobody knows is still kept.
        machine.requestFailed(lane: 0, .lost, at: 0, into: &self.actions)
        #expect(machine.drainFinished() == [:])
        machine.timeReached(10_000_000_000, into: &self.actions)
        finished = machine.drainFinished()
        #expect(finished.mapValues(\.commits) == [1: 1, 2: 1] && finished.mapValues(\.bytes) == [1: 10, 2: 20])
        #expect(machine.isIdle)
    }

    @Test mutating func withoutADatabaseCommitsExpire() {
        var machine = self.machine(up: 0)
        machine.commitReceived(commit(1, create("a")), size: 10, at: 100, into: &self.actions)
        machine.dispatch(at: 0, into: &self.actions)
        #expect(self.actions.isEmpty && machine.oldestArrival == 100)
        #expect(machine.nextDeadline == 10_000_000_100)
        machine.timeReached(10_000_000_099, into: &self.actions)
        #expect(self.actions.isEmpty)
        machine.timeReached(10_000_000_100, into: &self.actions)
        #expect(self.results(self.actions).map { $0.refusal?.code } == [.unavailable])
        #expect(machine.isIdle && machine.nextDeadline == nil)
    }

    @Test mutating func lostConnectionsCommitsGoToAnotherLane() {
        var machine = self.machine(lanes: 2, up: 2)
        machine.commitReceived(commit(1, create("a")), size: 10, at: 0, into: &self.actions)
        machine.dispatch(at: 0, into: &self.actions)
        machine.stateLoaded(lane: 0, LoadedState(version: 0, gseq: 0), at: 0)
        machine.dispatch(at: 0, into: &self.actions)
        self.actions = []
        machine.requestFailed(lane: 0, .lost, at: 0, into: &self.actions)
        machine.connectionDown(lane: 0, at: 0, into: &self.actions)
        machine.dispatch(at: 0, into: &self.actions)
        guard case .load(lane: 1, let again)? = self.actions.first, self.actions.count == 1 else {
            Issue.record("\(self.actions)")
            return
        }
        #expect(again.outcomes == [CommitKey(StreamKey("room", "s1"), 1)])
        #expect(machine.counters.lost == 1 && machine.connectedLanes == 1)
        // An answer that comes for a lane without request is nothing.
        machine.batchWritten(lane: 0, isStale: false, at: 0, into: &self.actions)
        #expect(self.actions.count == 1)
    }

    @Test mutating func failedShardRestsWhileOthersGoOn() {
        var machine = self.machine()
        machine.commitReceived(commit(1, create("a"), room: Self.rooms[0]), size: 10, at: 0, into: &self.actions)
        machine.dispatch(at: 0, into: &self.actions)
        machine.requestFailed(lane: 0, .transient, at: 1_000_000, into: &self.actions)
        self.actions = []
        machine.dispatch(at: 0, into: &self.actions)
        #expect(self.actions.isEmpty)
        machine.commitReceived(commit(1, create("a"), room: Self.rooms[1]), size: 10, at: 0, into: &self.actions)
        machine.dispatch(at: 0, into: &self.actions)
        #expect(self.actions.count == 1)
        let deadline = machine.nextDeadline ?? 0
        #expect((11_000_000...30_000_000).contains(deadline))
        machine.connectionDown(lane: 0, at: 0, into: &self.actions)
        machine.connectionUp(lane: 0)
        self.actions = []
        machine.timeReached(deadline, into: &self.actions)
        machine.dispatch(at: 0, into: &self.actions)
        #expect(self.actions.count == 1)
    }

    @Test mutating func copiesAreCountedOnce() {
        var machine = self.machine()
        for _ in 0..<3 { machine.commitReceived(commit(1, create("a")), size: 10, at: 0, into: &self.actions) }
        #expect(machine.counters.received == 3 && machine.counters.repeated == 2 && machine.queuedBytes == 10)
    }

    @Test mutating func ownersOfResumedSessionsCommitWithoutNumbers() {
        let bench = LedgerBench()
        bench.admit(commit(1, create("a"), session: "s1.3", sessionEpoch: 3))
        bench.admit(commit(1, create("b"), session: "s1", sessionEpoch: 3))
        let settlement = bench.run()
        #expect(settlement.refusals.map { $0?.code } == [nil, .sessionExpired])
        #expect(settlement.updates[0].sid == "s1" && settlement.updates[0].number == 0)
    }
}
