internal import NIOCore
internal import SocketIO

/// The only handler of a TCP connection: HTTP first, perhaps a WebSocket later.
///
/// ```
///            request, answer                    101
///  http <------------------------> http --------------------> webSocket | spliced
///   |                                                               |
///   +--- answer with close, error ---> lingering (deaf) <--- close -+ ---> closed
/// ```
/// There is no other handler in the pipeline: ``DirectWriter`` relies on it, a change of role moves no handlers, and an
/// idle connection needs few objects. All fields are used on the loop only.
final class PeerHandler: ChannelDuplexHandler, Timed {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum Role {
        case http(HTTPExchange)
        case webSocket(WebSocketLink)
        /// A WebSocket of a session that a neighbour owns.
        case spliced(RelayLink)
        /// Closing: up to this many bytes are read and ignored, and `deadline` ends it.
        case lingering(Int)
        case closed
    }

    let output: ConnectionOutput
    private let connections: ConnectionRegistry
    private(set) var context: ChannelHandlerContext?
    private var role = Role.closed
    private var address: AddressKey?
    /// False over a connection limit: the first request is answered 503.
    private(set) var isWithinLimits = true
    private var isReadHeld = false
    var armedTick: UInt64 = 0
    /// The deadline of an HTTP request or of a closing; `.max` for none.
    private(set) var deadline: UInt64 = .max

    init(_ connections: ConnectionRegistry, _ router: RequestRouter) {
        self.connections = connections
        self.output = ConnectionOutput(connections.loop)
        self.role = .http(HTTPExchange(self, router))
    }

    var loop: ServerLoop { self.connections.loop }

    var remoteAddress: SocketAddress? { self.context?.channel.remoteAddress }

    // MARK: Channel

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        self.output.attach(context)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        self.output.detach()
        self.role = .closed
    }

    func channelActive(context: ChannelHandlerContext) {
        let operations = context.channel.pipeline.syncOperations
        let descriptor = try? operations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { $0 }
        self.output.open(descriptor: descriptor ?? -1)
        self.address = AddressKey(context.channel.remoteAddress)
        self.isWithinLimits = self.connections.add(self, from: self.address)
        self.arm(after: self.loop.configuration.handshakeTimeout)
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.lost(.transportClose)
        self.loop.flushes.release()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.lost(.transportError)
        context.close(promise: nil)
    }

    private func lost(_ reason: DisconnectReason) {
        self.output.discard()
        let role = exchange(&self.role, with: .closed)
        self.disarm()
        self.connections.remove(self, from: self.address)
        switch role {
        case .http(let exchange): exchange.connectionLost()
        case .webSocket(let link): link.connectionLost(reason)
        case .spliced(let link): link.clientGone()
        case .lingering, .closed: break
        }
    }

    // MARK: Reading

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.loop.flushes.hold()
        let buffer = self.unwrapInboundIn(data)
        if case .spliced(let link) = self.role {
            link.write(buffer)
        } else {
            buffer.withUnsafeReadableBytes { self.read($0) }
        }
    }

    /// Processes received bytes.
    func read(_ input: UnsafeRawBufferPointer) {
        switch self.role {
        case .http(let exchange): exchange.read(input)
        case .webSocket(let link): link.read(input)
        case .lingering(let rest):
            self.role = .lingering(rest - input.count)
            if rest <= input.count { self.drop() }
        case .spliced, .closed: break
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if case .spliced(let link) = self.role { link.flush() }
        self.loop.flushes.release()
    }

    /// Reading pauses for a bare WebSocket that does not read its output, and for a relayed one while the owner's link
    /// is not writable. It never pauses for sessions: their pongs and events must get through, and
    /// ``SocketIOServer/Configuration/maxBufferedBytes`` bounds their output.
    func read(context: ChannelHandlerContext) {
        if self.mayRead { context.read() } else { self.isReadHeld = true }
    }

    private var mayRead: Bool {
        switch self.role {
        case .webSocket(let link): link.mayRead
        case .spliced(let link): link.isWritable
        case .http, .lingering, .closed: true
        }
    }

    /// Resumes reading, if it was paused and no longer has to be.
    func resumeReading() {
        guard self.isReadHeld, self.mayRead else { return }
        self.isReadHeld = false
        self.context?.read()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        let isWritable = context.channel.isWritable
        self.output.writabilityChanged(isWritable)
        guard isWritable else { return }
        self.resumeReading()
        switch self.role {
        case .http(let exchange): exchange.relayLink?.resumeReading()
        case .webSocket(let link): link.becameWritable()
        case .spliced(let link): link.resumeReading()
        case .lingering, .closed: break
        }
    }

    // MARK: Changing roles

    /// The HTTP side, as long as there is one.
    var httpExchange: HTTPExchange? { if case .http(let exchange) = self.role { exchange } else { nil } }

    /// The 101 response was sent: from here on the client speaks WebSocket.
    func becomeWebSocket(_ limits: WebSocketLimits) -> WebSocketLink {
        let link = WebSocketLink(self, limits)
        self.role = .webSocket(link)
        self.disarm()
        return link
    }

    /// A neighbour accepted a WebSocket: from here on bytes are forwarded both ways.
    func splice(_ link: RelayLink, accept: String) {
        guard let exchange = self.httpExchange else { return link.cancel() }
        let early = exchange.relaySwitched(accept)
        self.role = .spliced(link)
        self.disarm()
        guard !early.isEmpty else { return }
        link.write(ByteBuffer(bytes: early))
        link.flush()
    }

    /// Whether a relay is in progress here.
    var isRelaying: Bool {
        switch self.role {
        case .http(let exchange): exchange.relayLink != nil
        case .spliced: true
        case .webSocket, .lingering, .closed: false
        }
    }

    /// Ends the relay in progress, because this server shuts down.
    func endRelay() {
        switch self.role {
        case .http(let exchange): exchange.endRelay()
        case .spliced(let link):
            link.clientGone()
            self.linger()
        case .webSocket, .lingering, .closed: break
        }
    }

    // MARK: Closing and time

    /// Sets the deadline at which the connection is dropped.
    func arm(after duration: Duration) {
        self.deadline = self.loop.now &+ duration.nanoseconds
        self.loop.timers.arm(self)
    }

    func disarm() { self.deadline = .max }

    func deadlineReached(at now: UInt64) { self.drop() }

    /// Closes immediately.
    func drop() { self.context?.close(promise: nil) }

    /// Sends queued bytes, then closes the output; the input stays open for the close timeout and a bounded number of
    /// bytes. Closing with unread bytes would reset the connection and could destroy an answer in flight.
    func linger() {
        switch exchange(&self.role, with: .lingering(1 << 20)) {
        case .closed:
            self.role = .closed
            return
        case .http(let exchange): exchange.close()
        case .webSocket, .spliced, .lingering: break
        }
        self.resumeReading()
        self.output.flush()
        self.output.close()
        self.arm(after: self.loop.configuration.closeTimeout)
        self.context?.close(mode: .output, promise: nil)
    }
}
