import FanoutCore
import Testing
import Timing
import Wire

/// What answers weigh is known before they are made.
@Suite struct WeightTests {
    private static func weights(_ actions: [FanoutAction]) -> [AnswerWeight] {
        actions.compactMap { if case .send(.answerWeight(let weight), _) = $0 { weight } else { nil } }
    }

    private static func joins(_ actions: [FanoutAction]) -> [JoinReply] {
        actions.compactMap { if case .send(.joinReply(let reply), _) = $0 { reply } else { nil } }
    }

    private static func join(
        _ request: UInt64, session: String = "", resume: Position? = nil, allowance: UInt32
    ) -> Join {
        Join(
            request: request, room: "r", connection: request, member: .named("ben"), session: session, resume: resume,
            allowance: allowance)
    }

    @Test func aLargeRoomIsAnsweredWhenItsGatewayAllowsForIt() throws {
        var scene = Scene()
        for element in ["a", "b", "c"] as [Identifier] {
            scene.database.commit(element)
        }
        scene.send(Self.join(90, allowance: 1000), from: Scene.g1)
        scene.answer()
        let first = scene.take()
        #expect(Self.joins(first).isEmpty)
        let weight = try #require(Self.weights(first).first)
        #expect(weight.request == 90 && !weight.isRead)
        // It is forgotten, and asked for again.
        #expect(scene.fanout.waitingCount == 0)
        scene.send(Self.join(90, allowance: weight.bytes), from: Scene.g1)
        let reply = try #require(Self.joins(scene.take()).first)
        guard case .success(let joined) = reply.outcome, case .elements(let json) = joined.content else {
            Issue.record("not the room")
            return
        }
        #expect((json.count...json.count + 4096).contains(Int(weight.bytes)))
    }

    @Test func selectionsWeighBeforeTheyAreWritten() throws {
        var scene = Scene()
        scene.member("ann", 1)
        let ids = (0..<500).map { Identifier("\(String(repeating: "\"", count: 100))\($0)") }
        scene.show(
            Awareness(room: "r", connection: 1, user: "ann", sid: "s-ann", version: 1, value: .selection(ids)))
        _ = scene.take()
        scene.send(Self.join(90, allowance: 20_000), from: Scene.g1)
        let weight = try #require(Self.weights(scene.take()).first)
        // Quotes are escaped.
        #expect(weight.bytes > 100_000)
        scene.send(Self.join(90, allowance: weight.bytes), from: Scene.g1)
        let reply = try #require(Self.joins(scene.take()).first)
        guard case .success(let joined) = reply.outcome else {
            Issue.record("refused")
            return
        }
        let text = try #require(joined.awareness.first?.first?.selection)
        #expect(text == ShownAwareness(sid: "", selection: ids).selectionText && text.count < Int(weight.bytes))
    }

    @Test func whatWasMissedWeighs() throws {
        var scene = Scene()
        scene.member("ann", 1)
        for _ in 0...40 { _ = scene.commit() }
        _ = scene.take()
        let resume = Position(epoch: "epoch-1", seq: 1)
        scene.send(Self.join(90, resume: resume, allowance: 4096), from: Scene.g1)
        let weight = try #require(Self.weights(scene.take()).first)
        scene.send(Self.join(90, resume: resume, allowance: weight.bytes), from: Scene.g1)
        guard case .success(let joined)? = Self.joins(scene.take()).first?.outcome,
            case .updates(let missed) = joined.content
        else {
            Issue.record("not what was missed")
            return
        }
        #expect(missed.count == 40)
    }

    @Test func aReadOverHTTPWeighs() throws {
        var scene = Scene()
        scene.database.commit("a")
        scene.read("r", request: 7, allowance: 100)
        scene.answer()
        let weight = try #require(Self.weights(scene.take()).first)
        #expect(weight.isRead && weight.request == 7)
        scene.read("r", request: 7)
        let states = scene.take().compactMap { action -> Int? in
            guard case .send(.roomState(let state), _) = action, case .state(_, let json) = state.outcome else {
                return nil
            }
            return json.count
        }
        #expect(states == [Int(weight.bytes)], "to the byte")
    }
}
