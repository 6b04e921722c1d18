import JSONBytes
import NIOCore
import SocketIO
import SocketIOServer

/// The Socket.IO application that the protocol suites and the client tests talk to.
///
/// After a CONNECT it emits `auth`; `message` comes back as `message-back`, `message-with-ack` as its ack; `join`,
/// `leave` and `room-cast` work on rooms; `kick-me` disconnects the namespace.
final class ConformanceApplication: SocketIOApplication {
    /// What it keeps for one socket.
    private final class Visitor {
        /// The `auth` event that is still to be emitted.
        var greeting: [UInt8]?
        var rooms: Set<[UInt8]> = []
    }

    private static let limits = {
        var limits = JSONLimits.wellFormed
        limits.depth = 512
        return limits
    }()

    private static let reserved: [StaticString] = [
        "connect", "connect_error", "disconnect", "disconnecting", "newListener", "removeListener",
    ]

    private let eventLoop: any EventLoop
    /// Members of rooms, by namespace and room name.
    private var rooms: [[UInt8]: [ObjectIdentifier: SocketIOSocket]] = [:]
    private var document = JSONDocument()

    init(eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    func connect(_ socket: SocketIOSocket, _ request: ConnectRequest) {
        guard request.namespace == .root || request.namespace == Namespace("/custom") else {
            return socket.refuse(message: "Invalid namespace")
        }
        let auth = request.auth.isEmpty ? Array("{}".utf8) : Array(request.auth)
        var isRejected = false
        if (try? self.document.parse(auth, limits: Self.limits)) != nil {
            isRejected = self.document.root["token"]?.isString("reject" as StaticString) == true
        }
        if isRejected { return socket.refuse(message: "not authorized", data: Array(#"{"code":401}"#.utf8)) }
        let visitor = Visitor()
        visitor.greeting = Array(#"["auth","#.utf8) + auth + [UInt8(ascii: "]")]
        socket.userInfo = visitor
        socket.accept()
        // A moment later. The Socket.IO suite awaits first the CONNECT and then this, and the WebSocket client that it
        // brings along from npm reports all frames of one read in one go: an event in the same segment would be missed.
        // Browsers do not do that, nor do clients that listen before they connect, and nothing in our server needs it.
        let bound = NIOLoopBound((self, socket), eventLoop: self.eventLoop)
        self.eventLoop.scheduleTask(in: .milliseconds(50)) {
            let (application, socket) = bound.value
            application.greet(socket)
        }
    }

    /// Emits `auth` unless that was done.
    private func greet(_ socket: SocketIOSocket) {
        guard let visitor = socket.userInfo as? Visitor, let greeting = visitor.greeting else { return }
        visitor.greeting = nil
        socket.emit(greeting)
    }

    func event(_ socket: SocketIOSocket, ackID: UInt64?, json: UnsafeRawBufferPointer) {
        self.handle(socket, ackID, json, [])
    }

    var acceptsBinary: Bool { true }

    func binaryEvent(_ socket: SocketIOSocket, ackID: UInt64?, json: UnsafeRawBufferPointer, attachments: [[UInt8]]) {
        self.handle(socket, ackID, json, attachments)
    }

    func disconnected(_ socket: SocketIOSocket, reason: DisconnectReason) {
        guard let visitor = socket.userInfo as? Visitor else { return }
        for room in visitor.rooms { self.remove(socket, from: room) }
    }

    private func parse(_ json: UnsafeRawBufferPointer) -> Bool {
        do {
            try self.document.parse(json, limits: Self.limits)
            return self.document.root.kind == .array
        } catch {
            return false
        }
    }

    private func handle(
        _ socket: SocketIOSocket, _ ackID: UInt64?, _ json: UnsafeRawBufferPointer, _ attachments: [[UInt8]]
    ) {
        self.greet(socket)
        var elements = self.parse(json) ? Array(self.document.root.elements) : []
        guard let name = elements.first, name.kind == .string, !Self.reserved.contains(where: { name.isString($0) })
        else { return socket.closeEngine(code: 1002, reason: "malformed event") }
        elements.removeFirst()
        // The arguments as they were sent, each still led by its comma, and the closing bracket.
        let rest = Array(json[name.rawBytes.endIndex...])
        if name.isString("message" as StaticString) {
            socket.emit(Array(#"["message-back""#.utf8) + rest, attachments: attachments)
        } else if name.isString("message-with-ack" as StaticString) {
            guard let ackID else { return }
            let comma = rest.firstIndex(of: UInt8(ascii: ",")).map { $0 + 1 } ?? rest.endIndex
            let arguments = elements.isEmpty ? Array("[]".utf8) : [UInt8(ascii: "[")] + rest[comma...]
            socket.acknowledge(ackID, arguments, attachments: attachments)
        } else if name.isString("kick-me" as StaticString) {
            socket.disconnect()
        } else {
            self.handleRoom(socket, ackID, name, elements, rest, attachments)
        }
    }

    private func handleRoom(
        _ socket: SocketIOSocket, _ ackID: UInt64?, _ name: JSONValue, _ arguments: [JSONValue], _ rest: [UInt8],
        _ attachments: [[UInt8]]
    ) {
        guard let visitor = socket.userInfo as? Visitor, let room = arguments.first, let text = room.string else {
            return
        }
        let key = socket.namespace.bytes + [0] + Array(text.utf8)
        if name.isString("join" as StaticString) {
            visitor.rooms.insert(key)
            self.rooms[key, default: [:]][ObjectIdentifier(socket)] = socket
        } else if name.isString("leave" as StaticString) {
            visitor.rooms.remove(key)
            self.remove(socket, from: key)
        } else if name.isString("room-cast" as StaticString) {
            self.cast(Array(#"["room-msg""#.utf8) + rest, to: key, except: socket, attachments)
        } else {
            return
        }
        if let ackID { socket.acknowledge(ackID, #"["ok"]"#.utf8) }
    }

    private func cast(_ json: [UInt8], to key: [UInt8], except sender: SocketIOSocket, _ attachments: [[UInt8]]) {
        guard let members = self.rooms[key] else { return }
        let packet = PreparedPacket(event: json, namespace: sender.namespace)
        for member in members.values where member !== sender {
            self.greet(member)
            if attachments.isEmpty { member.send(packet) } else { member.emit(json, attachments: attachments) }
        }
    }

    private func remove(_ socket: SocketIOSocket, from key: [UInt8]) {
        self.rooms[key]?[ObjectIdentifier(socket)] = nil
        if self.rooms[key]?.isEmpty == true { self.rooms[key] = nil }
    }
}
