import NIOCore
import SocketIO
import TLSTestKit
import Testing

@testable import SocketIOServer

extension TestCertificate {
    var identity: TLSIdentity {
        get throws { try TLSIdentity(certificates: bytes(self.certificate), key: bytes(self.key)) }
    }
}

/// A server with a certificate, and clients that trust it.
private struct SecureFixture {
    let certificate: TestCertificate
    let fixture: ServerFixture
    let tunnel: TLSTunnel

    init(
        _ certificate: TestCertificate? = nil, _ configure: (inout SocketIOServer.Configuration) -> Void = { _ in }
    ) throws {
        let certificate = try certificate ?? TestCertificate()
        let identity = try certificate.identity
        self.certificate = certificate
        self.fixture = try ServerFixture {
            $0.tls = identity
            configure(&$0)
        }
        self.tunnel = try TLSTunnel(trusting: certificate.certificate)
    }

    func client(header: [UInt8] = []) throws -> RawClient {
        try self.tunnel.client(port: self.fixture.port, header: header)
    }

    func echoSocket() throws -> RawClient {
        let client = try self.client()
        try #require(try client.ask(RawClient.upgrade("/echo")).status == 101)
        return client
    }

    /// A client in the main namespace.
    func connectedSocket() throws -> RawClient {
        let client = try self.client()
        try client.openSession()
        try client.enter()
        return client
    }

    func failures() throws -> UInt64 { try self.fixture.onLoop { server, _ in server.statistics.tlsFailures } }
}

