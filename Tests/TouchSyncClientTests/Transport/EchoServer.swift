import NIOCore
import NIOPosix
import SocketIO
import SocketIOServer
import TLSTestKit

/// The project's own server on loopback: `/echo` returns messages, and every page tells what was asked for.
final class EchoServer: Sendable {
    private static let limit = 4 << 20

    let port: Int
    private let server: SocketIOServer

    /// One that listens; with TLS if it gets a certificate.
    init(_ certificate: TestCertificate? = nil) async throws {
        var configuration = SocketIOServer.Configuration()
        configuration.maxBufferedBytes = 256 << 20
        // A machine with other work takes its time.
        configuration.handshakeTimeout = .seconds(60)
        if let certificate {
            configuration.tls = try TLSIdentity(
                certificates: Array(certificate.certificate.utf8), key: Array(certificate.key.utf8))
        }
        self.server = SocketIOServer(
            eventLoop: MultiThreadedEventLoopGroup.singleton.next(), configuration: configuration,
            routes: [.webSocket(path: "/echo", Echo(), limits: WebSocketLimits(maxMessage: Self.limit))], http: Pages())
        self.port = try await self.server.bind(host: "127.0.0.1", port: 0).get().port ?? 0
    }

    deinit {
        let server = self.server
        server.eventLoop.execute {
            _ = server.stopAccepting()
            server.closeAll()
        }
    }
}

private final class Echo: WebSocketApplication {
    func message(_ peer: WebSocketPeer, _ message: UnsafeRawBufferPointer, isText: Bool) {
        peer.send(message, isText: isText)
    }
}

private final class Pages: HTTPApplication {
    var maxBody: Int { 1000 }

    func bodyTooLarge(_ head: HTTPRequestHead) -> HTTPResponse { HTTPResponse(status: 413) }

    func handle(_ request: HTTPRequest, respond: @escaping (HTTPResponse) -> Void) {
        let text = "\(request.head.path) \(request.head.header("authorization") ?? "nobody")"
        let status: UInt16 = request.head.path == "/missing" ? 404 : 200
        respond(HTTPResponse(status: status, body: Array(text.utf8)))
    }
}
