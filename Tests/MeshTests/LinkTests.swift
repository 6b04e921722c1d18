import Dispatch
import PipelineTestKit
import Testing

@testable import Mesh

/// Two reactors in one process over real sockets.
@Suite(.timeLimit(.minutes(1)))
struct LinkTests {
    @Test(arguments: ["ipc", "tcp"])
    func messagesArriveInOrderBothWays(transport: String) async throws {
        let directory = try TemporaryFolder()
        let bound = transport == "ipc" ? try directory.endpoint() : try Endpoint("tcp://127.0.0.1:0")
        let server = try Probe.server(bound, echoes: true)
        let endpoint = try #require(await server.ask { $0.server?.endpoint })
        #expect(endpoint.isConnectable)
        let dial = try Probe.dial(endpoint)
        try await dial.sees(.up("server"))
        try await eventually("the dialler") {
            server.seen.contains { if case .peerUp(_, "dialler") = $0 { true } else { false } }
        }
        // More than the budget of one turn, in several posts, so that batches are cut and continued.
        let count = 3000
        for start in stride(from: 0, to: count, by: 500) {
            dial.post { loop in
                for number in start..<(start + 500) {
                    #expect(loop.dial?.send(bytes(number)) == .sent)
                }
            }
            try await eventually("echoes up to \(start + 500)") { dial.messages.count == start + 500 }
        }
        #expect(dial.messages == (0..<count).map { [bytes($0)] })
        #expect(dial.dial.sent == UInt64(count))
        #expect(dial.dial.received == UInt64(count))
        #expect(dial.dial.receivedBytes == UInt64(4 * count))
        try await eventually("counted") {
            server.server.received == UInt64(count) && server.server.sent == UInt64(count)
        }
        try await dial.stop()
        try await server.stop()
    }

