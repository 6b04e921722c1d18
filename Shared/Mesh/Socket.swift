internal import CZeroMQ
internal import Timing
package import Trust

/// An owned ZeroMQ socket: ROUTER or DEALER. Closed by deinit.
///
/// Confined to the thread that created it (debug builds trap on any other). Sends and receives never block. The context
/// must be closed after the socket.
package struct Socket: ~Copyable {
    /// The two patterns in use: routing is explicit everywhere.
    package enum Kind: Sendable {
        /// Bound by a server; addresses its peers by routing id.
        case router
        case dealer
    }

    package enum Received: Equatable, Sendable {
        case message
        case empty
        /// A message had more parts than the frames can store; it was consumed and dropped.
        case tooManyFrames
        /// The context ends or the socket is closed.
        case terminated
    }

    let core: SocketCore
    /// The local listener behind a bound ipc endpoint.
    private var listener: LocalListener?

    /// Creates a socket and sets its options.
    /// - Parameters:
    ///   - thread: the reactor to wake when the socket becomes ready; nil for a socket that is polled by hand.
    ///   - security: CURVE, which keeps out everybody else; nil for a plain socket.
    ///   - routingID: 1 … 255 bytes, by which a ROUTER identifies this DEALER; nil: chosen by the ROUTER.
    package init(
        _ kind: Kind, context: MeshContext, thread: ReactorThread? = nil, options: LinkOptions,
        security: SocketSecurity? = nil, routingID: [UInt8]? = nil
    ) throws(MeshError) {
        if let problem = options.problem { throw MeshError(.invalidOption, problem) }
        let core = try SocketCore(context, kind: kind == .router ? ZMQ_ROUTER : ZMQ_DEALER, thread: thread)
        try Socket.set(options, kind: kind, on: core)
        if let security { try Socket.set(security, on: core) }
        if let routingID {
            guard (1...255).contains(routingID.count), routingID.first != 0 else {
                throw MeshError(.invalidOption, "a routing id has 1 to 255 bytes and does not begin with 0")
            }
            guard zmq_setsockopt(core.pointer, ZMQ_ROUTING_ID, routingID, routingID.count) == 0 else {
                throw MeshError(errno: zmq_errno(), "cannot set the routing id")
            }
        }
        self.core = core
        self.listener = nil
    }

    deinit {
        self.core.close()
        self.listener?.removeFile()
    }

    /// Binds; for ipc the directory is created (0700) and a stale file replaced; a live listener is `addressInUse`.
    /// - Returns: the endpoint with the port that the system chose, if it was 0.
    package mutating func bind(_ endpoint: Endpoint) throws(MeshError) -> Endpoint {
        self.core.checkThread()
        switch endpoint.kind {
        case .ipc(let path):
            let listener = try LocalListener(path: path)
            guard mesh_set_int(self.core.pointer, ZMQ_USE_FD, listener.descriptor) == 0,
                zmq_bind(self.core.pointer, endpoint.description) == 0
            else {
                let number = zmq_errno()
                listener.abandon()
                throw MeshError(errno: number, "cannot bind \(endpoint)")
            }
            self.listener = listener
            return endpoint
        case .tcp:
            self.allowIPv6(for: endpoint)
            guard zmq_bind(self.core.pointer, endpoint.description) == 0 else {
                throw MeshError(errno: zmq_errno(), "cannot bind \(endpoint)")
            }
            return try self.lastEndpoint()
        }
    }

    /// Connects; libzmq keeps trying until the socket is closed.
    package borrowing func connect(_ endpoint: Endpoint) throws(MeshError) {
        self.core.checkThread()
        guard endpoint.isConnectable else { throw MeshError(.invalidEndpoint, "\(endpoint) cannot be connected to") }
        self.allowIPv6(for: endpoint)
        guard zmq_connect(self.core.pointer, endpoint.description) == 0 else {
            throw MeshError(errno: zmq_errno(), "cannot connect to \(endpoint)")
        }
    }

    /// Sends one part; `more` announces further parts of the message.
    package borrowing func send(_ bytes: UnsafeRawBufferPointer, more: Bool = false) -> SendResult {
        self.core.checkThread()
        guard let pointer = self.core.pointer else { return .unroutable }
        self.core.isTouched = true
        return Socket.result(mesh_send_bytes(pointer, bytes.baseAddress, bytes.count, more ? 1 : 0))
    }

    /// False when ``receive(into:)`` would find nothing: nothing was ready at the reactor's last poll, and nothing is
    /// left over.
    package var isReadable: Bool { self.core.isReadable }

    /// Receives one whole message, if one has arrived.
    package borrowing func receive(into frames: Frames) -> Received {
        self.core.checkThread()
        guard let pointer = self.core.pointer else { return .terminated }
        frames.filled = 0
        frames.skipped = 0
        var dropping = false
        while true {
            let part = frames.parts + min(frames.filled, frames.capacity - 1)
            let code = mesh_recv(part, pointer)
            if code == -EINTR { continue }
            guard code >= 0 else {
                // Parts of one message arrive together, so this is between two messages; and libzmq has just run all
                // pending commands, so nothing is left to read.
                self.core.isReadable = false
                if code == -EAGAIN { self.core.isTouched = self.core.wantsWritable }
                return code == -EAGAIN ? .empty : .terminated
            }
            if frames.filled == frames.capacity { dropping = true } else { frames.filled += 1 }
            if zmq_msg_more(part) == 0 { break }
        }
        self.core.isTouched = true
        if dropping { frames.filled = 0 }
        return dropping ? .tooManyFrames : .message
    }

    /// Limits how long `close` keeps sending queued messages.
    package borrowing func setLinger(_ linger: Duration) {
        self.core.checkThread()
        _ = mesh_set_int(self.core.pointer, ZMQ_LINGER, linger.millisecondsClamped)
    }

    /// The options that have the same value on every socket; times in ms.
    private static let fixedOptions: [(Int32, Int32)] = [
        (ZMQ_HEARTBEAT_IVL, 1000), (ZMQ_HEARTBEAT_TIMEOUT, 3000), (ZMQ_HEARTBEAT_TTL, 3000),
        // The kernel's own, about two minutes, goes on for up to a minute after the network has come back.
        (ZMQ_CONNECT_TIMEOUT, 2000),
        (ZMQ_RECONNECT_IVL, 100), (ZMQ_RECONNECT_IVL_MAX, 2000), (ZMQ_TCP_KEEPALIVE, 1),
        (ZMQ_BACKLOG, LocalListener.backlog),
    ]

    private static func set(_ options: LinkOptions, kind: Kind, on core: SocketCore) throws(MeshError) {
        let values =
            Self.fixedOptions + [
                (ZMQ_SNDHWM, Int32(clamping: options.sendHighWater)),
                (ZMQ_RCVHWM, Int32(clamping: options.receiveHighWater)),
                (ZMQ_LINGER, options.linger.millisecondsClamped),
                (ZMQ_HANDSHAKE_IVL, options.handshakeInterval.millisecondsClamped),
                kind == .router ? (ZMQ_ROUTER_MANDATORY, 1) : (ZMQ_IMMEDIATE, 0),
            ]
        for (option, value) in values {
            let code = mesh_set_int(core.pointer, option, value)
            if code < 0 { throw MeshError(errno: -code, "cannot set ZeroMQ option \(option) to \(value)") }
        }
        var limit = Int64(options.maximumMessageBytes)
        guard zmq_setsockopt(core.pointer, ZMQ_MAXMSGSIZE, &limit, MemoryLayout<Int64>.size) == 0 else {
            throw MeshError(errno: zmq_errno(), "cannot set the longest message to \(limit)")
        }
    }

    private static func set(_ security: SocketSecurity, on core: SocketCore) throws(MeshError) {
        func set(_ option: Int32, _ bytes: [UInt8]) throws(MeshError) {
            guard zmq_setsockopt(core.pointer, option, bytes, bytes.count) == 0 else {
                throw MeshError(errno: zmq_errno(), "cannot set ZeroMQ option \(option)")
            }
        }
        func set(_ option: Int32, _ value: Int32) throws(MeshError) {
            let code = mesh_set_int(core.pointer, option, value)
            if code < 0 { throw MeshError(errno: -code, "cannot set ZeroMQ option \(option)") }
        }
        switch security {
        case .server(let own, let domain):
            try set(ZMQ_CURVE_SERVER, 1)
            try set(ZMQ_CURVE_PUBLICKEY, own.publicKey.bytes)
            try set(ZMQ_CURVE_SECRETKEY, own.secretBytes)
            try set(ZMQ_ZAP_DOMAIN, Array(domain.utf8))
            // Without a handler nobody is admitted, instead of everybody.
            try set(mesh_zap_enforce_domain, 1)
        case .client(let own, let server):
            try set(ZMQ_CURVE_SERVERKEY, server.bytes)
            try set(ZMQ_CURVE_PUBLICKEY, own.publicKey.bytes)
            try set(ZMQ_CURVE_SECRETKEY, own.secretBytes)
        }
    }

    // Only for an IPv6 address: with the option libzmq would report a bound IPv4 address in mapped form.
    private borrowing func allowIPv6(for endpoint: Endpoint) {
        if case .tcp(let host, _) = endpoint.kind, host.utf8.contains(UInt8(ascii: ":")) {
            _ = mesh_set_int(self.core.pointer, ZMQ_IPV6, 1)
        }
    }

    private borrowing func lastEndpoint() throws(MeshError) -> Endpoint {
        var text = [CChar](repeating: 0, count: 300)
        var size = text.count
        guard zmq_getsockopt(self.core.pointer, ZMQ_LAST_ENDPOINT, &text, &size) == 0 else {
            throw MeshError(errno: zmq_errno(), "cannot read the bound endpoint")
        }
        return try Endpoint(String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }

    private static func result(_ code: Int32) -> SendResult {
        if code >= 0 { return .sent }
        // EHOSTUNREACH: ROUTER knows no such peer. Any error other than "full" means that the socket or the context has
        // ended.
        return code == -EAGAIN || code == -EINTR ? .wouldBlock : .unroutable
    }
}

/// CURVE on a socket (ZeroMQ RFC 25 and 26): encryption, and both sides prove that they own their keys.
package enum SocketSecurity: Sendable {
    /// The bound side; the handler of ZAP requests of this domain decides which keys are admitted.
    case server(KeyPair, domain: String)
    /// The dialling side, which accepts the owner of one key only.
    case client(KeyPair, server: PublicKey)
}

/// The result of a send. Sends never block.
package enum SendResult: Equatable, Sendable {
    /// Queued by libzmq; it may still be lost with the connection.
    case sent
    /// The peer's high-water mark is reached. Not accepted: keep it and retry when the link reports `writable`, or drop
    /// it.
    case wouldBlock
    /// There is no such peer, or the link is not up. Not accepted.
    case unroutable
}

extension Duration {
    /// This duration in whole milliseconds, clamped to the range of libzmq's options.
    fileprivate var millisecondsClamped: Int32 { Int32(clamping: Nanoseconds(self).milliseconds) }
}
