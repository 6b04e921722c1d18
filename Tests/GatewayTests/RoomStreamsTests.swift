import Testing
import Wire

@testable import GatewayCore

@Suite final class RoomStreamsTests {
    private var streams = RoomStreams()
    private var actions: [GatewayAction] = []

    private func enter(
        _ slot: Slot, _ seq: UInt64, epoch: Identifier = "e", isV1: Bool = false, isLoading: Bool = false
    ) -> RoomStreams.Outcome {
        self.streams.enter(
            slot, "r", at: Position(epoch: epoch, seq: seq), as: isV1 ? .v1App : .app, options: StreamOptions(),
            isLoading: isLoading, into: &self.actions)
    }

    private func receive(_ seq: UInt64) -> RoomStreams.Outcome {
        self.streams.updateReceived(update(seq), into: &self.actions)
    }

    /// Who got each of the updates since it was last asked.
    private func delivered() -> [[Slot]] {
        defer { self.actions = [] }
        return self.actions.compactMap { if case .broadcast(let slots, _, _) = $0 { slots } else { nil } }
    }

    @Test func memberAheadOfTheStreamSkipsWhatItHas() {
        #expect(self.enter(1, 4) == .unchanged)
        #expect(self.enter(2, 6) == .missing)
        for seq in UInt64(5)...7 { #expect(self.receive(seq) == .delivered) }
        #expect(self.delivered() == [[1], [1], [1, 2]])
    }

    @Test func anotherEpochEndsEveryPlaceButTheNewcomers() {
        #expect(self.enter(1, 4) == .unchanged)
        #expect(self.enter(2, 9, epoch: "f") == .reset)
        #expect(self.actions.texts(for: 1) == [#"["room:resync",{"roomId":"r","from":5,"to":9}]"#])
        #expect(self.actions.texts(for: 2).isEmpty)
        #expect(self.streams.members(of: "r") == [2])
    }

    @Test func resetForgetsWhoWasAhead() {
        #expect(self.enter(1, 4) == .unchanged)
        #expect(self.enter(2, 90) == .missing)
        self.reset()
        #expect(self.enter(2, 1, epoch: "f") == .unchanged)
        #expect(self.receive(2) == .delivered)
        #expect(self.delivered() == [[2]])
    }

    @Test func resetClosesAppsThatKnowNoResync() {
        #expect(self.enter(1, 4, isV1: true) == .unchanged)
        #expect(self.enter(2, 4) == .unchanged)
        self.reset()
        #expect(self.actions.contains(.close(1)) && self.actions.texts(for: 1).isEmpty)
        #expect(self.actions.count == 3 && self.actions.first == .dropPreviews([2], room: "r"))
        #expect(self.streams.members(of: "r").isEmpty)
    }

    @Test func memberFollowsTheStreamFromWhereItsSnapshotEnded() {
        #expect(self.enter(1, 4) == .unchanged)
        #expect(self.enter(2, 4, isLoading: true) == .unchanged)
        self.streams.snapshotRead(of: "r", by: 2, into: &self.actions)
        #expect(self.receive(5) == .delivered)
        #expect(self.delivered() == [[1, 2]])
    }

    @Test func memberThatMissedUpdatesWhileItReadItsSnapshotJoinsAgain() {
        #expect(self.enter(1, 4) == .unchanged)
        #expect(self.enter(2, 4, isLoading: true) == .unchanged)
        for seq in UInt64(5)...7 { #expect(self.receive(seq) == .delivered) }
        #expect(self.delivered() == [[1], [1], [1]])
        self.actions = []
        self.streams.snapshotRead(of: "r", by: 2, into: &self.actions)
        #expect(self.actions.texts(for: 2) == [#"["room:resync",{"roomId":"r","from":5,"to":7}]"#])
        #expect(self.streams.members(of: "r") == [1])
    }

    @Test func snapshotFromAheadOfTheStreamIsFollowedFromThere() {
        #expect(self.enter(1, 4) == .unchanged)
        #expect(self.enter(2, 6, isLoading: true) == .missing)
        self.streams.snapshotRead(of: "r", by: 2, into: &self.actions)
        self.actions = []
        for seq in UInt64(5)...7 { #expect(self.receive(seq) == .delivered) }
        #expect(self.delivered() == [[1], [1], [1, 2]])
    }

    /// The room's history was replaced.
    private func reset() {
        let position = RoomPosition(room: "r", position: Position(epoch: "f", seq: 1), isReset: true)
        let outcome = self.streams.positionReceived(position, into: &self.actions)
        #expect(outcome == .reset)
    }

    /// It resumes behind its join's answer, not where the stream was for others.
    @Test func memberAheadOfTheStreamThatFallsBehindHasMissedNothing() {
        #expect(self.enter(1, 4) == .unchanged)
        #expect(self.enter(2, 6) == .missing)
        self.streams.fellBehind([1, 2], in: "r", at: 5, into: &self.actions)
        #expect(self.actions.texts(for: 1) == [#"["room:resync",{"roomId":"r","from":5,"to":4}]"#])
        #expect(self.actions.texts(for: 2) == [#"["room:resync",{"roomId":"r","from":7,"to":6}]"#])
    }
}
