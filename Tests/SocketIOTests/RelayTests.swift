import NIOCore
import SocketIO
import SocketIOServer
import Testing

/// Two servers behind a proxy: clients of the owner reach another one, which relays.
@Suite struct RelayTests {
    private static let unknown = #"{"code":1,"message":"Session ID unknown"}"#
    private static let poll = "/engine.io/?EIO=4&transport=polling&sid="
    private static let socket = "/engine.io/?EIO=4&transport=websocket&sid="
    /// An id that the owner might have drawn.
    private static let foreign = "a.AAAAAAAAAAAAAAAAAAAA"

    /// A server that knows the one on `port` as the owner of ids that begin with "a.".
    private static func entry(
        to port: Int, _ configure: (inout SocketIOServer.Configuration) -> Void = { _ in }
    ) throws -> ServerFixture {
        try ServerFixture {
            $0.sidPrefix = "b."
            $0.neighbours = ["a.": .init(host: "127.0.0.1", port: port), "b.": .init(host: "127.0.0.1", port: 1)]
            configure(&$0)
        }
    }

    private let owner: ServerFixture
    private let entry: ServerFixture

    init() throws {
        self.owner = try ServerFixture { $0.sidPrefix = "a." }
        self.entry = try Self.entry(to: self.owner.port)
    }

    private func openSession() throws -> String {
        let sid = try self.owner.openPolling(self.owner.client(), path: "/engine.io/")
        #expect(sid.hasPrefix("a."))
        return sid
    }

    private func relays() throws -> Int { try self.entry.onLoop { server, _ in server.relayCount } }

    @Test func pollingWorksByWayOfAnotherServer() throws {
        let (first, second) = (try self.openSession(), try self.openSession())
        let own = try self.entry.openPolling(self.entry.client(), path: "/engine.io/")
        let client = try self.entry.client()
        // One connection, as of a proxy, carries requests of sessions here and there.
        for round in 0..<20 {
            for sid in [first, own, second] {
                #expect(try client.ask(RawClient.post(Self.poll + sid, "4\(round) \(sid)")).body == "ok")
                let answer = try client.ask(RawClient.get(Self.poll + sid))
                #expect(answer.status == 200 && answer.body == "4\(round) \(sid)")
                #expect(answer.head.contains("Content-Type: text/plain; charset=UTF-8"))
                #expect(answer.head.ranges(of: "X-Content-Type-Options: nosniff").count == 1)
            }
        }
        // Sent at once, answered in order.
        client.send(RawClient.post(Self.poll + first, "4x") + RawClient.get(Self.poll + first))
        #expect(try client.response().body == "ok")
        #expect(try client.response().body == "4x")
        // HEAD has an answer without a body, and the connection goes on.
        client.send(RawClient.get(Self.poll + first).replacing("GET", with: "HEAD"))
        let headOnly = try client.head()
        #expect(headOnly.contains(" 400 "))
        #expect(try client.ask(RawClient.get("/")).status == 200)
        let (relayed, failures) = try self.entry.onLoop { server, _ in
            (server.statistics.relayedRequests, server.statistics.relayFailures)
        }
        #expect(relayed == 83 && failures == 0)
        #expect(try self.relays() == 0)
        // Two that opened sessions and one kept for all that was relayed.
        #expect(try self.owner.onLoop { server, _ in server.statistics.connections } == 3)
    }

    @Test func aPollIsHeldByItsOwner() throws {
        let sid = try self.openSession()
        let (poller, sender) = (try self.entry.client(), try self.owner.client())
        poller.send(RawClient.get(Self.poll + sid))
        #expect(try self.owner.eventually { server, _ in server.statistics.requests == 2 })
        #expect(try self.relays() == 1)
        _ = try sender.ask(RawClient.post(Self.poll + sid, "4hello"))
        #expect(try poller.response().body == "4hello")
        // A client that goes away ends its session, as it would there.
        poller.send(RawClient.get(Self.poll + sid))
        #expect(try self.owner.eventually { server, _ in server.statistics.requests == 4 })
        poller.close()
        #expect(try self.owner.eventually { server, _ in server.sessionCount == 0 })
        #expect(try self.relays() == 0)
    }

