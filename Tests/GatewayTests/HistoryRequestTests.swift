import Auth
import Testing
import Wire

@testable import GatewayCore

/// A room's history over HTTP.
@Suite struct HistoryRequestTests {
    private static let anybody = Identity(member: Member(user: "ada", name: "Ada", color: ""))

    private func read(
        _ room: String = "r", after: String? = nil, limit: String? = nil, in scene: inout Scene
    ) -> [GatewayAction] {
        _ = scene.gateway.requestReceived(
            .history(of: room, after: after, limit: limit), as: Self.anybody, at: scene.moment, seconds: 0,
            into: &scene.actions)
        return scene.take()
    }

    private func asked(_ actions: [GatewayAction]) -> HistoryRead? {
        actions.lazy.compactMap { if case .fanout(_, .readHistory(let read)) = $0 { read } else { nil } }.first
    }

    private func answer(_ actions: [GatewayAction]) -> (status: Int, json: String)? {
        guard case .http(_, let status, let json)? = actions.first else { return nil }
        return (status, String(decoding: json, as: UTF8.self))
    }

    @Test func theParametersHaveDefaults() throws {
        var scene = Scene()
        let read = try #require(self.asked(self.read(in: &scene)))
        #expect(read.room == "r" && read.after == 0 && read.limit == 50)
        let next = try #require(self.asked(self.read(after: "9007199254740991", limit: "200", in: &scene)))
        #expect(next.after == 9_007_199_254_740_991 && next.limit == 200 && next.request != read.request)
    }

    @Test(arguments: [
        ("after", "-1"), ("after", ""), ("after", "1.5"), ("after", "x"), ("after", "+1"),
        ("after", "9007199254740992"),
        ("after", "99999999999999999999999"), ("limit", "0"), ("limit", "201"), ("limit", ""), ("limit", "１"),
    ])
    func aWrongParameterIsRefusedByItsName(name: String, value: String) throws {
        var scene = Scene()
        let actions = self.read(
            after: name == "after" ? value : nil, limit: name == "limit" ? value : nil, in: &scene)
        let answer = try #require(self.answer(actions))
        #expect(answer.status == 400 && answer.json.contains(#""code":"invalid""#))
        #expect(answer.json.contains(#""field":"\#(name)""#) && actions.count == 1)
    }

    @Test func theRightToViewIsRequired() {
        var scene = Scene()
        var rights = RoomRights()
        rights.grant(.view, room: "r".utf8)
        let viewer = Identity(member: Member(user: "ada", name: "Ada", color: ""), rights: rights)
        for (room, isAllowed) in [("other", false), ("r", true)] {
            _ = scene.gateway.requestReceived(
                .history(of: room, after: nil, limit: nil), as: viewer, at: scene.moment, seconds: 0,
                into: &scene.actions)
            let actions = scene.take()
            #expect(self.answer(actions)?.status == (isAllowed ? nil : 403))
            #expect((self.asked(actions) != nil) == isAllowed)
        }
    }

    @Test func whatIsUnderWayIsAskedOfTheFanoutThatServesTheRoomNow() throws {
        var scene = Scene()
        let reads = try (0..<4).map { _ in try #require(self.asked(self.read(in: &scene))) }
        // One more of this user waits, so nobody was asked for it.
        #expect(self.read(in: &scene).isEmpty)
        let (served, other) = (Shard.of(room: "r"), (Shard.of(room: "r") + 1) % Shard.count)
        for (shard, isAsked) in [(other, false), (served, true)] {
            scene.gateway.fanoutMoved(shards: [shard], hadOwner: false, at: scene.moment, into: &scene.actions)
            let asked = scene.take().compactMap { self.asked([$0])?.request }
            #expect(asked == (isAsked ? reads.map(\.request).sorted() : []))
        }
    }

    @Test func aPageIsAnsweredInFull() throws {
        var scene = Scene()
        let read = try #require(self.asked(self.read(in: &scene)))
        let page = HistoryPage(
            entries: [
                HistoryEntry(
                    seq: 3, at: "2026-01-02T03:04:05.678Z", event: "element:transformed", user: "ada", sid: "s",
                    number: 7,
                    changes: [
                        HistoryEntry.Change(
                            element: "e", before: Array(#"{"id":"e","x":1}"#.utf8), after: Array(#"{"id":"e"}"#.utf8))
                    ]),
                HistoryEntry(
                    seq: 4, at: "t", event: "element:deleted", user: "ada", sid: "s", number: 0,
                    changes: [HistoryEntry.Change(element: "e", before: Array(#"{"id":"e"}"#.utf8), after: [])]),
                HistoryEntry(
                    seq: 5, at: "t", event: "element:created", user: "ada", sid: "s", number: 0, cause: .undo,
                    changes: [HistoryEntry.Change(element: "f", before: [], after: Array(#"{"id":"f"}"#.utf8))]),
            ], next: 5, oldest: nil)
        scene.gateway.historyAnswered(
            HistoryReply(request: read.request, outcome: .success(page)), at: scene.moment,
            into: &scene.actions)
        let answer = try #require(self.answer(scene.take()))
        #expect(answer.status == 200)
        #expect(
            answer.json == #"{"entries":["#
                + #"{"seq":3,"at":"2026-01-02T03:04:05.678Z","event":"element:transformed","userId":"ada","sid":"s","#
                + #""n":7,"changes":[{"elementId":"e","before":{"id":"e","x":1},"after":{"id":"e"}}]},"#
                + #"{"seq":4,"at":"t","event":"element:deleted","userId":"ada","sid":"s","#
                + #""changes":[{"elementId":"e","before":{"id":"e"},"after":null}]},"#
                + #"{"seq":5,"at":"t","event":"element:created","userId":"ada","sid":"s","cause":"undo","#
                + #""changes":[{"elementId":"f","before":null,"after":{"id":"f"}}]}],"next":5,"oldest":null}"#)
    }

    @Test func aRefusalOfTheFanoutIsPassedOn() throws {
        var scene = Scene()
        let read = try #require(self.asked(self.read(in: &scene)))
        let refusal = Refusal(.notFound, "Nothing was ever done in this room.", field: "roomId")
        for _ in 0..<2 {
            scene.gateway.historyAnswered(
                HistoryReply(request: read.request, outcome: .failure(refusal)), at: scene.moment,
                into: &scene.actions)
        }
        let actions = scene.take()
        #expect(self.answer(actions)?.status == 404 && actions.count == 1)
    }

    @Test func readsOfRoomsAndHistoriesShareOneBoundAndDeadline() throws {
        var limits = GatewayLimits()
        limits.readsWaiting = 2
        var scene = Scene(limits: limits)
        _ = scene.gateway.requestReceived(
            .room("r"), as: Self.anybody, at: scene.moment, seconds: 0, into: &scene.actions)
        #expect(self.asked(self.read(in: &scene)) != nil)
        #expect(self.answer(self.read(in: &scene))?.status == 503)
        scene.advance(10_000)
        let statuses = scene.take().compactMap { if case .http(_, let status, _) = $0 { status } else { nil } }
        #expect(statuses == [503, 503])
    }
}
