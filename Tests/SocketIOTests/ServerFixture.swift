import NIOCore
import NIOPosix
import SocketIO
import SocketIOServer

/// Remembers everything it is told, echoes events, and lets tests reach the sockets on the loop.
///
/// Sendable only because every test goes through ``ServerFixture/onLoop(_:)``.
final class RecordingApplication: SocketIOApplication, @unchecked Sendable {
    var log: [String] = []
    var sockets: [SocketIOSocket] = []
    var answersConnect = true
    /// The names of clients, in the order of their sockets.
    var owners: [String] = []

    func connect(_ socket: SocketIOSocket, _ request: ConnectRequest) {
        let auth = String(decoding: request.auth, as: UTF8.self)
        self.log.append("connect \(request.namespace) \(auth)")
        self.sockets.append(socket)
        guard self.answersConnect else { return }
        if request.namespace != .root && request.namespace != Namespace("/custom") {
            socket.refuse(message: "Invalid namespace")
        } else if auth.contains("reject") {
            socket.refuse(message: "not authorized", data: bytes(#"{"code":401}"#))
        } else {
            socket.accept(members: bytes(#""epoch":1"#))
        }
    }

    func event(_ socket: SocketIOSocket, ackID: UInt64?, json: UnsafeRawBufferPointer) {
        let text = String(decoding: json, as: UTF8.self)
        self.log.append("event \(text)")
        if text.hasPrefix(#"["kick""#) { return socket.disconnect() }
        if text.hasPrefix(#"["bad""#) { return socket.reportBadPacket() }
        if let ackID { socket.acknowledge(ackID, json) } else { socket.emit(json) }
    }

    var acceptsBinary: Bool { true }

    func binaryEvent(_ socket: SocketIOSocket, ackID: UInt64?, json: UnsafeRawBufferPointer, attachments: [[UInt8]]) {
        socket.emit(json, attachments: attachments)
    }

    func disconnected(_ socket: SocketIOSocket, reason: DisconnectReason) {
        self.log.append("disconnected \(reason)")
    }

    func writable(_ socket: SocketIOSocket) { self.log.append("writable") }

    /// What a test sets as the tag.
    func heldBytes(of socket: SocketIOSocket) -> Int { socket.tag }

    func owner(of socket: SocketIOSocket) -> String? {
        let index = self.sockets.firstIndex { $0 === socket }
        return index.flatMap { self.owners.indices.contains($0) ? self.owners[$0] : nil }
    }
}

final class EchoEngine: EngineIOApplication {
    func text(_ session: EngineIOSession, _ message: UnsafeRawBufferPointer) { session.send(text: message) }
    func binary(_ session: EngineIOSession, _ message: [UInt8]) { session.send(binary: message) }
}

final class EchoSocket: WebSocketApplication {
    func message(_ peer: WebSocketPeer, _ message: UnsafeRawBufferPointer, isText: Bool) {
        peer.send(message, isText: isText)
    }
}

final class Pages: HTTPApplication {
    var maxBody: Int { 1000 }
    private let eventLoop: any EventLoop
    private let application: RecordingApplication

    init(_ eventLoop: any EventLoop, _ application: RecordingApplication) {
        self.eventLoop = eventLoop
        self.application = application
    }

    func bodyTooLarge(_ head: HTTPRequestHead) -> HTTPResponse {
        HTTPResponse(status: 413, body: bytes("too large: \(head.method) \(head.path)"))
    }

    func handle(_ request: HTTPRequest, respond: @escaping (HTTPResponse) -> Void) {
        if request.head.path == "/missing" { return respond(HTTPResponse(status: 404)) }
        if request.head.path == "/large" { return respond(self.large()) }
        if request.head.path == "/stream" { return respond(self.stream()) }
        let response = HTTPResponse(
            status: 200, headers: [("X-Path", request.head.path), ("X-Bad", "a\r\nInjected: b")], body: request.body)
        guard request.head.path == "/later" else { return respond(response) }
        self.eventLoop.assumeIsolated().execute { respond(response) }
    }

    /// A body of three parts, the last of which comes later.
    private func stream() -> HTTPResponse {
        let stream = ResponseStream()
        stream.ended = { [application] in application.log.append("stream ended") }
        self.eventLoop.assumeIsolated().execute { stream.send(bytes("two ")) }
        self.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(20)) {
            stream.send(bytes("three"))
            stream.end()
        }
        var response = HTTPResponse(status: 200, headers: [("Content-Type", "text/plain")], body: bytes("one "))
        response.stream = stream
        return response
    }

    private func large() -> HTTPResponse {
        self.application.log.append("large answer")
        var response = HTTPResponse(status: 200, body: [UInt8](repeating: UInt8(ascii: "x"), count: 8 << 20))
        response.hold = AnswerHold(on: self.eventLoop) { [application] in application.log.append("large answer read") }
        return response
    }
}

/// A server on a free loopback port, gone with the test.
final class ServerFixture {
    let server: SocketIOServer
    let application = RecordingApplication()
    let port: Int
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    init(_ configure: (inout SocketIOServer.Configuration) -> Void = { _ in }) throws {
        var configuration = SocketIOServer.Configuration()
        configuration.origins = .any
        configuration.closeTimeout = .milliseconds(200)
        configuration.maxPayload = 65_536
        configure(&configuration)
        let loop = self.group.next()
        self.server = SocketIOServer(
            eventLoop: loop, configuration: configuration,
            routes: [
                .socketIO(self.application), .engineIO(path: "/engine.io/", EchoEngine()),
                .webSocket(path: "/echo", EchoSocket(), limits: WebSocketLimits(maxMessage: 65_536)),
            ], http: Pages(loop, self.application))
        self.port = try self.server.bind(host: "127.0.0.1", port: 0).wait().port ?? 0
    }

    deinit {
        let server = self.server
        try? server.eventLoop.submit {
            _ = server.stopAccepting()
            server.closeAll()
        }.wait()
        try? self.group.syncShutdownGracefully()
    }

    func onLoop<Value: Sendable>(_ body: @escaping @Sendable (SocketIOServer, RecordingApplication) -> Value) throws
        -> Value
    {
        let (server, application) = (self.server, self.application)
        return try server.eventLoop.submit { body(server, application) }.wait()
    }

    func log() throws -> [String] { try self.onLoop { $1.log } }

    /// Polls the loop until `condition` holds; false after ten seconds.
    func eventually(_ condition: @escaping @Sendable (SocketIOServer, RecordingApplication) -> Bool) throws -> Bool {
        let deadline = NIODeadline.now() + .seconds(10)
        while NIODeadline.now() < deadline {
            if try self.onLoop(condition) { return true }
        }
        return false
    }

    /// - Parameter receiveBuffer: about the bytes that its kernel takes before it reads; nil for as many as usual.
    func client(receiveBuffer: Int32? = nil) throws -> RawClient {
        try RawClient(port: self.port, receiveBuffer: receiveBuffer)
    }

    /// A polling session; its id.
    func openPolling(_ client: RawClient, path: String = "/socket.io/") throws -> String {
        let response = try client.ask(RawClient.get("\(path)?EIO=4&transport=polling&b64=1"))
        return Self.sid(response.body)
    }

    static func sid(_ open: String) -> String {
        String(open.split(separator: "\"").dropFirst(3).first ?? "")
    }

    /// A WebSocket session past its open packet.
    func openSocket(path: String = "/socket.io/", headers: String = "") throws -> RawClient {
        let client = try self.client()
        try client.openSession(path: path, headers: headers)
        return client
    }

    /// A client in the main namespace.
    func connectedSocket() throws -> RawClient {
        let client = try self.openSocket()
        try client.enter()
        return client
    }
}