    @Test func anUpgradeIsRelayed() throws {
        let sid = try self.openSession()
        let poller = try self.entry.client()
        poller.send(RawClient.get(Self.poll + sid))
        #expect(try self.owner.eventually { server, _ in server.statistics.requests == 2 })
        let socket = try self.entry.client()
        // The probe may come in one piece with the request.
        socket.send(bytes(RawClient.upgrade(Self.socket + sid)) + clientText("2probe"))
        let switched = try socket.response()
        #expect(switched.status == 101 && switched.head.contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="))
        #expect(try socket.message() == "3probe")
        #expect(try poller.response().body == "6")
        #expect(try poller.ask(RawClient.get(Self.poll + sid)).body == "6")
        _ = try poller.ask(RawClient.post(Self.poll + sid, "4first"))
        socket.send(clientText("5") + clientText("4second"))
        #expect(try socket.message() == "4first")
        #expect(try socket.message() == "4second")
        let large = "4" + String(repeating: "x", count: 60_000)
        socket.sendText(large)
        #expect(try socket.message() == large)
        #expect(try self.relays() == 1)
        socket.sendText("1")
        #expect(try socket.closeCode() == 1000)
        #expect(try self.owner.eventually { server, _ in server.sessionCount == 0 })
        socket.close()
        #expect(try self.entry.eventually { server, _ in server.relayCount == 0 })
    }

