import Canvas
import Testing
import Wire

@testable import GatewayCore

/// `POST …/commits`: what a back end may change, and what it is answered.
@Suite struct CommitRequestTests {
    private static let move = #"{"event":"element:transform","data":{"elementId":"a","positionX":5}}"#

    /// The answer among the actions since they were last taken.
    private func answer(in scene: inout Scene) -> (status: Int, text: String)? {
        for case .http(_, let status, let json) in scene.take() {
            return (status, String(decoding: json, as: UTF8.self))
        }
        return nil
    }

    /// The committer applies a commit, or refuses it.
    private func decide(_ commit: Commit, seq: UInt64 = 0, refusal: Refusal? = nil, in scene: inout Scene) {
        scene.gateway.resultReceived(
            result(of: commit, seq: seq, refusal: refusal), at: scene.moment, into: &scene.actions)
    }

    @Test func everyEditButAnUndoMayBeMade() throws {
        for kind in allEdits.kinds where !kind.traits.event.hasPrefix("history:") {
            var scene = Scene()
            scene.post(#"{"event":"\#(kind.traits.event)","data":{}}"#, form: .commits)
            // It was read as that kind: what is missing are the fields of its own.
            let answer = try #require(self.answer(in: &scene))
            #expect(
                answer.status == 400 && !answer.text.contains(#""field":"event""#), "\(kind.traits.event) \(answer)")
        }
        for event in ["history:undo", "history:redo", "room:join", "element:transforming"] {
            var scene = Scene()
            scene.post(#"{"event":"\#(event)","data":{}}"#, form: .commits)
            let answer = try #require(self.answer(in: &scene))
            #expect(answer.status == 400 && answer.text.contains(#""code":"invalid""#), "\(answer)")
        }
    }

    @Test func oneCommitIsAnsweredWithItsAcknowledgement() throws {
        var scene = Scene()
        scene.post(Self.move, form: .commits, session: "h:key")
        let commit = try #require(scene.take().commits.first)
        #expect(commit.session == "h:key" && commit.number == 1 && commit.edit.undo == .none)
        self.decide(commit, seq: 3, in: &scene)
        #expect(try #require(self.answer(in: &scene)) == (200, #"{"ok":true,"seq":3}"#))
    }

    @Test func commitsGoOneAfterTheOther() throws {
        var scene = Scene()
        scene.post(#"{"commits":[\#(Self.move),\#(Self.move),\#(Self.move)]}"#, form: .commits)
        #expect(scene.gateway.commits.inFlight.reservedCount == 2)
        for number in 1...3 as ClosedRange<UInt64> {
            let commits = scene.take().commits
            #expect(commits.map(\.number) == [number])
            self.decide(try #require(commits.first), seq: 10 + number, in: &scene)
        }
        let answer = try #require(self.answer(in: &scene))
        #expect(
            answer
                == (200, #"{"ok":true,"results":[{"ok":true,"seq":11},{"ok":true,"seq":12},{"ok":true,"seq":13}]}"#))
        #expect(scene.gateway.commits.inFlight.isEmpty && scene.gateway.commits.inFlight.bytes == 0)
    }

    @Test func theFirstRefusalEndsThem() throws {
        var scene = Scene()
        scene.post(#"{"commits":[\#(Self.move),\#(Self.move),\#(Self.move)]}"#, form: .commits)
        self.decide(try #require(scene.take().commits.first), seq: 1, in: &scene)
        self.decide(try #require(scene.take().commits.first), refusal: Refusal(.notFound, ""), in: &scene)
        let actions = scene.actions
        #expect(actions.commits.isEmpty)
        #expect(
            try #require(self.answer(in: &scene)) == (
                207, #"{"ok":false,"results":[{"ok":true,"seq":1},{"ok":false}]}"#
            ))
        #expect(scene.gateway.commits.inFlight.isEmpty && scene.gateway.commits.inFlight.bytes == 0)
    }

    @Test func whatCannotBeReadStopsThemInItsPlace() throws {
        var scene = Scene()
        let wrong = #"{"event":"element:transform","data":{"elementId":"a","positionX":"left"}}"#
        scene.post(#"{"commits":[\#(Self.move),\#(wrong),\#(Self.move)]}"#, form: .commits)
        self.decide(try #require(scene.take().commits.first), seq: 1, in: &scene)
        let answer = try #require(self.answer(in: &scene))
        #expect(answer.status == 207 && answer.text.contains(#""field":"positionX""#))
    }

    @Test func withoutAResultTheyEndAtTheDeadline() throws {
        var scene = Scene()
        scene.post(#"{"commits":[\#(Self.move),\#(Self.move)]}"#, form: .commits)
        scene.advance(10_000)
        let answer = try #require(self.answer(in: &scene))
        #expect(answer.status == 207 && answer.text.contains(#""code":"unavailable""#))
        #expect(scene.gateway.commits.inFlight.isEmpty)
        // The key is free again.
        scene.post(#"{"commits":[\#(Self.move),\#(Self.move)]}"#, form: .commits)
        #expect(scene.take().commits.map(\.number) == [1])
    }

    @Test func ofOneKeyOneRequestIsUnderWay() throws {
        var scene = Scene()
        scene.post(Self.move, form: .commits, session: "h:key")
        _ = scene.take()
        scene.post(Self.move, form: .commits, session: "h:key")
        #expect(try #require(self.answer(in: &scene)).status == 503)
        scene.post(Self.move, form: .commits, session: "h:other")
        #expect(scene.take().commits.count == 1)
    }

    @Test func whatTheyAnswerIsBounded() throws {
        var limits = GatewayLimits()
        limits.messageBytes = 300
        var scene = Scene(limits: limits)
        scene.post(#"{"commits":[\#(Self.move),\#(Self.move)]}"#, form: .commits)
        let long = Array((#"{"ok":true,"seq":1,"element":"# + String(repeating: "x", count: 200) + "}").utf8)
        for seq in 1...2 as ClosedRange<UInt64> {
            var applied = result(of: try #require(scene.take().commits.first), seq: seq)
            applied.json = long
            scene.gateway.resultReceived(applied, at: scene.moment, into: &scene.actions)
        }
        let answer = try #require(self.answer(in: &scene))
        #expect(answer.text.hasSuffix(#",{"ok":true,"seq":2}]}"#), "\(answer.text)")
    }

    @Test(arguments: [
        ("7", 400, "event"), ("{}", 400, "event"), (#"{"event":7,"data":{}}"#, 400, "event"),
        (#"{"event":"element:levitate","data":{}}"#, 400, "event"), (#"{"event":"element:transform"}"#, 400, "data"),
        (#"{"event":"element:transform","data":[]}"#, 400, "data"),
        (#"{"event":"element:transform","data":{"roomId":"other","elementId":"a","positionX":1}}"#, 400, "roomId"),
        (#"{"commits":{}}"#, 400, "commits"), (#"{"commits":[]}"#, 400, "commits"),
        (#"{"event":"element:transform","data":{"elementId":"a","elementId":"a"}}"#, 400, "data.elementId"),
    ])
    func aWrongBodyIsRefusedWithItsField(body: String, status: Int, field: String) throws {
        var scene = Scene()
        scene.post(body, form: .commits)
        let answer = try #require(self.answer(in: &scene))
        #expect(answer.status == status && answer.text.contains(#""field":"\#(field)""#), "\(answer)")
    }

    @Test func moreThanAHundredAreTooLarge() throws {
        var scene = Scene()
        let commits = Array(repeating: Self.move, count: 101).joined(separator: ",")
        scene.post(#"{"commits":[\#(commits)]}"#, form: .commits)
        let answer = try #require(self.answer(in: &scene))
        #expect(answer.status == 413 && answer.text.contains(#""field":"commits""#))
    }
}
