import NIOCore
import SocketIO
import SocketIOServer
import Testing

/// A relay whose owner, played by the test, misbehaves or dies.
@Suite struct RelayFaultTests {
    private static let unknown = #"{"code":1,"message":"Session ID unknown"}"#
    private static let poll = "/engine.io/?EIO=4&transport=polling&sid=a.AAAAAAAAAAAAAAAAAAAA"
    private static let socket = "/engine.io/?EIO=4&transport=websocket&sid=a.AAAAAAAAAAAAAAAAAAAA"

    private let owner = RawListener()

    private func entry(
        to port: Int, _ configure: (inout SocketIOServer.Configuration) -> Void = { _ in }
    ) throws -> ServerFixture {
        try ServerFixture {
            $0.sidPrefix = "b."
            $0.neighbours = ["a.": .init(host: "localhost", port: port)]
            configure(&$0)
        }
    }

    private func expectFailures(_ count: UInt64, _ entry: ServerFixture) throws {
        #expect(
            try entry.eventually { server, _ in
                server.statistics.relayFailures == count && server.relayCount == 0
            })
    }

    @Test func anOwnerThatIsNotThereMeansAnUnknownSession() throws {
        self.owner.close()
        let entry = try self.entry(to: self.owner.port)
        let client = try entry.client()
        for _ in 0..<3 { #expect(try client.ask(RawClient.get(Self.poll)).body == Self.unknown) }
        #expect(try client.ask(RawClient.post(Self.poll, "4a")).body == Self.unknown)
        #expect(try client.ask(RawClient.upgrade(Self.socket)).body == Self.unknown)
        try self.expectFailures(5, entry)
    }

    @Test func anAddressThatTheKernelRefusesMeansAnUnknownSession() throws {
        // It fails before connecting has begun, as a lack of descriptors would.
        let entry = try ServerFixture { $0.neighbours = ["a.": .init(host: "255.255.255.255", port: 9)] }
        let client = try entry.client()
        for _ in 0..<2 { #expect(try client.ask(RawClient.get(Self.poll)).body == Self.unknown) }
        try self.expectFailures(2, entry)
    }

    @Test func anOwnerThatDiesDuringAPollMeansAnUnknownSession() throws {
        let entry = try self.entry(to: self.owner.port)
        let client = try entry.client()
        client.send(RawClient.get(Self.poll, headers: "X-Forwarded-For: 192.0.2.7\r\n"))
        let connection = try self.owner.accept()
        let request = try connection.response()
        #expect(request.head.contains("X-Forwarded-For: 192.0.2.7, 127.0.0.1\r\n"))
        #expect(request.head.contains("X-SocketIO-Relayed: 1\r\n"))
        connection.close()
        let answer = try client.response()
        #expect(answer.status == 400 && answer.body == Self.unknown)
        try self.expectFailures(1, entry)
    }

    @Test func anOwnerThatDiesDuringAnAnswerEndsTheConnection() throws {
        let entry = try self.entry(to: self.owner.port)
        let client = try entry.client()
        client.send(RawClient.get(Self.poll))
        let connection = try self.owner.accept()
        _ = try connection.response()
        connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
        #expect(try client.head().contains("Content-Length: 10"))
        connection.close()
        try client.waitForEnd()
        try self.expectFailures(1, entry)
    }

    @Test(arguments: [
        "nonsense\r\n\r\n", "HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: x\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ])
    func anAnswerOfAnotherKindMeansAnUnknownSession(_ answer: String) throws {
        let entry = try self.entry(to: self.owner.port)
        let client = try entry.client()
        client.send(RawClient.get(Self.poll))
        let connection = try self.owner.accept()
        _ = try connection.response()
        connection.send(answer)
        #expect(try client.response().body == Self.unknown)
        try connection.waitForEnd()
        try self.expectFailures(1, entry)
    }

    @Test func whatComesUnaskedIsNotTakenForTheNextAnswer() throws {
        let entry = try self.entry(to: self.owner.port)
        let client = try entry.client()
        let ok = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n"
        client.send(RawClient.get(Self.poll) + RawClient.get(Self.poll))
        let first = try self.owner.accept()
        _ = try first.response()
        first.send("\(ok)a\(ok)b")
        #expect(try client.response().body == "a")
        let second = try self.owner.accept()
        _ = try second.response()
        second.send("\(ok)c")
        #expect(try client.response().body == "c")
        // Nor what comes while nothing is asked.
        second.send("\(ok)d")
        try second.waitForEnd()
        client.send(RawClient.get(Self.poll))
        let third = try self.owner.accept()
        _ = try third.response()
        third.send("\(ok)e")
        #expect(try client.response().body == "e")
    }

    @Test func aSilentOwnerIsGivenUp() throws {
        let entry = try self.entry(to: self.owner.port) {
            $0.pingInterval = .milliseconds(50)
            $0.pingTimeout = .milliseconds(50)
            $0.relayMargin = .milliseconds(50)
        }
        let client = try entry.client()
        client.send(RawClient.get(Self.poll))
        let connection = try self.owner.accept()
        #expect(try client.response().body == Self.unknown)
        try connection.waitForEnd()
        try self.expectFailures(1, entry)
    }

    @Test func anOwnerThatDoesNotAcceptIsGivenUp() throws {
        let full = RawListener(backlog: 0)
        // One connection fills the queue; the kernel then drops what else comes.
        let filling = try RawClient(port: full.port)
        let entry = try self.entry(to: full.port) { $0.relayConnectTimeout = .milliseconds(100) }
        #expect(try entry.client().ask(RawClient.get(Self.poll)).body == Self.unknown)
        try self.expectFailures(1, entry)
        filling.close()
    }

    /// Neither end holds what the other one does not take: 64 MB stop on their way until they are read.
    @Test(arguments: [true, false]) func aSlowEndHoldsTheOtherOneBack(_ isClientSlow: Bool) throws {
        let entry = try self.entry(to: self.owner.port)
        let client = try entry.client()
        client.send(RawClient.upgrade(Self.socket))
        let connection = try self.owner.accept()
        _ = try connection.response()
        connection.send("HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: x\r\n\r\n")
        #expect(try client.response().status == 101)
        let (fast, slow) = isClientSlow ? (connection, client) : (client, connection)
        let total = 64 << 20
        let piece = [UInt8](repeating: 7, count: 1 << 18)
        var sent = 0
        var lastProgress = NIODeadline.now()
        while sent < total, NIODeadline.now() < lastProgress + .milliseconds(500) {
            let count = fast.sendSome(piece[..<min(piece.count, total - sent)])
            if count > 0 { lastProgress = .now() }
            sent += count
        }
        #expect(sent < total)
        var received = 0
        while received < total {
            if sent < total { sent += fast.sendSome(piece[..<min(piece.count, total - sent)]) }
            received += try slow.readAvailable().count
        }
        #expect(received == total)
        fast.close()
        try slow.waitForEnd()
        #expect(try entry.eventually { server, _ in server.relayCount == 0 })
    }
}