    @Test func messagesOfAnySizeArriveWhole() async throws {
        let directory = try TemporaryFolder()
        let server = try Probe.server(try directory.endpoint())
        let dial = try Probe.dial(try directory.endpoint())
        try await dial.sees(.up("server"))
        let messages = [0, 1, 33, 34, 300_000].map { [UInt8](repeating: 7, count: $0) }
        dial.post { loop in for message in messages { #expect(loop.dial?.send(message) == .sent) } }
        try await eventually("all") { server.messages.count == messages.count }
        #expect(server.messages == messages.map { [$0] })
        try await dial.stop()
        try await server.stop()
    }

    @Test func messagesOfAFewFramesArriveWholeAndLongerOnesAreDropped() async throws {
        let directory = try TemporaryFolder()
        let server = try Probe.server(try directory.endpoint())
        let raw = try Probe.raw(.dealer, try directory.endpoint())
        let messages: [[[UInt8]]] = [
            [[]], [[UInt8](repeating: 9, count: 300_000), [], [1, 2]], (0..<16).map { [$0] },
        ]
        raw.post { loop in
            loop.raw?.send([[0], LinkFaultTests.hello()])
            for message in messages { loop.raw?.send([[4]] + message) }
            // One more than the server takes: dropped there, and counted.
            loop.raw?.send([[4]] + (0..<17).map { [$0] })
            loop.raw?.send([[4], [1]])
        }
        try await eventually("all") { server.messages.count == messages.count + 1 }
        #expect(server.messages == messages + [[[1]]])
        try await eventually("the drop") { server.server.droppedFrames == 1 }
        try await raw.stop()
        try await server.stop()
    }

    @Test func aMessageReachesManyPeers() async throws {
        let directory = try TemporaryFolder()
        let server = try Probe.server(try directory.endpoint())
        let dials = try (0..<3).map { try Probe.dial(try directory.endpoint(), name: "dialler-\($0)") }
        for dial in dials { try await dial.sees(.up("server")) }
        let content = [UInt8](repeating: 42, count: 1000)
        server.post { loop in
            for peer in loop.server?.peers ?? [] { #expect(loop.server?.send(content, to: peer) == .sent) }
        }
        for dial in dials { try await dial.sees(.message([content])) }
        for dial in dials { try await dial.stop() }
        try await server.stop()
    }

    @Test func stoppingSaysGoodbyeAtOnce() async throws {
        let directory = try TemporaryFolder()
        let server = try Probe.server(try directory.endpoint())
        let dial = try Probe.dial(try directory.endpoint())
        let peer = try await server.firstPeer()
        try await dial.sees(.up("server"))
        // The last words before the end arrive before the goodbye.
        dial.post { loop in for number in 0..<600 { #expect(loop.dial?.send(bytes(number)) == .sent) } }
        try await dial.stop()
        try await server.sees(.peerDown(peer, .goodbye), within: .seconds(2))
        #expect(server.messages.count == 600)
        #expect(server.seen.last == .peerDown(peer, .goodbye))

        let again = try Probe.dial(try directory.endpoint())
        try await again.sees(.up("server"))
        server.post { loop in
            for peer in loop.server?.peers ?? [] {
                for number in 0..<600 { #expect(loop.server?.send(bytes(number), to: peer) == .sent) }
            }
        }
        try await server.stop()
        try await again.sees(.down(.goodbye), within: .seconds(2))
        #expect(again.messages.count == 600)
        try await again.stop()
    }

    @Test func eitherSideMayRestart() async throws {
        let directory = try TemporaryFolder()
        let endpoint = try directory.endpoint()
        let dial = try Probe.dial(endpoint)  // Before anybody listens.
        for round in 1...3 {
            let server = try Probe.server(endpoint, name: "server-\(round)")
            try await dial.sees(.up("server-\(round)"))
            dial.post { #expect($0.dial?.send(bytes(round)) == .sent) }
            try await eventually("the message") { server.messages == [[bytes(round)]] }
            try await server.stop()
            try await eventually("down") { dial.dial.downs == UInt64(round) }
            let result = await dial.ask { $0.dial?.send([0]) }
            #expect(result == .unroutable)
        }
        #expect(dial.dial.reconnects >= 2)
        try await dial.stop()

        let server = try Probe.server(endpoint)
        for round in 1...3 {
            let dial = try Probe.dial(endpoint, name: "dialler-\(round)")
            try await dial.sees(.up("server"))
            try await dial.stop()
        }
        try await eventually("all gone") { server.server.ups == 3 && server.server.downs == 3 }
        try await server.stop()
    }

    @Test func aServerThatRestsSaysSo() async throws {
        let directory = try TemporaryFolder()
        var liveness = LivenessSettings()
        liveness.beat = .milliseconds(50)
        let server = try Probe.server(try directory.endpoint(), liveness: liveness)
        await server.ask { $0.server?.isResting = true }
        let dial = try Probe.dial(try directory.endpoint())
        try await dial.sees(.up("server"))
        // It was told before the hello, so there is no moment in which it would be chosen.
        #expect(await dial.ask { $0.dial?.isResting } == true)
        var expected = [Seen.up("server")]
        for isResting in [false, true, false, true] {
            await server.ask { $0.server?.isResting = isResting }
            expected.append(.resting(isResting))
            try await eventually("\(isResting)") { dial.seen == expected }
        }
        // The link carries on all the while, and the beats agree.
        let beats = server.server.beats
        try await eventually("beats") { server.server.beats > beats + 2 }
        #expect(dial.seen == expected)
        dial.post { #expect($0.dial?.send([7]) == .sent) }
        try await eventually("the message") { server.messages == [[[7]]] }
        try await server.stop()
        try await dial.sees(.down(.goodbye))
        #expect(await dial.ask { $0.dial?.isResting } == false)
        try await dial.stop()
    }

    @Test func whoTakesNothingIsToldLaterThatTheServerRests() async throws {
        let directory = try TemporaryFolder()
        let options = LinkOptions(sendHighWater: 10, receiveHighWater: 10)
        let server = try Probe.server(try directory.endpoint(), options: options)
        let dial = try Probe.dial(try directory.endpoint(), options: options)
        let peer = try await server.firstPeer()
        try await dial.sees(.up("server"))
        // The dialler reads nothing until it may go on.
        let mayGoOn = DispatchSemaphore(value: 0)
        await withCheckedContinuation { (isHeld: CheckedContinuation<Void, Never>) in
            dial.post { _ in
                isHeld.resume()
                mayGoOn.wait()
            }
        }
        let content = [UInt8](repeating: 1, count: 200_000)
        await server.ask { loop in
            while loop.server?.send(content, to: peer) == .sent {}
            loop.server?.isResting = true
        }
        mayGoOn.signal()
        try await dial.sees(.resting(true))
        try await dial.stop()
        try await server.stop()
    }

    @Test func aFullPeerBlocksAndThenSaysWritable() async throws {
        let directory = try TemporaryFolder()
        let options = LinkOptions(sendHighWater: 10, receiveHighWater: 10)
        let server = try Probe.server(try directory.endpoint(), options: options)
        let dial = try Probe.dial(try directory.endpoint(), options: options)
        let peer = try await server.firstPeer()
        try await dial.sees(.up("server"))
        // Dialler to server. Within one post the server may read, so send until it blocks.
        let content = [UInt8](repeating: 1, count: 200_000)
        let sent = await dial.ask { loop -> Int in
            for count in 0..<100_000 where loop.dial?.send(content) != .sent { return count }
            return -1
        }
        #expect(sent > 0)
        try await dial.sees(.writable)
        #expect(dial.dial.wouldBlock == 1)
        try await eventually("all that was taken") { server.messages.count == sent }
        // Server to dialler.
        let back = await server.ask { loop -> Int in
            for count in 0..<100_000 where loop.server?.send(content, to: peer) != .sent { return count }
            return -1
        }
        #expect(back > 0)
        try await server.sees(.peerWritable(peer))
        try await eventually("all that was taken") { dial.messages.count == back }
        try await dial.stop()
        try await server.stop()
    }

    @Test func nobodyIsUnroutable() async throws {
        let directory = try TemporaryFolder()
        let dial = try Probe.dial(try directory.endpoint())
        #expect(await dial.ask { $0.dial?.send([1]) } == .unroutable)
        let server = try Probe.server(try directory.endpoint())
        let peer = try await server.firstPeer()
        try await dial.stop()
        try await server.sees(.peerDown(peer, .goodbye))
        #expect(await server.ask { $0.server?.send([1], to: peer) } == .unroutable)
        #expect(await server.ask { $0.server?.hello(of: peer) } == nil)
        try await eventually("counted") { server.server.unroutable == 1 }
        try await server.stop()
    }

    @Test func anotherVersionIsRefusedUntilItIsTheSame() async throws {
        let directory = try TemporaryFolder()
        let old = try Probe.server(try directory.endpoint(), versions: 6...6)
        let dial = try Probe.dial(try directory.endpoint())
        try await dial.sees(.down(.refused))
        try await eventually("counted") { old.server.refused >= 1 && dial.dial.refused >= 1 }
        #expect(old.seen.isEmpty)
        try await old.stop()
        let new = try Probe.server(try directory.endpoint())
        try await dial.sees(.up("server"))
        try await dial.stop()
        try await new.stop()
    }

    /// The first is the dialling side's range, the second the bound side's.
    @Test(
        arguments: [
            (7...7, 7...8), (7...8, 7...7), (7...8, 8...9), (8...9, 7...8), (7...9, 8...8), (8...8, 7...9),
        ] as [(ClosedRange<UInt16>, ClosedRange<UInt16>)])
    func sidesWithAVersionInCommonUnderstandEachOther(dialled: ClosedRange<UInt16>, bound: ClosedRange<UInt16>)
        async throws
    {
        let directory = try TemporaryFolder()
        let server = try Probe.server(try directory.endpoint(), echoes: true, versions: bound)
        let dial = try Probe.dial(try directory.endpoint(), versions: dialled)
        try await dial.sees(.up("server"))
        #expect(await dial.ask { $0.dial?.send([5]) } == .sent)
        try await dial.sees(.message([[5]]))
        try await dial.stop()
        try await server.stop()
    }

    @Test(arguments: [(6...7, 8...9), (8...9, 6...7)] as [(ClosedRange<UInt16>, ClosedRange<UInt16>)])
    func sidesWithoutAVersionInCommonSaySoUntilOneIsReplaced(dialled: ClosedRange<UInt16>, bound: ClosedRange<UInt16>)
        async throws
    {
        let directory = try TemporaryFolder()
        let endpoint = try directory.endpoint()
        let server = try Probe.server(endpoint, versions: bound)
        let dial = try Probe.dial(endpoint, versions: dialled)
        try await dial.sees(.down(.refused))
        let (own, other) = (dialled.text, bound.text)
        #expect(
            await dial.ask { $0.thread.incompatibleNote(own: dialled) }
                == "no version in common, this daemon speaks \(own): \(endpoint) speaks \(other)")
        #expect(
            await server.ask { $0.thread.incompatibleNote(own: bound) }
                == "no version in common, this daemon speaks \(other): dialler speaks \(own)")
        #expect(await dial.ask { $0.thread.refusals[.version] } >= 1)
        #expect(await server.ask { $0.thread.refusals[.version] } >= 1)
        #expect(server.seen.isEmpty)
        try await server.stop()
        let next = try Probe.server(endpoint, versions: 7...8)
        try await dial.sees(.up("server"))
        #expect(await dial.ask { $0.thread.incompatibleNote(own: dialled) } == nil)
        try await dial.stop()
        try await next.stop()
    }

    @Test func tooManyPeersAreTurnedAway() async throws {
        let directory = try TemporaryFolder()
        let server = try Probe.server(try directory.endpoint(), maximumPeers: 1)
        let first = try Probe.dial(try directory.endpoint(), name: "first")
        try await first.sees(.up("server"))
        let second = try Probe.dial(try directory.endpoint(), name: "second")
        try await eventually("turned away") { server.server.turnedAway >= 2 }
        #expect(second.seen.isEmpty)
        try await first.stop()
        try await second.sees(.up("server"))
        try await second.stop()
        try await server.stop()
    }

    @Test func aLiveListenerIsNotRobbed() async throws {
        let directory = try TemporaryFolder()
        let endpoint = try directory.endpoint()
        let first = try Probe.server(endpoint)
        _ = await first.ask { _ in true }
        let second = try Probe.server(endpoint)
        await #expect { try await second.reactor.ended() } throws: { ($0 as? MeshError)?.code == .addressInUse }
        let dial = try Probe.dial(endpoint)
        try await dial.sees(.up("server"))
        try await dial.stop()
        try await first.stop()
    }
}
