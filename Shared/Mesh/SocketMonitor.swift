internal import CZeroMQ

/// Reads libzmq's events about a socket's connections, so that a killed peer is detected when its connection closes,
/// not only after the silence limit. Costs nothing without events.
struct SocketMonitor: ~Copyable {
    /// The events that links act on; `descriptor` is the connection's.
    enum News: Equatable {
        case handshakeSucceeded
        case handshakeFailed(HandshakeFailure)
        case disconnected(descriptor: Int32)
    }

    /// How a handshake failed.
    enum HandshakeFailure: Equatable {
        /// The connection closed, or the time limit passed.
        case unfinished
        /// The other side has another mechanism or release, or expected another key.
        case mechanism
        /// A key was refused: here the other's, by the handler of such questions, or over there ours.
        case key
    }

    private let core: SocketCore
    private let watched: SocketCore

    /// - Parameter serial: unique among the monitors of this context.
    init(_ watched: SocketCore, context: MeshContext, thread: ReactorThread?, serial: UInt64) throws(MeshError) {
        let name = "inproc://mesh-monitor-\(serial)"
        let events =
            ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL
            | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH
        guard zmq_socket_monitor(watched.pointer, name, events) == 0 else {
            throw MeshError(errno: zmq_errno(), "cannot watch a socket")
        }
        let core = try SocketCore(context, kind: ZMQ_PAIR, thread: thread)
        _ = mesh_set_int(core.pointer, ZMQ_LINGER, 0)
        guard zmq_connect(core.pointer, name) == 0 else {
            throw MeshError(errno: zmq_errno(), "cannot connect to a socket's monitor")
        }
        self.core = core
        self.watched = watched
    }

    deinit {
        if let pointer = self.watched.pointer { zmq_socket_monitor(pointer, nil, 0) }
        self.core.close()
    }

    var isReadable: Bool { self.core.isReadable }

    /// The next event; nil when there is none. Each has two parts: event (16 bit) and value (32 bit), then the address.
    borrowing func next() -> News? {
        while let pointer = self.core.pointer {
            var part = zmq_msg_t()
            zmq_msg_init(&part)
            defer { zmq_msg_close(&part) }
            guard mesh_recv(&part, pointer) >= 0 else {
                self.core.isReadable = false
                return nil
            }
            self.core.isTouched = true
            let bytes = UnsafeRawBufferPointer(start: zmq_msg_data(&part), count: zmq_msg_size(&part))
            let event = bytes.count >= 6 ? Int32(bytes.loadUnaligned(as: UInt16.self)) : 0
            let value = bytes.count >= 6 ? bytes.loadUnaligned(fromByteOffset: 2, as: Int32.self) : 0
            while zmq_msg_more(&part) != 0, mesh_recv(&part, pointer) >= 0 {}
            switch event {
            case ZMQ_EVENT_HANDSHAKE_SUCCEEDED: return .handshakeSucceeded
            case ZMQ_EVENT_DISCONNECTED: return .disconnected(descriptor: value)
            case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL: return .handshakeFailed(.unfinished)
            case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL: return .handshakeFailed(.mechanism)
            case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH: return .handshakeFailed(.key)
            default: continue
            }
        }
        return nil
    }
}