    /// However it reaches its session, a client sends no more than its address may.
    @Test(arguments: ["WebSocket", "POST"])
    func whatIsRelayedCountsForTheAddressOfItsSession(transport: String) throws {
        let owner = try ServerFixture {
            $0.sidPrefix = "a."
            // Of a field that is not relayed: the connection from the other server names nobody.
            $0.proxies = TrustedProxies([AddressRange("127.0.0.0/8")].compactMap(\.self), source: .forwarded)
            $0.addressReads = ReadMeter(bytesPerSecond: 1 << 20, messagesPerSecond: 200)
        }
        func pauses() throws -> UInt64 { try owner.onLoop { server, _ in server.statistics.pausedReads } }
        func pausesOfFlood(headers: String) throws -> UInt64 {
            // Its own, as connections between servers are kept, and have a limit of their own.
            let entry = try Self.entry(to: owner.port)
            let open = RawClient.get("/engine.io/?EIO=4&transport=polling", headers: headers)
            let sid = ServerFixture.sid(try owner.client().ask(open).body)
            let (client, before) = (try entry.client(), try pauses())
            // Half a second's worth.
            let packets = (0..<100).map { "4\($0)" }
            if transport == "POST" {
                let posts = packets.joined(separator: "\u{1e}")
                for _ in 0..<2 { #expect(try client.ask(RawClient.post(Self.poll + sid, posts)).body == "ok") }
                return try pauses() - before
            }
            #expect(try client.ask(RawClient.upgrade(Self.socket + sid)).status == 101)
            client.send(clientText("2probe") + clientText("5"))
            #expect(try client.message() == "3probe")
            client.send(packets.flatMap { clientText($0) })
            for packet in packets { #expect(try client.message() == packet) }
            return try pauses() - before
        }
        #expect(try pausesOfFlood(headers: "") == 0, "loopback is not limited")
        #expect(try pausesOfFlood(headers: "Forwarded: for=203.0.113.7\r\n") > 0)
    }

    @Test func bothHalvesOfAnUpgradeEndTogether() throws {
        for ending in ["client", "owner", "entry"] {
            let sid = try self.openSession()
            let socket = try self.entry.client()
            #expect(try socket.ask(RawClient.upgrade(Self.socket + sid)).status == 101)
            socket.send(clientText("2probe") + clientText("5") + clientText("4here"))
            #expect(try socket.message() == "3probe")
            #expect(try socket.message() == "4here")
            switch ending {
            case "client":
                // What was sent last arrives.
                socket.sendText("4last")
                socket.close()
            case "owner":
                _ = try self.owner.onLoop { server, _ in server.drain(upTo: 1) }
                #expect(try socket.closeCode() == 1001)
            default:
                #expect(try self.entry.onLoop { server, _ in server.drain(upTo: 1) } == 0)
                try socket.waitForEnd()
            }
            #expect(try self.owner.eventually { server, _ in server.sessionCount == 0 }, "\(ending)")
            #expect(try self.entry.eventually { server, _ in server.relayCount == 0 }, "\(ending)")
        }
    }

    @Test func aStoppingServerEndsHeldPolls() throws {
        let sid = try self.openSession()
        let poller = try self.entry.client()
        poller.send(RawClient.get(Self.poll + sid))
        #expect(try self.owner.eventually { server, _ in server.statistics.requests == 2 })
        try self.entry.server.stopAccepting().wait()
        #expect(try self.entry.onLoop { server, _ in server.drain(upTo: 1) } == 0)
        #expect(try poller.response().body == Self.unknown)
        try poller.waitForEnd()
        #expect(try self.owner.eventually { server, _ in server.sessionCount == 0 })
    }

    @Test func aBodyMayBeAsLargeAsTheLimit() throws {
        let sid = try self.openSession()
        let client = try self.entry.client()
        let largest = "4" + String(repeating: "x", count: 65_535)
        #expect(try client.ask(RawClient.post(Self.poll + sid, largest)).body == "ok")
        #expect(try client.ask(RawClient.get(Self.poll + sid)).body == largest)
        let head = "POST \(Self.poll + sid) HTTP/1.1\r\nHost: h\r\n"
        let chunked = "\(head)Transfer-Encoding: chunked\r\n\r\n10000\r\n\(largest)\r\n0\r\n\r\n"
        #expect(try client.ask(chunked).body == "ok")
        #expect(try client.ask(RawClient.get(Self.poll + sid)).body == largest)
        #expect(try client.ask("\(head)Content-Length: 262145\r\n\r\n").status == 413)
        let other = try self.entry.client()
        #expect(try other.ask("\(head)Transfer-Encoding: chunked\r\n\r\n40001\r\n").status == 413)
        let third = try self.entry.client()
        #expect(try third.ask("\(head)Content-Length: 65537\r\n\r\n\(largest)x").status == 413)
        // None of that was the owner's to refuse.
        #expect(try self.owner.onLoop { server, _ in server.statistics.requests } == 5)
    }

    /// The owner gets several, none longer than one packet may be.
    @Test func aLongPostIsRelayedInParts() throws {
        let sid = try self.openSession()
        let client = try self.entry.client()
        let packets = (0..<9).map { "4\($0)" + String(repeating: "x", count: 28_000) }
        #expect(try client.ask(RawClient.post(Self.poll + sid, packets.joined(separator: "\u{1e}"))).body == "ok")
        var received: [String] = []
        while received.count < packets.count {
            received += try client.ask(RawClient.get(Self.poll + sid)).body.split(separator: "\u{1e}").map(String.init)
        }
        #expect(received == packets)
        // What the owner says to one part is the answer to all of them.
        let bad = (packets[..<3] + ["nonsense"] + packets[3...]).joined(separator: "\u{1e}")
        let refused = try client.ask(RawClient.post(Self.poll + sid, bad))
        #expect(refused.status == 400 && refused.head.contains("Connection: close"))
        try client.waitForEnd()
        let isOver = try self.owner.eventually { server, _ in server.sessionCount == 0 }
        #expect(isOver)
        #expect(try self.entry.eventually { server, _ in server.relayCount == 0 })
    }

    @Test func whatWasRelayedOnceIsNotRelayedAgain() throws {
        // Both believe that a third server has the session.
        let third = RawListener()
        let second = try Self.entry(to: third.port)
        let first = try Self.entry(to: second.port)
        #expect(try first.client().ask(RawClient.get(Self.poll + Self.foreign)).body == Self.unknown)
        #expect(try first.client().ask(RawClient.upgrade(Self.socket + Self.foreign)).body == Self.unknown)
        #expect(try first.onLoop { server, _ in server.statistics.relayedRequests } == 2)
        #expect(try second.onLoop { server, _ in server.statistics.relayedRequests } == 0)
        // A client that marks its request does itself out of the relay, no more.
        let marked = RawClient.get(Self.poll + Self.foreign, headers: "x-socketio-relayed: 0\r\n")
        #expect(try first.client().ask(marked).body == Self.unknown)
        #expect(try first.onLoop { server, _ in server.statistics.relayedRequests } == 2)
    }

    @Test(arguments: [
        "b.AAAAAAAAAAAAAAAAAAAA", "c.AAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAA", "a.", "a.x",
        "a.b.AAAAAAAAAAAAAAAAAAAA",
        "a.AAAAAAAAAAAAAAAAAA%20", "",
    ])
    func onlyWhatANeighbourMayHaveDrawnIsRelayed(_ sid: String) throws {
        #expect(try self.entry.client().ask(RawClient.get(Self.poll + sid)).body == Self.unknown)
        #expect(try self.entry.onLoop { server, _ in server.statistics.relayedRequests } == 0)
    }
}
