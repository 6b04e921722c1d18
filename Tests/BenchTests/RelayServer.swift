import JSONBytes
import NIOCore
import NIOPosix
import SocketIO
import SocketIOServer

/// A plain Socket.IO server: members of a room get what others in it send, commits come back to everybody.
final class RelayServer: SocketIOApplication {
    private var rooms: [String: [SocketIOSocket]] = [:]
    private var document = JSONDocument()
    /// How many connections there were so far.
    private let connections: NIOLoopBoundBox<Int>
    /// Events that it does not know.
    private let ignored: Set<String>

    private init(_ connections: NIOLoopBoundBox<Int>, ignoring: Set<String>) {
        self.connections = connections
        self.ignored = ignoring
    }

    /// Starts one on a free port.
    static func start(
        ignoring: Set<String> = []
    ) async throws -> (server: SocketIOServer, port: Int, connections: NIOLoopBoundBox<Int>) {
        let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
        let connections = NIOLoopBoundBox.makeBoxSendingValue(0, eventLoop: eventLoop)
        let server = try await eventLoop.submit {
            NIOLoopBound(
                SocketIOServer(
                    eventLoop: eventLoop, configuration: .init(),
                    routes: [.socketIO(path: "/socket.io/", RelayServer(connections, ignoring: ignoring))]),
                eventLoop: eventLoop
            )
        }.get()
        let started = try await eventLoop.flatSubmit { server.value.bind(host: "127.0.0.1", port: 0) }.get()
        return (try await eventLoop.submit { server.value }.get(), started.port ?? 0, connections)
    }

    func connect(_ socket: SocketIOSocket, _ request: ConnectRequest) {
        self.connections.value += 1
        socket.accept()
    }

    func event(_ socket: SocketIOSocket, ackID: UInt64?, json: UnsafeRawBufferPointer) {
        guard (try? self.document.parse(json)) != nil,
            let name = self.document.root.elements.first(where: { _ in true }),
            let data = Array(self.document.root.elements).last, let room = data["roomId"]?.string
        else { return socket.reportBadPacket() }
        guard let event = name.string, !self.ignored.contains(event) else { return }
        switch event {
        case "room:join":
            self.rooms[room, default: []].append(socket)
        case "element:transforming":
            let packet = PreparedPacket(event: Array(json))
            for member in self.rooms[room] ?? [] where member !== socket { member.send(packet) }
        case "element:transform":
            let packet = PreparedPacket(
                event: Array(#"["element:transformed","#.utf8) + data.rawBytes + [UInt8(ascii: "]")])
            for member in self.rooms[room] ?? [] { member.send(packet) }
        default:
            return
        }
        if let ackID { socket.acknowledge(ackID, Array(#"[{"ok":true}]"#.utf8)) }
    }

    func disconnected(_ socket: SocketIOSocket, reason: DisconnectReason) {
        for room in self.rooms.keys { self.rooms[room]?.removeAll { $0 === socket } }
    }
}
