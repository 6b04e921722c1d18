import Testing
import Timing
import Wire

@testable import GatewayCore

/// What becomes of previews and awareness that are too many for the rate of their connection.
@Suite struct PreviewRateTests {
    /// A gateway whose connections may show so many a second, and as many at once after a pause.
    private static func scene(perSecond rate: Int) -> Scene {
        var limits = GatewayLimits()
        limits.previewsPerSecond = rate
        return Scene(limits: limits)
    }

    private static func move(_ element: String, in room: Identifier = "r") -> String {
        #"{"roomId":"\#(room)","elementId":"\#(element)","positionX":1}"#
    }

    private static func move(_ elements: [String], by slot: Slot, in room: Identifier = "r", _ scene: inout Scene) {
        for element in elements { scene.send(slot, "element:transforming", Self.move(element, in: room)) }
    }

    /// What left, in order: the elements of previews, "cursor" and "selection".
    private static func left(_ actions: [GatewayAction]) -> [String] {
        actions.compactMap { action -> String? in
            switch action {
            case .preview(_, let preview): preview.element.text
            case .fanout(_, .awareness(let awareness)): "\(awareness.value.part)"
            default: nil
            }
        }
    }

    private static let ten = (0..<10).map { "e\($0)" }

    @Test func elementsShareTheRateEvenlyAndTheLastOfEachArrives() throws {
        var scene = Self.scene(perSecond: 20)
        let ada = try scene.member("ada")
        var left: [Preview] = []
        for _ in 0..<100 {
            Self.move(Self.ten, by: ada, &scene)
            scene.advance(16)
            left += scene.take().previews
        }
        // As many as may come at once, and those of 1.6 s.
        #expect((50...52).contains(left.count))
        for _ in 0..<100 {
            scene.advance(16)
            left += scene.take().previews
        }
        #expect(left.map(\.element.text) == left.indices.map { Self.ten[$0 % 10] })
        #expect(left.reduce(0) { $0 + $1.folded } == 1000)
        #expect(scene.gateway.relay.connections.restless.isEmpty)
        Self.move(["f"], by: ada, &scene)
        #expect(Self.left(scene.take()) == ["f"])
    }

