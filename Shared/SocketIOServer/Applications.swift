public import NIOCore
public import SocketIO

/// A Socket.IO application. All calls are made on the server's event loop, in order for each connection; answers and
/// sends made during a call are flushed when the read is processed.
///
/// `disconnected` may be called from inside ``SocketIOServer/flush()``, ``SocketIOSocket/disconnect()`` and
/// ``SocketIOSocket/closeEngine(code:reason:)``, but never from inside a send.
public protocol SocketIOApplication: AnyObject {
    /// Whether a session may be opened, before it is allocated; `nil` admits it.
    func admit(_ handshake: Handshake) -> HandshakeRefusal?

    /// A client requests a namespace. Answer with ``SocketIOSocket/accept(members:)`` or
    /// ``SocketIOSocket/refuse(message:data:)``, now or later; if nothing is accepted within the connect timeout, the
    /// connection is closed.
    func connect(_ socket: SocketIOSocket, _ request: ConnectRequest)

    /// An event. `json` is the array `["name", …]` as received: only its opening bracket has been checked. It is valid
    /// during the call. `ackID` is the id of the requested acknowledgement.
    func event(_ socket: SocketIOSocket, ackID: UInt64?, json: UnsafeRawBufferPointer)

    /// Whether binary packets are assembled. If not, they are refused when they begin.
    var acceptsBinary: Bool { get }

    /// An event with attachments, which are not read: binary packets are not accepted. `json` is the array as received,
    /// of which only the opening bracket has been checked.
    func binaryRefused(_ socket: SocketIOSocket, ackID: UInt64?, json: UnsafeRawBufferPointer)

    /// An event with attachments; `json` is valid JSON here and its placeholders are sound.
    func binaryEvent(_ socket: SocketIOSocket, ackID: UInt64?, json: UnsafeRawBufferPointer, attachments: [[UInt8]])

    /// The socket is gone; called once for every socket that `connect` was called with, and last.
    func disconnected(_ socket: SocketIOSocket, reason: DisconnectReason)

    /// The connection's backlog fell below the low water mark after having been above the high one.
    func writable(_ socket: SocketIOSocket)

    /// Bytes that the application keeps for a socket, besides what it has sent: they count towards
    /// ``SocketIOServer/Configuration/memoryBudget``. Asked for all sockets up to ten times a second, so it must be known
    /// and not be counted then. Sockets that were not accepted are asked about, too.
    func heldBytes(of socket: SocketIOSocket) -> Int

    /// The name of the client, which may have many connections: above ``SocketIOServer/Configuration/memoryBudget`` the
    /// largest ones of the client that holds most are closed. `nil` when it has none yet: its address counts.
    func owner(of socket: SocketIOSocket) -> String?
}

extension SocketIOApplication {
    public func admit(_ handshake: Handshake) -> HandshakeRefusal? { nil }

    public var acceptsBinary: Bool { false }

    /// Closes the connection with 1003.
    public func binaryRefused(_ socket: SocketIOSocket, ackID: UInt64?, json: UnsafeRawBufferPointer) {
        socket.closeEngine(code: 1003, reason: "binary events are not supported")
    }

    public func binaryEvent(
        _ socket: SocketIOSocket, ackID: UInt64?, json: UnsafeRawBufferPointer, attachments: [[UInt8]]
    ) {}

    public func disconnected(_ socket: SocketIOSocket, reason: DisconnectReason) {}

    public func writable(_ socket: SocketIOSocket) {}

    public func heldBytes(of socket: SocketIOSocket) -> Int { 0 }

    public func owner(of socket: SocketIOSocket) -> String? { nil }
}

public protocol EngineIOApplication: AnyObject {
    func opened(_ session: EngineIOSession)
    /// A text message, without its packet digit; valid during the call.
    func text(_ session: EngineIOSession, _ message: UnsafeRawBufferPointer)
    func binary(_ session: EngineIOSession, _ message: [UInt8])
    func closed(_ session: EngineIOSession, reason: DisconnectReason)
}

extension EngineIOApplication {
    public func opened(_ session: EngineIOSession) {}
    public func closed(_ session: EngineIOSession, reason: DisconnectReason) {}
}

public protocol WebSocketApplication: AnyObject {
    func opened(_ peer: WebSocketPeer)
    /// A whole message, valid during the call.
    func message(_ peer: WebSocketPeer, _ message: UnsafeRawBufferPointer, isText: Bool)
    func closed(_ peer: WebSocketPeer)
}

extension WebSocketApplication {
    public func opened(_ peer: WebSocketPeer) {}
    public func closed(_ peer: WebSocketPeer) {}
}

/// An application for all other HTTP requests of the port.
public protocol HTTPApplication: AnyObject {
    var maxBody: Int { get }
    /// The answer to a request whose body is larger than ``maxBody``. The body is not read.
    func bodyTooLarge(_ head: HTTPRequestHead) -> HTTPResponse
    /// Handles a request, immediately or later; `respond` must be called once, on the loop. Further calls have no
    /// effect, nor has a call after the client has gone.
    func handle(_ request: HTTPRequest, respond: @escaping (HTTPResponse) -> Void)
}

extension HTTPApplication {
    public var maxBody: Int { 65_536 }

    public func bodyTooLarge(_ head: HTTPRequestHead) -> HTTPResponse { HTTPResponse(status: 413) }
}

/// The properties of a session that is about to open.
public struct Handshake: Sendable {
    /// The request that opened the session: query, header fields, cookies.
    public let head: HTTPRequestHead
    public let remoteAddress: SocketAddress?
    public let transport: EngineTransport
}

public enum HandshakeRefusal: Sendable {
    /// 403, Engine.IO code 4, with a message for who looks why.
    case forbidden(String)
    /// 503 with Retry-After in seconds.
    case unavailable(retryAfter: Int)
}

/// A client's request to join a namespace.
public struct ConnectRequest {
    public let namespace: Namespace
    /// The auth payload: one valid JSON object, or empty. Valid during the call.
    public let auth: UnsafeRawBufferPointer
    /// The handshake of the session; `nil` once ``SocketIOSocket/releaseHandshake()`` was called.
    public let handshake: Handshake?
}

public enum DisconnectReason: Sendable, Equatable {
    /// The client left the namespace (`41`).
    case clientNamespace
    /// The application disconnected the namespace.
    case serverNamespace
    /// The client closed the connection.
    case transportClose
    case transportError
    case pingTimeout
    case connectTimeout
    /// The application closed the connection with this code.
    case closedByServer(UInt16)
    /// A rule of WebSocket, HTTP or Engine.IO was violated.
    case protocolError
    /// A Socket.IO packet was malformed or out of place.
    case parseError
    /// A message exceeded the limits.
    case payloadTooBig
    /// More than ``SocketIOServer/Configuration/maxBufferedBytes`` were queued for the client.
    case slowReader
    case badPackets
    case drained
}
