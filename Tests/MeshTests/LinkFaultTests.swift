import Glibc
import PipelineTestKit
import Testing
import Wire

@testable import Mesh

/// Peers that die, freeze, lie or are no peers at all.
@Suite(.timeLimit(.minutes(2)), .serialized)
struct LinkFaultTests {
    /// Quick liveness for scripted peers.
    static var quick: LivenessSettings {
        var settings = LivenessSettings()
        settings.beat = .milliseconds(50)
        settings.silence = .milliseconds(400)
        settings.helloLimit = .milliseconds(200)
        settings.backoffMinimum = .milliseconds(10)
        settings.backoffMaximum = .milliseconds(50)
        return settings
    }

    /// Short pauses between attempts, but patience with a busy machine.
    static var patient: LivenessSettings {
        var settings = LivenessSettings()
        settings.backoffMinimum = .milliseconds(10)
        settings.backoffMaximum = .milliseconds(50)
        return settings
    }

    static func hello(version: UInt16 = version, name: String = "raw", instance: UInt64 = 1) -> [UInt8] {
        Hello(LinkIdentity(name: name, versions: version...version), instance: instance, incarnation: 0).encoded()
    }

    // MARK: Processes

    @Test func aKilledServerIsNoticedAtOnce() async throws {
        let directory = try TemporaryFolder()
        let endpoint = try directory.endpoint()
        let child = try ChildProcess("serve", endpoint.description)
        let dial = try Probe.dial(endpoint)
        try await dial.sees(.up("child"))
        child.end()
        try await dial.sees(.down(.disconnected), within: .seconds(2))
        // Its socket file is left behind; the successor replaces it.
        let successor = try ChildProcess("serve", endpoint.description)
        try await eventually("up again") { dial.dial.ups == 2 }
        successor.end()
        try await dial.stop()
    }

    @Test func aKilledDiallerIsNoticedAtOnce() async throws {
        let directory = try TemporaryFolder()
        let server = try Probe.server(try directory.endpoint())
        let child = try ChildProcess("dial", try directory.endpoint().description)
        let peer = try await server.firstPeer()
        child.end()
        try await server.sees(.peerDown(peer, .disconnected), within: .seconds(2))
        try await server.stop()
    }

    @Test func aFrozenServerIsNoticedAndForgetsWhatItMissed() async throws {
        let directory = try TemporaryFolder()
        let endpoint = try directory.endpoint()
        let child = try ChildProcess("serve", endpoint.description)
        let dial = try Probe.dial(endpoint)
        try await dial.sees(.up("child"))
        child.freeze()
        let frozen = ContinuousClock.now
        dial.post { for number in 0..<100 { _ = $0.dial?.send(bytes(number)) } }
        try await dial.sees(.down(.silent), within: .seconds(4))
        #expect(ContinuousClock.now - frozen <= .milliseconds(3200))
        child.thaw()
        try await eventually("up again") { dial.dial.ups == 2 }
        dial.post { _ = $0.dial?.send([42]) }
        try await dial.sees(.message([[42]]))
        #expect(dial.messages == [[[42]]])
        child.end()
        try await dial.stop()
    }

    @Test func aFrozenDiallerIsNoticedAndStartsAgain() async throws {
        let directory = try TemporaryFolder()
        let server = try Probe.server(try directory.endpoint())
        let child = try ChildProcess("dial", try directory.endpoint().description)
        let peer = try await server.firstPeer()
        child.freeze()
        try await server.sees(.peerDown(peer, .silent), within: .seconds(4))
        child.thaw()
        try await eventually("up again") { server.server.ups == 2 }
        #expect(try await server.firstPeer() != peer)
        child.end()
        try await server.stop()
    }

    @Test func stoppingNeverHangsOnAFrozenPeerWithUnsentMessages() async throws {
        let directory = try TemporaryFolder()
        let endpoint = try directory.endpoint()
        let child = try ChildProcess("serve", endpoint.description)
        let dial = try Probe.dial(endpoint)
        try await dial.sees(.up("child"))
        child.freeze()
        let content = [UInt8](repeating: 0, count: 100_000)
        let taken = await dial.ask { loop in (0..<5000).prefix { _ in loop.dial?.send(content) == .sent }.count }
        #expect(taken > 100 && taken < 5000)
        let start = ContinuousClock.now
        try await dial.stop()
        #expect(ContinuousClock.now - start < .milliseconds(2500))
        child.end()
    }