@Suite(.timeLimit(.minutes(1))) struct TLSTests {
    @Test func httpAndWebSocketsWorkOverTLS() throws {
        let secure = try SecureFixture()
        let client = try secure.client()
        #expect(try client.ask(RawClient.get("/page")).head.contains("X-Path: /page"))
        let socket = try secure.echoSocket()
        for count in [1, 100, 20_000, 65_536] {
            let text = String(repeating: "x", count: count)
            socket.sendText(text)
            #expect(try socket.message() == text)
        }
        let handshakes = try secure.fixture.onLoop { server, _ in server.statistics.tlsHandshakes }
        #expect(handshakes == 2)
        #expect(try secure.failures() == 0)
    }

    @Test func orderIsKeptWhileTheClientDoesNotRead() throws {
        let secure = try SecureFixture { $0.maxBufferedBytes = 256 << 20 }
        let client = try secure.connectedSocket()
        #expect(try secure.fixture.sendNumberedEvents() > 1 << 20)
        try secure.fixture.expectNumberedEvents(at: client)
    }

    @Test func slowReaderIsClosed() throws {
        let secure = try SecureFixture { $0.maxBufferedBytes = 256 << 10 }
        let client = try secure.connectedSocket()
        let json = bytes(#"["big",""# + String(repeating: "x", count: 60_000) + #""]"#)
        let isEnded = try secure.fixture.eventually { server, application in
            application.sockets[0].send(PreparedPacket(event: json))
            server.flush()
            return server.statistics.slowReaders == 1
        }
        #expect(isEnded)
        client.close()
        #expect(try secure.fixture.eventually { server, _ in server.connectionCount == 0 })
    }

    @Test func answerThatClosesTheConnectionArrivesWhole() throws {
        let secure = try SecureFixture()
        let client = try secure.client()
        let body = String(repeating: "x", count: 1000)
        let answer = try client.ask(
            "POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 1000\r\n\r\n\(body)")
        #expect(answer.body == body)
        try client.waitForEnd()
    }

    @Test func droppedConnectionIsClosedWithoutAFarewell() throws {
        let secure = try SecureFixture()
        let client = try secure.echoSocket()
        try secure.fixture.onLoop { server, _ in for connection in server.connections.all { connection.drop() } }
        #expect(try secure.fixture.onLoop { server, _ in server.connectionCount } == 0)
        try client.waitForEnd()
    }
}

// MARK: - Handshakes

extension TLSTests {
    @Test func plainRequestGetsNoAnswer() throws {
        let secure = try SecureFixture()
        let client = try secure.fixture.client()
        client.send(RawClient.get("/"))
        try client.waitForEnd()
        #expect(try !client.readAvailable().starts(with: bytes("HTTP")))
        #expect(try secure.failures() == 1)
    }

    @Test func handshakeHasTheTimeOfARequestHead() throws {
        let secure = try SecureFixture { $0.handshakeTimeout = .milliseconds(100) }
        let silent = try secure.fixture.client()
        // The beginning of a record that never comes to its end.
        let slow = try secure.fixture.client()
        slow.send([0x16, 0x03, 0x01, 0x02, 0x00, 0x01])
        try silent.waitForEnd()
        try slow.waitForEnd()
        #expect(try secure.failures() == 2)
    }

    @Test func handshakesCountTowardsTheMemoryBudget() throws {
        let secure = try SecureFixture()
        let clients = try (0..<3).map { _ in try secure.fixture.client() }
        #expect(
            try secure.fixture.eventually { server, _ in
                server.connections.heldBytes == 3 * TLSIdentity.handshakeBytes
            })
        for client in clients { client.close() }
        #expect(try secure.fixture.eventually { server, _ in server.connections.heldBytes == 0 })
    }

    @Test func proxyHeaderPrecedesTheHandshake() throws {
        let secure = try SecureFixture {
            $0.proxies = TrustedProxies([AddressRange("127.0.0.0/8")].compactMap(\.self), source: .proxyProtocol)
        }
        let header: [UInt8] =
            [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A, 0x21, 0x11, 0, 12]
            + [203, 0, 113, 9, 127, 0, 0, 1, 0x9C, 0x40, 0x01, 0xBB]
        let client = try secure.client(header: header)
        #expect(try client.ask(RawClient.get("/")).status == 200)
        let addresses = try secure.fixture.onLoop { server, _ in
            server.connections.all.map { $0.remoteAddress?.ipAddress }
        }
        #expect(addresses == ["203.0.113.9"])
    }

    @Test func newConnectionsGetTheNewCertificate() throws {
        let secure = try SecureFixture()
        let other = try TestCertificate()
        let old = try secure.echoSocket()
        let identity = try other.identity
        try secure.fixture.onLoop { server, _ in server.present(identity) }
        old.sendText("still here")
        #expect(try old.message() == "still here")
        let tunnel = try TLSTunnel(trusting: other.certificate)
        let new = try tunnel.client(port: secure.fixture.port)
        #expect(try new.ask(RawClient.get("/")).status == 200)
        try secure.client().waitForEnd()
    }
}

// MARK: - Certificates

@Suite struct TLSIdentityTests {
    @Test func certificateAndKeyMustBeAPair() throws {
        let (one, other) = (try TestCertificate(), try TestCertificate())
        func failure(_ certificates: String, _ key: String) -> TLSIdentityFailure? {
            do throws(TLSIdentityFailure) {
                _ = try TLSIdentity(certificates: bytes(certificates), key: bytes(key))
                return nil
            } catch {
                return error
            }
        }
        #expect(failure(one.certificate, one.key) == nil)
        #expect(failure(one.certificate + other.certificate, one.key) == nil)
        #expect(failure(one.certificate, other.key) == .mismatch)
        #expect(failure("", one.key) == .noCertificate)
        #expect(failure(one.key, one.key) == .noCertificate)
        #expect(failure(one.certificate, one.certificate) == .noKey)
        #expect(failure(String(one.certificate.dropLast(60)), one.key) == .noCertificate)
    }

    @Test func identitiesAreEqualByChainAndKey() throws {
        let certificate = try TestCertificate()
        #expect(try certificate.identity == certificate.identity)
        #expect(try certificate.identity != TestCertificate().identity)
    }
}
