import Auth
import Testing
import Timing
import Wire

@testable import GatewayCore

/// What apps tell each other in passing.
@Suite struct SignalTests {
    private static let wave = #"{"roomId":"r","name":"wave","data":[1, null]}"#

    private static func signals(_ actions: [GatewayAction]) -> [RoomSignal] {
        actions.compactMap { if case .fanout(_, .signal(let signal)) = $0 { signal } else { nil } }
    }

    @Test func itGoesToTheFanoutAndIsAcknowledged() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        scene.send(ada, "room:signal", Self.wave, ack: 1)
        scene.send(ada, "room:signal", Self.wave, ack: 2)
        let actions = scene.take()
        let signal = RoomSignal(
            room: "r", connection: scene.gateway.relay.connections.id(in: ada), user: "ada", sid: "s-ada", name: "wave",
            data: Array("[1, null]".utf8))
        #expect(Self.signals(actions) == [signal, signal] && actions.acknowledged == [1, 2])
    }

    @Test func theOthersOfTheFullContractGetIt() throws {
        var scene = Scene()
        let (ada, ben) = (try scene.member("ada"), try scene.member("ben"))
        let old = try scene.member("old", isV1: true)
        for (data, text) in [("[1]", "[1]"), ("", "null")] {
            let signal = RoomSignal(
                room: "r", connection: scene.gateway.relay.connections.id(in: ada), user: "ada", sid: "s-ada",
                name: "wave",
                data: Array(data.utf8))
            scene.gateway.relay.signalReceived(signal, into: &scene.actions)
            let actions = scene.take()
            let event = #"["room:signaled",{"roomId":"r","userId":"ada","sid":"s-ada","name":"wave","data":\#(text)}]"#
            #expect(actions.texts(for: ben) == [event])
            #expect(actions.texts(for: ada).isEmpty && actions.texts(for: old).isEmpty)
        }
    }

    @Test func itCountsForTheRateOfCommits() throws {
        var limits = GatewayLimits()
        (limits.commitsPerSecond, limits.commitBurst) = (2, 3)
        var scene = Scene(limits: limits)
        let ada = try scene.member("ada")
        for ack: UInt64 in 1...4 { scene.send(ada, "room:signal", Self.wave, ack: ack) }
        let actions = scene.take()
        #expect(Self.signals(actions).count == 3)
        #expect(actions.texts(for: ada).last?.contains(#""code":"rate_limited""#) == true)
        scene.now += 500
        scene.send(ada, "room:signal", Self.wave, ack: 5)
        #expect(Self.signals(scene.take()).count == 1)
    }

    @Test func whoIsNotThereOrHasLostItsSessionTellsNothing() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        scene.send(ada, "room:signal", #"{"roomId":"q","name":"wave"}"#, ack: 1)
        scene.gateway.relay.sessionClaimed(SessionClaimed(room: "r", sid: "s-ada", sessionEpoch: 2))
        scene.send(ada, "room:signal", Self.wave, ack: 2)
        let actions = scene.take()
        #expect(Self.signals(actions).isEmpty)
        let texts = actions.texts(for: ada)
        #expect(texts.first?.contains(#""code":"forbidden""#) == true)
        #expect(texts.last?.contains(#""code":"session_expired""#) == true)
    }

    @Test(arguments: [
        (#"{"roomId":"r"}"#, "name"), (#"{"roomId":"r","name":""}"#, "name"), (#"{"roomId":"r","name":5}"#, "name"),
        (#"{"roomId":"r","name":"\#(String(repeating: "n", count: 65))"}"#, "name"),
        (#"{"roomId":"r","name":"n","data":"\#(String(repeating: "d", count: 4095))"}"#, "data"),
    ])
    func malformedOnesAreRefused(payload: String, field: String) throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        scene.send(ada, "room:signal", payload, ack: 1)
        let actions = scene.take()
        #expect(Self.signals(actions).isEmpty)
        #expect(actions.texts(for: ada).first?.contains(#""field":"\#(field)""#) == true)
    }
}
