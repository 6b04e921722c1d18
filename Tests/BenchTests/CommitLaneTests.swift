import Testing

@testable import bench

@Suite struct CommitLaneTests {
    static let first = CommitLane.firstID

    @Test func commitsAreNumberedAnswersTellHowLongTheyTook() {
        var lane = CommitLane(window: 2)
        lane.joined(used: 0)
        #expect(lane.submit(at: 100).map { [$0.id, Int($0.number)] } == [Self.first, 1])
        #expect(lane.submit(at: 150).map { [$0.id, Int($0.number)] } == [Self.first + 1, 2])
        #expect(lane.submit(at: 160) == nil)
        #expect(lane.answered(Self.first + 1, .applied, at: 170) == 20)
        #expect(lane.answered(Self.first, .applied, at: 190) == 90)
        #expect(lane.answered(Self.first, .applied, at: 200) == nil)
        #expect(lane.submit(at: 200)?.number == 3)
    }

    @Test func aRefusalThatLeavesItsNumberFreeSendsTheLaneBackToItAfterAPause() {
        var lane = CommitLane(window: 4)
        lane.joined(used: 10)
        for _ in 0..<3 { _ = lane.submit(at: 0) }
        #expect(lane.answered(Self.first, .applied, at: 10) == 10)
        #expect(lane.answered(Self.first + 1, .refused(.rateLimited), at: 10, pause: 50) == 10)
        // The one behind it is still to be answered.
        #expect(lane.submit(at: 1000) == nil)
        #expect(lane.answered(Self.first + 2, .refused(.gap), at: 20, pause: 50) == 20)
        #expect(lane.submit(at: 69) == nil)
        #expect(lane.submit(at: 70).map { [$0.id, Int($0.number)] } == [Self.first + 3, 12])
    }

    @Test func aRefusalForGoodUsesItsNumberUp() {
        var lane = CommitLane(window: 1)
        lane.joined(used: 0)
        _ = lane.submit(at: 0)
        #expect(lane.answered(Self.first, .refused(.other), at: 5, pause: 0) == 5)
        #expect(lane.submit(at: 5)?.number == 2)
    }

    @Test func aNewSessionStartsAnew() {
        var lane = CommitLane(window: 1)
        lane.joined(used: 0)
        _ = lane.submit(at: 0)
        lane.joined(used: 0)
        #expect(lane.outstandingCount == 0)
        #expect(lane.submit(at: 1).map { [$0.id, Int($0.number)] } == [Self.first + 1, 1])
        #expect(lane.answered(Self.first, .applied, at: 2) == nil)
    }

    @Test func answers() {
        func answer(_ text: String) -> Answer { Array(text.utf8).withUnsafeBytes { Answer($0) } }
        #expect(answer(#"[{"ok":true,"seq":5,"element":{},"adjusted":[]}]"#) == .applied)
        #expect(answer(#"[{"ok":false,"error":{"code":"gap","message":"x","expected":3}}]"#) == .refused(.gap))
        #expect(answer(#"[{"ok":false,"error":{"code":"rate_limited"}}]"#) == .refused(.rateLimited))
        #expect(answer(#"[{"ok":false,"error":{"code":"forbidden"}}]"#) == .refused(.other))
        #expect(answer("[]") == .applied)
        #expect(answer(#"[{"ok":false"#) == .applied)
        #expect(answer(#"[{"ok":false,"error":{"code":"ga"#) == .refused(.other))
    }
}