    // MARK: Scripted peers

    @Test func aPeerThatFallsSilentIsToldToStartAgain() async throws {
        let directory = try TemporaryFolder()
        let server = try Probe.server(try directory.endpoint(), liveness: LinkFaultTests.quick)
        let raw = try Probe.raw(.dealer, try directory.endpoint())
        raw.post { $0.raw?.send([[0], LinkFaultTests.hello()]) }
        let peer = try await server.firstPeer()
        try await eventually("hello and beats") { raw.messages.count >= 3 }
        #expect(raw.messages[0].first == [0])
        #expect(raw.messages[1] == [[1]])
        try await server.sees(.peerDown(peer, .silent))
        raw.post { $0.raw?.send([[4], [1]]) }
        try await raw.sees(.message([[3]]))
        try await eventually("counted") { server.server.droppedUnknown == 1 }
        // It may greet again on the same connection.
        raw.post { $0.raw?.send([[0], LinkFaultTests.hello()]) }
        try await eventually("up again") { server.server.ups == 2 }
        try await raw.stop()
        try await server.stop()
    }

    @Test func aNewerConnectionOfTheSameLinkReplacesTheOlder() async throws {
        let directory = try TemporaryFolder()
        let server = try Probe.server(try directory.endpoint())
        let first = try Probe.raw(.dealer, try directory.endpoint())
        first.post { $0.raw?.send([[0], LinkFaultTests.hello(instance: 5)]) }
        let old = try await server.firstPeer()
        let second = try Probe.raw(.dealer, try directory.endpoint())
        second.post { $0.raw?.send([[0], LinkFaultTests.hello(instance: 5)]) }
        try await server.sees(.peerDown(old, .replaced))
        try await eventually("up") { server.server.ups == 2 }
        try await first.stop()
        try await second.stop()
        try await server.stop()
    }

    @Test func aServerThatNeverGreetsIsTriedAgain() async throws {
        let directory = try TemporaryFolder()
        let raw = try Probe.raw(.router, try directory.endpoint())
        let dial = try Probe.dial(try directory.endpoint(), liveness: LinkFaultTests.quick)
        try await eventually("several attempts") { dial.dial.reconnects >= 3 }
        #expect(dial.seen.isEmpty)
        // Every attempt comes under a routing id of its own.
        let ids = raw.messages.compactMap(\.first)
        #expect(Set(ids).count == ids.count && ids.count >= 3)
        try await dial.stop()
        try await raw.stop()
    }

    @Test func garbageIsDroppedAndCounted() async throws {
        let directory = try TemporaryFolder()
        let server = try Probe.server(try directory.endpoint())
        let good = try Probe.dial(try directory.endpoint())
        try await good.sees(.up("server"))
        let raw = try Probe.raw(.dealer, try directory.endpoint())
        let seed = UInt64.random(in: 0 ... .max)
        raw.post { loop in
            var random = SplitMix64(seed: seed)
            for _ in 0..<2000 {
                let frames = (0..<Int.random(in: 1...20, using: &random)).map { _ in
                    (0..<Int.random(in: 0...24, using: &random)).map { _ in UInt8.random(in: 0...6, using: &random) }
                }
                loop.raw?.send(frames)
            }
            // Right kinds, wrong shapes; hellos cut at every byte.
            for kind in UInt8(0)...6 { loop.raw?.send([[kind], [], [1]]) }
            let hello = LinkFaultTests.hello()
            for length in 0..<hello.count { loop.raw?.send([[0], Array(hello.prefix(length))]) }
            loop.raw?.send([[0], hello])
        }
        try await eventually("the good hello after all, seed \(seed)") { server.server.ups >= 2 }
        let counters = server.server
        #expect(counters.droppedMalformed > 100 && counters.droppedFrames > 10, "seed \(seed)")
        #expect(!server.seen.contains { if case .peerDown(_, _) = $0 { true } else { false } }, "seed \(seed)")
        good.post { _ = $0.dial?.send([9]) }
        try await eventually("still good") { server.messages.contains([[9]]) }
        try await raw.stop()
        try await good.stop()
        try await server.stop()
    }