    @Test func theCursorAndTheSelectionGoByTurnsWithPreviews() throws {
        var scene = Self.scene(perSecond: 20)
        let ada = try scene.member("ada")
        var left: [String] = []
        for step in 0..<100 {
            Self.move(Self.ten, by: ada, &scene)
            scene.send(ada, "cursor:moving", #"{"roomId":"r","x":\#(step),"y":0}"#)
            scene.send(ada, "selection:set", #"{"roomId":"r","elementIds":["s\#(step)"]}"#)
            scene.advance(16)
            left += Self.left(scene.take())
        }
        // The first came at once.
        let late = Array(left.dropFirst(20))
        try #require(late.count > 20)
        for start in 0...late.count - 4 {
            let window = Set(late[start..<start + 4])
            #expect(window.count == 4 && window.isSuperset(of: ["cursor", "selection"]))
        }
        let elements = left.filter { $0.hasPrefix("e") }
        #expect(elements == elements.indices.map { Self.ten[$0 % 10] })
    }

    @Test func roomsGoByTurns() throws {
        var scene = Self.scene(perSecond: 20)
        let ada = try scene.member("ada")
        scene.send(ada, "room:join", #"{"roomId":"r2"}"#, ack: 1)
        scene.answerJoins(sid: "s2")
        _ = scene.take()
        var left: [Preview] = []
        for _ in 0..<100 {
            Self.move(Array(Self.ten.dropLast()), by: ada, &scene)
            Self.move(["e"], by: ada, in: "r2", &scene)
            scene.advance(16)
            left += scene.take().previews
        }
        let late = left.dropFirst(20).map(\.room.text)
        #expect(late.count > 20)
        #expect(late == late.indices.map { $0 % 2 == 0 ? "r" : "r2" })
    }

    /// The bucket is the connection's, and its moments of plenty are not for whoever comes just then.
    @Test func nothingNewOvertakesWhatWaits() throws {
        var scene = Self.scene(perSecond: 2)
        let ada = try scene.member("ada")
        Self.move(["a", "b", "c", "d"], by: ada, &scene)
        #expect(Self.left(scene.take()) == ["a", "b"])
        scene.now += 1000
        Self.move(["e"], by: ada, &scene)
        scene.send(ada, "cursor:moving", #"{"roomId":"r","x":1,"y":2}"#)
        #expect(Self.left(scene.take()) == [])
        scene.advance(0)
        #expect(Self.left(scene.take()) == ["c", "cursor"])
        scene.advance(1000)
        #expect(Self.left(scene.take()) == ["d", "e"])
        #expect(scene.gateway.relay.connections.restless.isEmpty)
        scene.advance(500)
        Self.move(["f"], by: ada, &scene)
        #expect(Self.left(scene.take()) == ["f"])
    }

    @Test func belowTheRateNothingWaitsForWhatWaitsForAResult() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        scene.send(ada, "element:transform", Self.move("e"), ack: 1)
        let commit = try #require(scene.take().commits.first)
        Self.move(["e", "f"], by: ada, &scene)
        #expect(Self.left(scene.take()) == ["f"])
        scene.gateway.resultReceived(result(of: commit, seq: 9), at: scene.moment, into: &scene.actions)
        Self.move(["f", "e", "f"], by: ada, &scene)
        #expect(Self.left(scene.take()) == ["f", "e", "f"])
        scene.advance(16)
        #expect(Self.left(scene.take()) == [])
        #expect(scene.gateway.relay.connections.restless.isEmpty)
    }

    @Test func aGestureThatEndsWhileItWaitsTakesNoTurn() throws {
        var scene = Self.scene(perSecond: 2)
        let ada = try scene.member("ada")
        Self.move(["x", "y", "a", "b", "c"], by: ada, &scene)
        scene.send(ada, "element:transform", Self.move("a"), ack: 1)
        let commit = try #require(scene.take().commits.first)
        scene.advance(500)
        #expect(Self.left(scene.take()) == ["b"])
        // The next gesture waits for the result, which comes when all others have gone.
        Self.move(["a"], by: ada, &scene)
        scene.advance(500)
        #expect(Self.left(scene.take()) == ["c"])
        scene.gateway.resultReceived(result(of: commit, seq: 9), at: scene.moment, into: &scene.actions)
        scene.advance(500)
        let last = scene.take().previews
        #expect(last.map(\.element) == ["a"] && last.map(\.after) == [9] && last.map(\.gesture) == [6])
        #expect(scene.gateway.relay.connections.restless.isEmpty)
    }

    @Test func aGroupTakesOneTurn() throws {
        var scene = Self.scene(perSecond: 2)
        let ada = try scene.member("ada")
        let group = #"{"roomId":"r","elements":["a","b"],"pivot":{"x":0,"y":0},"rotation":5}"#
        Self.move(["p", "q", "x"], by: ada, &scene)
        scene.send(ada, "elements:gesturing", group)
        Self.move(["y"], by: ada, &scene)
        #expect(Self.left(scene.take()) == ["p", "q"])
        for turn in [["x"], ["a", "b"], ["y"], []] {
            scene.advance(500)
            #expect(Self.left(scene.take()) == turn)
        }
    }

    /// Each place too many would be a turn too many, ahead of others that have waited longer.
    @Test func gesturesThatEndWhileTheyWaitDoNotPileUp() throws {
        var scene = Self.scene(perSecond: 1)
        let ada = try scene.member("ada")
        Self.move(["x", "a"], by: ada, &scene)
        for seq in 1...100 as ClosedRange<UInt64> {
            let element = seq % 2 == 0 ? "b" : "c"
            Self.move([element], by: ada, &scene)
            scene.send(ada, "element:transform", Self.move(element), ack: seq)
            let commit = try #require(scene.take().commits.first)
            scene.gateway.resultReceived(result(of: commit, seq: seq), at: scene.moment, into: &scene.actions)
        }
        Self.move(["b", "c", "d"], by: ada, &scene)
        for turn in ["a", "c"] {
            scene.advance(1000)
            #expect(Self.left(scene.take()) == [turn])
        }
        Self.move(["c"], by: ada, &scene)
        for turn in ["b", "d", "c"] {
            scene.advance(1000)
            #expect(Self.left(scene.take()) == [turn])
        }
        #expect(scene.gateway.relay.connections.restless.isEmpty)
    }

    /// A room that was left takes its queue along, and its turn.
    @Test func aRoomThatWasLeftHoldsNobodyUp() throws {
        var scene = Self.scene(perSecond: 2)
        let ada = try scene.member("ada")
        scene.send(ada, "room:join", #"{"roomId":"r2"}"#, ack: 1)
        scene.answerJoins(sid: "s2")
        _ = scene.take()
        Self.move(["x", "y", "a", "b"], by: ada, &scene)
        Self.move(["c"], by: ada, in: "r2", &scene)
        _ = scene.take()
        scene.send(ada, "room:leave", #"{"roomId":"r"}"#)
        // What it moved last is shown, whatever the rate.
        #expect(Set(Self.left(scene.take())) == ["a", "b"])
        scene.advance(500)
        #expect(Self.left(scene.take()) == ["c"])
        #expect(scene.gateway.relay.connections.restless.isEmpty)
    }
}
