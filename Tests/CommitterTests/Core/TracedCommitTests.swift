import Canvas
import CommitterCore
import Testing
import TimingTestKit
import Wire

/// The steps of a traced commit that the committer logs, and the trace that its update carries.
@Suite struct TracedCommitTests {
    private static let trace = TraceID(high: 1, low: 2)
    private var actions: [Committer.Action] = []

    private func traced(_ commit: Commit) -> Commit {
        var commit = commit
        commit.trace = Self.trace
        return commit
    }

    private var marks: [TraceMark] {
        self.actions.compactMap { if case .traced(let mark) = $0 { mark } else { nil } }
    }

    private var updates: [Update] {
        self.actions.compactMap { if case .publish(let update) = $0 { update } else { nil } }
    }

    /// A machine with one lane that has read its shard, and these commits, the second of them traced.
    private mutating func machine(limits: CommitterLimits = CommitterLimits()) -> Committer {
        var machine = Committer(lanes: 1, rules: .defaults, limits: limits)
        machine.connectionUp(lane: 0)
        machine.commitReceived(commit(1, create("a")), size: 10, at: 0, into: &self.actions)
        machine.commitReceived(self.traced(commit(2, create("b"))), size: 10, at: 0, into: &self.actions)
        machine.dispatch(at: 0, into: &self.actions)
        machine.stateLoaded(lane: 0, LoadedState(version: 0, gseq: 0), at: 0)
        return machine
    }

    @Test mutating func onlyTheTracedCommitIsMarked() {
        var machine = self.machine()
        machine.dispatch(at: 0, into: &self.actions)
        #expect(self.marks.map(\.step) == [.decided])
        #expect(self.marks[0].facts == [.room: "room", .session: "s1", .number: "2", .seq: "2", .batch: "2"])
        machine.batchWritten(lane: 0, isStale: false, at: 0, into: &self.actions)
        #expect(self.marks.map(\.step) == [.decided, .answered] && self.marks[1].facts[.seq] == "2")
        #expect(self.updates.map(\.trace) == [nil, Self.trace])
    }

    @Test mutating func aBatchThatIsDecidedAgainIsMarkedAgain() {
        var machine = self.machine()
        machine.dispatch(at: 0, into: &self.actions)
        machine.batchWritten(lane: 0, isStale: true, at: 0, into: &self.actions)
        machine.dispatch(at: 0, into: &self.actions)
        machine.stateLoaded(lane: 0, LoadedState(version: 1, gseq: 0), at: 0)
        machine.dispatch(at: 0, into: &self.actions)
        machine.batchWritten(lane: 0, isStale: false, at: 0, into: &self.actions)
        #expect(self.marks.map(\.step) == [.decided, .decided, .answered])
    }

    @Test mutating func aRefusalIsMarkedWithItsCode() {
        var limits = CommitterLimits()
        limits.queueCommits = 2
        var machine = self.machine(limits: limits)
        machine.commitReceived(self.traced(commit(3, create("c"))), size: 10, at: 0, into: &self.actions)
        machine.timeReached(10_000_000_000, into: &self.actions)
        #expect(self.marks.map(\.step) == [.answered, .answered])
        #expect(self.marks.map { $0.facts[.refusal] } == ["busy", "unavailable"])
    }
}