    @Test func garbageFromAServerDoesNotHurtADialler() async throws {
        let directory = try TemporaryFolder()
        let raw = try Probe.raw(.router, try directory.endpoint())
        let dial = try Probe.dial(try directory.endpoint())
        try await eventually("its hello") { raw.messages.count == 1 }
        let id = raw.messages[0][0]
        let seed = UInt64.random(in: 0 ... .max)
        raw.post { loop in
            loop.raw?.send([id, [0], LinkFaultTests.hello()])
            var random = SplitMix64(seed: seed)
            for _ in 0..<1000 {
                // No first frame of one byte: that could be a goodbye.
                let frames = (0..<Int.random(in: 1...20, using: &random)).map { _ in
                    (0..<Int.random(in: 2...24, using: &random)).map { _ in UInt8.random(in: 0...6, using: &random) }
                }
                loop.raw?.send([id] + frames)
            }
            loop.raw?.send([id, [0], LinkFaultTests.hello()])
            loop.raw?.send([id, [0], []])
            loop.raw?.send([id, [4]])
            loop.raw?.send([id, [4], [77]])
        }
        try await dial.sees(.message([[77]]))
        #expect(dial.seen == [.up("raw"), .message([[77]])], "seed \(seed)")
        #expect(dial.dial.droppedMalformed > 100, "seed \(seed)")
        try await dial.stop()
        try await raw.stop()
    }

    @Test func anOversizeMessageCostsThePeerItsConnectionOnly() async throws {
        let directory = try TemporaryFolder()
        var options = LinkOptions()
        options.maximumMessageBytes = 1000
        let server = try Probe.server(try directory.endpoint(), options: options)
        let bad = try Probe.dial(try directory.endpoint(), name: "bad", liveness: LinkFaultTests.quick)
        let good = try Probe.dial(try directory.endpoint(), name: "good")
        try await bad.sees(.up("server"))
        try await good.sees(.up("server"))
        bad.post { _ = $0.dial?.send([UInt8](repeating: 0, count: 1001)) }
        try await bad.sees(.down(.disconnected))
        try await eventually("back") { bad.dial.ups == 2 }
        good.post { _ = $0.dial?.send([UInt8](repeating: 0, count: 1000)) }
        try await eventually("the good one") { server.messages.count == 1 }
        #expect(good.dial.downs == 0)
        for probe in [bad, good, server] { try await probe.stop() }
    }

    @Test func strangersOnThePortDoNotMatter() async throws {
        let server = try Probe.server(try Endpoint("tcp://127.0.0.1:0"), echoes: true)
        let endpoint = try #require(await server.ask { $0.server?.endpoint })
        guard case .tcp(_, let port) = endpoint.kind else { throw Timeout(description: "no port") }
        let greetings: [[UInt8]] = [
            Array("GET / HTTP/1.1\r\nHost: x\r\n\r\n".utf8), [0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3],
            [1, 0], [0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x7f, 1],
            [0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x7f, 3, 0] + Array("CURVE".utf8),
            (0..<4096).map { _ in UInt8.random(in: 0...255) }, [],
        ]
        var strangers: [Int32] = []
        for greeting in greetings { strangers.append(try connectRaw(to: port, greeting)) }
        let dial = try Probe.dial(endpoint)
        try await dial.sees(.up("server"))
        dial.post { _ = $0.dial?.send([5]) }
        try await dial.sees(.message([[5]]))
        #expect(server.server.ups == 1)
        // Also those who say nothing are closed, at the latest by the handshake's limit.
        for stranger in strangers {
            try await eventually("closed", within: .seconds(5)) {
                var byte: UInt8 = 0
                let count = recv(stranger, &byte, 1, Int32(MSG_DONTWAIT))
                return count == 0 || (count < 0 && errno == ECONNRESET)
            }
            close(stranger)
        }
        try await dial.stop()
        try await server.stop()
    }
}
