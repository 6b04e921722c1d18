import SocketIO
import SocketIOServer
import Testing
import Timing

/// What one client, one address and all together may use. Addresses are those that a trusted proxy on loopback names,
/// because loopback itself is not limited.
@Suite struct LimitsShellTests {
    private static let poll = "/socket.io/?EIO=4&transport=polling"

    private static func behindProxy(_ configuration: inout SocketIOServer.Configuration) {
        configuration.proxies = TrustedProxies(
            [AddressRange("127.0.0.0/8")].compactMap(\.self), source: .xForwardedFor)
    }

    private static func from(_ address: String) -> String { "X-Forwarded-For: \(address)\r\n" }

    @Test func unreadAnswersHoldUpTheNextRequests() throws {
        let fixture = try ServerFixture {
            $0.connectionReads = ReadMeter(bytesPerSecond: 1 << 30, messagesPerSecond: 1 << 24)
        }
        let client = try fixture.client()
        let requests = [UInt8](RawClient.post("/a", String(repeating: "x", count: 1000)).utf8)
        let many = [[UInt8]](repeating: requests, count: 200).flatMap(\.self)
        // Until neither side takes any more.
        var sent = 0
        var idle = 0
        while idle < 20 {
            let count = client.sendSome(many[(sent % requests.count)...])
            sent += count
            idle = count == 0 ? idle + 1 : 0
            if count == 0 { _ = try fixture.onLoop { server, _ in server.connectionCount } }
        }
        let isCounted = try fixture.eventually { server, _ in server.heldBytes > 0 }
        #expect(isCounted)
        let (held, answered) = try fixture.onLoop { server, _ in (server.heldBytes, server.statistics.requests) }
        #expect(held < 600_000)
        #expect(UInt64(sent / requests.count) > answered, "everything was answered, nothing was held up")
        // Once it reads, every request is answered.
        let whole = UInt64(sent / requests.count)
        for _ in 0..<whole { #expect(try client.response().status == 200) }
    }

    @Test func anAnswerIsHeldUntilItIsReadOrItsClientIsGone() throws {
        let fixture = try ServerFixture()
        let (reader, leaver) = (try fixture.client(), try fixture.client())
        for client in [reader, leaver] { client.send(RawClient.get("/large")) }
        let areSent = try fixture.eventually { $1.log.count == 2 }
        #expect(areSent)
        #expect(try fixture.log() == ["large answer", "large answer"])
        #expect(try reader.response().body.utf8.count == 8 << 20)
        let isRead = try fixture.eventually { $1.log.count == 3 }
        #expect(isRead)
        leaver.close()
        let isGone = try fixture.eventually { $1.log.count == 4 }
        #expect(isGone)
        #expect(try fixture.log().suffix(2) == ["large answer read", "large answer read"])
    }

    @Test func aFloodIsReadNoFasterThanAllowed() throws {
        let fixture = try ServerFixture {
            $0.connectionReads = ReadMeter(bytesPerSecond: 1 << 20, messagesPerSecond: 40)
        }
        let client = try fixture.connectedSocket()
        for number in 0..<60 { client.sendText(#"42["\#(number)"]"#) }
        // 5 together, CONNECT and the upgrade among them, then 40 a second; none is lost.
        #expect(try client.message() == #"42["0"]"#)
        let isPaused = try fixture.eventually { server, _ in server.statistics.pausedReads > 0 }
        #expect(isPaused)
        #expect(try fixture.log().count < 60)
        for number in 1..<60 { #expect(try client.message() == #"42["\#(number)"]"#) }
    }

    /// Six hundred times seven bytes are little; what each packet costs besides is not.
    @Test func packetsThatNoPollFetchesCountForMoreThanTheirBytes() throws {
        let fixture = try ServerFixture {
            $0.maxBufferedBytes = 100_000
            $0.connectionReads = ReadMeter(bytesPerSecond: 1 << 20, messagesPerSecond: 1 << 20)
        }
        let client = try fixture.client()
        func open(_ count: Int) throws -> String {
            let target = "\(Self.poll)&sid=\(try fixture.openPolling(client))"
            let packets = (["40"] + [String](repeating: #"42["x"]"#, count: count)).joined(separator: "\u{1e}")
            #expect(try client.ask(RawClient.post(target, packets)).status == 200)
            return target
        }
        let target = try open(400)
        #expect(try fixture.onLoop { _, application in application.sockets[0].bufferedBytes } > 400 * 192)
        // What is fetched counts no longer, so there is room for as many again.
        for _ in 0..<2 {
            for _ in 0..<26 { #expect(try client.ask(RawClient.get(target)).status == 200) }
            #expect(try fixture.onLoop { _, application in application.sockets[0].bufferedBytes } == 0)
            let packets = [String](repeating: #"42["x"]"#, count: 401).joined(separator: "\u{1e}")
            #expect(try client.ask(RawClient.post(target, packets)).status == 200)
        }
        #expect(try fixture.onLoop { server, _ in server.statistics.slowReaders } == 0)
        _ = try open(600)
        let isEnded = try fixture.eventually { server, _ in server.statistics.slowReaders == 1 }
        #expect(isEnded)
        #expect(try fixture.log().last == "disconnected slowReader")
    }

    @Test func sessionsAreCountedByAddress() throws {
        let fixture = try ServerFixture {
            Self.behindProxy(&$0)
            $0.maxConnectionsPerAddress = 3
        }
        let proxy = try fixture.client()
        let open = { (address: String) in try proxy.ask(RawClient.get(Self.poll, headers: Self.from(address))).status }
        #expect(try (0..<4).map { _ in try open("203.0.113.7") } == [200, 200, 200, 503])
        try proxy.waitForEnd()
        let second = try fixture.client()
        let ask = { (address: String) in try second.ask(RawClient.get(Self.poll, headers: Self.from(address))).status }
        // Others are not affected, and 127.0.0.1 counts when a proxy names it.
        #expect(try ask("203.0.113.8") == 200)
        #expect(try (0..<4).map { _ in try ask("127.0.0.1") } == [200, 200, 200, 503])
        // A session that ends makes room.
        try fixture.onLoop { server, _ in
            _ = server.drain(upTo: 100)
        }
        let gone = try fixture.eventually { server, _ in server.sessionCount == 0 && server.addressCount == 0 }
        #expect(gone, "sessions that were not fetched end after their close timeout")
    }

    @Test func connectionsAreCountedForTheClientThatTheProxyNames() throws {
        let fixture = try ServerFixture {
            Self.behindProxy(&$0)
            $0.maxConnectionsPerAddress = 2
        }
        var clients: [RawClient] = []
        var statuses: [Int] = []
        for _ in 0..<3 {
            let client = try fixture.client()
            client.send(RawClient.upgrade("/echo", headers: Self.from("203.0.113.7")))
            statuses.append(try client.response().status)
            clients.append(client)
        }
        #expect(statuses == [101, 101, 503])
        clients[0].close()
        let isFree = try fixture.eventually { server, _ in server.connectionCount <= 1 }
        #expect(isFree)
        let next = try fixture.client()
        next.send(RawClient.upgrade("/echo", headers: Self.from("203.0.113.7")))
        #expect(try next.response().status == 101)
    }

    /// Whatever comes with a request counts for whom the proxy names: not its head and its body alone.
    @Test(arguments: ["chunk extensions", "trailers", "empty lines", "a body that nobody reads"])
    func framingCountsForTheClientThatTheProxyNames(framing: String) throws {
        let fixture = try ServerFixture {
            Self.behindProxy(&$0)
            $0.connectionReads = ReadMeter(bytesPerSecond: 1 << 30, messagesPerSecond: 1 << 20)
            $0.addressReads = ReadMeter(bytesPerSecond: 1 << 18, messagesPerSecond: 1 << 20)
        }
        let fields = Self.from("203.0.113.7")
        let chunked = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\(fields)\r\n"
        let filling = String(repeating: "x", count: 1000)
        let client = try fixture.client()
        var status = 200
        switch framing {
        case "chunk extensions", "trailers":
            // As much as a request may have.
            let extensions = String(repeating: "1;\(filling)\r\nx\r\n", count: 4) + "0\r\n\r\n"
            let trailers = "0\r\n" + String(repeating: "T: \(filling)\r\n", count: 4) + "\r\n"
            client.send(String(repeating: chunked + (framing == "trailers" ? trailers : extensions), count: 100))
            for _ in 1..<100 { #expect(try client.response().status == 200) }
        case "empty lines":
            client.send(String(repeating: "\r\n", count: 200_000) + RawClient.get("/", headers: fields))
        default:
            status = 413
            client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 400000\r\n\(fields)\r\n")
            client.send(String(repeating: "x", count: 400_000))
        }
        #expect(try client.response().status == status)
        #expect(try fixture.client().ask(RawClient.get("/", headers: fields)).status == 200)
        // A body that nobody reads may still be on its way.
        let isPaused = try fixture.eventually { server, _ in server.statistics.pausedReads > 0 }
        #expect(isPaused)
        // Nobody else waits for that.
        let before = try fixture.onLoop { server, _ in server.statistics.pausedReads }
        #expect(try fixture.client().ask(RawClient.get("/", headers: Self.from("203.0.113.8"))).status == 200)
        #expect(try fixture.onLoop { server, _ in server.statistics.pausedReads } == before)
    }

    private static func behindProxyProtocol(_ configuration: inout SocketIOServer.Configuration) {
        configuration.proxies = TrustedProxies(
            [AddressRange("127.0.0.1")].compactMap(\.self), source: .proxyProtocol)
    }

    /// Of the PROXY protocol: the client is 203.0.113.7.
    private static let header: [UInt8] =
        [13, 10, 13, 10, 0, 13, 10, 0x51, 0x55, 0x49, 0x54, 10, 0x21, 0x11, 0, 12, 203, 0, 113, 7, 127, 0, 0, 1]
        + [0x12, 0x34, 0, 80]

    @Test func aProxyHeaderComesBeforeTheFirstRequest() throws {
        let fixture = try ServerFixture {
            Self.behindProxyProtocol(&$0)
            $0.maxConnectionsPerAddress = 1
        }
        let header = Self.header
        let first = try fixture.client()
        first.send(header + bytes(RawClient.get("/a")))
        #expect(try first.response().status == 200)
        let second = try fixture.client()
        second.send(header + bytes(RawClient.get("/b")))
        #expect(try second.response().status == 503)
        let without = try fixture.client()
        without.send(RawClient.get("/c"))
        try without.waitForEnd()
        let addresses = try fixture.onLoop { server, _ in server.addressCount }
        #expect(addresses == 1)
    }

    @Test func whoOpensTooManyConnectionsThroughAProxyIsNotAnswered() throws {
        let fixture = try ServerFixture {
            Self.behindProxyProtocol(&$0)
            $0.addressOpenings = RateMeter(perSecond: 1, burst: 2)
        }
        for _ in 0..<2 {
            let client = try fixture.client()
            client.send(Self.header + bytes(RawClient.get("/a")))
            #expect(try client.response().status == 200)
        }
        let third = try fixture.client()
        third.send(Self.header + bytes(RawClient.get("/a")))
        try third.waitForEnd()
        let (refused, requests) = try fixture.onLoop { server, _ in
            (server.statistics.refusedConnections, server.statistics.requests)
        }
        #expect((refused, requests) == (1, 2))
    }

    @Test func theLargestGoFirstWhenTheMemoryBudgetIsExceeded() throws {
        let fixture = try ServerFixture { $0.memoryBudget = 100_000 }
        let small = try fixture.connectedSocket()
        let client = try fixture.client()
        let sid = try fixture.openPolling(client)
        _ = try client.ask(RawClient.post("\(Self.poll)&sid=\(sid)", "40"))
        // A session that is never polled keeps what is sent to it.
        try fixture.onLoop { _, application in
            for _ in 0..<200 { application.sockets[1].emit(bytes(#"["\#(String(repeating: "x", count: 1000))"]"#)) }
        }
        let isShed = try fixture.eventually { server, _ in server.statistics.shedConnections == 1 }
        #expect(isShed)
        #expect(try fixture.log().last == "disconnected slowReader")
        small.sendText(#"42["still here"]"#)
        #expect(try small.message() == #"42["still here"]"#)
    }

    @Test func whatTheApplicationKeepsCountsTowardsTheMemoryBudget() throws {
        let fixture = try ServerFixture { $0.memoryBudget = 100_000 }
        let small = try fixture.connectedSocket()
        let large = try fixture.connectedSocket()
        try fixture.onLoop { _, application in
            application.sockets[0].tag = 10_000
            application.sockets[1].tag = 60_000
        }
        #expect(try fixture.eventually { server, _ in server.heldBytes >= 70_000 })
        try fixture.onLoop { _, application in application.sockets[1].tag = 120_000 }
        #expect(try large.closeCode() == 4008)
        #expect(try fixture.log().last == "disconnected slowReader")
        // It counts no more.
        #expect(try fixture.eventually { server, _ in (10_000..<20_000).contains(server.heldBytes) })
        small.sendText(#"42["still here"]"#)
        #expect(try small.message() == #"42["still here"]"#)
    }

    @Test func theLargestOfTheClientThatHoldsMostGoFirst() throws {
        let fixture = try ServerFixture { $0.memoryBudget = 200_000 }
        let sockets = try (0..<4).map { _ in try fixture.connectedSocket() }
        try fixture.onLoop { _, application in
            application.owners = ["few", "many", "many", "many"]
            for (index, bytes) in [80_000, 40_000, 60_000, 50_000].enumerated() {
                application.sockets[index].tag = bytes
            }
        }
        #expect(try sockets[2].closeCode() == 4008)
        #expect(try fixture.eventually { server, _ in server.heldBytes < 175_000 })
        // Newcomers come in meanwhile.
        #expect(try fixture.client().ask(RawClient.get(Self.poll)).status == 200)
        for index in [0, 1, 3] {
            sockets[index].sendText(#"42["still here"]"#)
            #expect(try sockets[index].message() == #"42["still here"]"#)
        }
    }

    /// What was sent waits in a connection that the session may have left, or that carried one poll of it.
    @Test func whatASessionSentCountsUntilTheKernelTookItThoughTheSessionEnded() throws {
        let fixture = try ServerFixture { $0.maxBufferedBytes = 64 << 20 }
        let client = try fixture.client()
        let sid = try fixture.openPolling(client)
        _ = try client.ask(RawClient.post("\(Self.poll)&sid=\(sid)", "40"))
        _ = try client.ask(RawClient.get("\(Self.poll)&sid=\(sid)"))
        let large = bytes(#"["\#(String(repeating: "x", count: 16 << 20))"]"#)
        try fixture.onLoop { _, application in application.sockets[0].emit(large) }
        let slow = try fixture.client()
        slow.send(RawClient.get("\(Self.poll)&sid=\(sid)"))
        let isAnswered = try fixture.eventually { _, application in
            application.sockets[0].bufferedBytes == 0 && application.sockets[0].outstandingBytes > 1 << 20
        }
        #expect(isAnswered, "its poll is answered, and nobody reads that")
        try fixture.onLoop { _, application in
            application.sockets[0].closeEngine()
            #expect(application.sockets[0].outstandingBytes > 1 << 20)
            application.sockets[0].shed()
        }
        #expect(try fixture.eventually { _, application in application.sockets[0].outstandingBytes == 0 })
    }

    @Test func aSessionThatAsksForNothingEndsSooner() throws {
        let fixture = try ServerFixture { $0.connectRequestTimeout = .milliseconds(50) }
        let silent = try fixture.openSocket()
        #expect(try silent.closeCode() == 1008)
        // A client that was refused may try again.
        let refused = try fixture.openSocket()
        refused.sendText(#"40{"token":"reject"}"#)
        #expect(try refused.message().hasPrefix("44"))
        #expect(try fixture.eventually { server, _ in server.statistics.connectTimeouts == 1 })
        refused.sendText("40")
        #expect(try refused.message().hasPrefix("40"))
    }

    @Test func aLargeAuthPayloadIsRefusedUnparsed() throws {
        let fixture = try ServerFixture { $0.maxAuthPayload = 100 }
        let client = try fixture.openSocket()
        client.sendText("40{\"token\":\"\(String(repeating: "x", count: 100))\"}")
        #expect(try client.message() == #"44{"message":"The auth payload is too large"}"#)
        client.sendText(#"40{"token":"short"}"#)
        #expect(try client.message().hasPrefix("40"))
        #expect(try fixture.log() == [#"connect / {"token":"short"}"#])
    }

    @Test func aPostOfTooManyPacketsEndsTheSession() throws {
        let fixture = try ServerFixture { $0.maxPostPackets = 10 }
        let client = try fixture.client()
        let sid = try fixture.openPolling(client)
        let packets = { (count: Int) in [String](repeating: "3", count: count).joined(separator: "\u{1e}") }
        #expect(try client.ask(RawClient.post("\(Self.poll)&sid=\(sid)", packets(10))).status == 200)
        #expect(try client.ask(RawClient.post("\(Self.poll)&sid=\(sid)", packets(11))).status == 400)
        #expect(try client.ask(RawClient.get("\(Self.poll)&sid=\(sid)")).body.contains("\"code\":1"))
    }

    @Test func aRequestThatIsMoreThanAClientMaySendIsAnswered() throws {
        let fixture = try ServerFixture {
            $0.connectionReads = ReadMeter(bytesPerSecond: 1 << 20, messagesPerSecond: 40)
        }
        #expect(try !fixture.openPolling(try fixture.client()).isEmpty)
    }

    /// The connection may be a proxy's, which must not use it for somebody else while it is not read.
    @Test func aPostIsAnsweredWhenItsPacketsArePaidFor() throws {
        let fixture = try ServerFixture {
            $0.connectionReads = ReadMeter(bytesPerSecond: 1 << 20, messagesPerSecond: 400)
        }
        let post = { (client: RawClient, count: Int) in
            let sid = try fixture.openPolling(client)
            let packets = (["40"] + [String](repeating: #"42["x"]"#, count: count)).joined(separator: "\u{1e}")
            client.send(RawClient.post("\(Self.poll)&sid=\(sid)", packets))
        }
        let flood = try fixture.client()
        // Ten seconds' worth, of which no more is read than is paid for.
        try post(flood, 4000)
        let isPaused = try fixture.eventually { server, _ in server.statistics.pausedReads > 0 }
        #expect(isPaused)
        #expect(flood.isSilent)
        #expect(try (1..<4000).contains(fixture.log().count))
        let other = try fixture.client()
        try post(other, 100)
        #expect(try other.response().status == 200)
        #expect(try !fixture.openPolling(other).isEmpty)
    }

    @Test func nobodyWaitsForAnotherClientOfTheSameProxysConnection() throws {
        let fixture = try ServerFixture {
            Self.behindProxy(&$0)
            $0.addressReads = ReadMeter(bytesPerSecond: 1 << 20, messagesPerSecond: 200)
        }
        let (ada, ben) = (Self.from("203.0.113.7"), Self.from("203.0.113.8"))
        let kept = try fixture.client()
        #expect(try kept.ask(RawClient.get("/a", headers: ada)).status == 200)
        let flood = try fixture.client()
        let sid = ServerFixture.sid(try flood.ask(RawClient.get(Self.poll, headers: ada)).body)
        // Twenty seconds' worth.
        let packets = (["40"] + [String](repeating: #"42["x"]"#, count: 4000)).joined(separator: "\u{1e}")
        flood.send(RawClient.post("\(Self.poll)&sid=\(sid)", packets, headers: ada))
        let isPaused = try fixture.eventually { server, _ in server.statistics.pausedReads > 0 }
        #expect(isPaused)
        #expect(try kept.ask(RawClient.get("/b", headers: ben)).status == 200)
        kept.send(RawClient.get("/c", headers: ada))
        let isAsked = try fixture.eventually { server, _ in server.statistics.requests == 5 }
        #expect(isAsked && kept.isSilent, "whose address owes")
    }

    /// The bytes behind a poll were received when its address still had something left.
    @Test func whatWasKeptBehindAnAnswerIsProcessedLater() throws {
        let fixture = try ServerFixture {
            Self.behindProxyProtocol(&$0)
            $0.addressReads = ReadMeter(bytesPerSecond: 1 << 20, messagesPerSecond: 400)
        }
        let client = try fixture.client()
        client.send(Self.header)
        let target = "\(Self.poll)&sid=\(try fixture.openPolling(client))"
        #expect(try client.ask(RawClient.post(target, "40")).status == 200)
        #expect(try client.ask(RawClient.get(target)).status == 200)
        client.send(RawClient.get(target) + RawClient.get("/a"))
        let flood = try fixture.client()
        flood.send(Self.header + bytes(RawClient.upgrade("/echo")))
        #expect(try flood.response().status == 101)
        for _ in 0..<800 { flood.sendText("x") }
        let isPaused = try fixture.eventually { server, _ in server.statistics.pausedReads > 0 }
        #expect(isPaused)
        try fixture.onLoop { _, application in application.sockets[0].emit(bytes("[1]")) }
        #expect(try client.response().status == 200)
        #expect(try client.response().status == 200)
    }

    @Test func whoeverIsStillReadingAnAnswerIsNotCutOff() throws {
        let fixture = try ServerFixture { $0.closeTimeout = .seconds(1) }
        let client = try fixture.client(receiveBuffer: 65_536)
        client.send(RawClient.get("/large", headers: "Connection: close\r\n"))
        #expect(try client.head().contains("200"))
        var count = 0
        // By its second deadline it must have read something since the first, and still have much to read.
        for round in 1...2 {
            try self.passCloseTimeout(fixture)
            while count < round * 2 << 20 { count += try client.readAvailable().count }
        }
        while !client.isAtEnd { count += try client.readAvailable().count }
        #expect(count == 8 << 20)
    }

    /// Waits for one close timeout: until a connection is dropped that closes now and has nothing to read.
    private func passCloseTimeout(_ fixture: ServerFixture) throws {
        let closing = try fixture.client()
        #expect(try closing.ask(RawClient.get("/a", headers: "Connection: close\r\n")).status == 200)
        let isDropped = try fixture.eventually { server, _ in server.connectionCount == 1 }
        #expect(isDropped)
        closing.close()
    }

    /// A few more may be on their way into the process when the last descriptor is taken; the rest waits in the kernel's
    /// queue.
    @Test func noMoreConnectionsAreAcceptedThanThereAreDescriptors() throws {
        let fixture = try ServerFixture { $0.maxDescriptors = 2 }
        let clients = try (0..<40).map { _ in try fixture.client() }
        for client in clients { client.send(RawClient.get("/a")) }
        let isFull = try fixture.eventually { server, _ in server.connectionCount >= 2 }
        #expect(isFull)
        // Nobody is accepted any more when the number has stayed the same for long.
        var (accepted, looks) = (0, 0)
        while looks < 2000 {
            let now = try fixture.onLoop { server, _ in server.connectionCount }
            (accepted, looks) = (now, now == accepted ? looks + 1 : 0)
        }
        #expect((2..<20).contains(accepted), "\(accepted) of 40")
        // Everybody's turn comes, in the order of the queue.
        for client in clients {
            #expect(try client.response().status == 200)
            client.close()
        }
    }
}
