internal import NIOCore
internal import NIOTLS
internal import SocketIO

/// The handler of a TCP connection: what happens on its channel goes to its present role (``ConnectionRole``).
///
/// Without TLS there is no other handler in the pipeline: ``DirectWriter`` relies on it, a change of role moves no
/// handlers, and an idle connection needs few objects. With TLS its handlers are added once, behind the header of a
/// proxy, which is not encrypted. All fields are used on the loop only.
///
/// Received bytes are not processed, but kept (``ConnectionInput``), while an answer is due, while earlier answers are
/// not read by the peer, and while it has sent more than its ``ReadMeter`` allows.
final class PeerHandler: ChannelDuplexHandler, Timed {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    let output: ConnectionOutput
    private let connections: ConnectionRegistry
    private(set) var context: ChannelHandlerContext?
    private var role = ConnectionRole.closed
    /// `nil` before the connection is established.
    private var client: ConnectionClient?
    private var budget: ReadBudget
    private var input = ConnectionInput()
    var armedTick: UInt64 = 0
    /// The deadline of an HTTP request or of a closing.
    private var end = PeerDeadline()

    init(_ connections: ConnectionRegistry, _ router: RequestRouter) {
        self.connections = connections
        self.output = ConnectionOutput(connections.loop)
        self.budget = ReadBudget(connections.loop)
        self.role = .http(HTTPExchange(self, router))
    }

    var loop: ServerLoop { self.connections.loop }

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
        self.openOutput(context)
        let client = ConnectionClient(self, context.channel.remoteAddress, self.connections)
        self.client = client
        self.budget.begin(client.account)
        self.arm(after: self.loop.configuration.handshakeTimeout)
        guard let exchange = self.httpExchange else { return }
        if client.sendsProxyHeader {
            self.role = .proxyHeader(ProxyHeaderReader(), exchange)
        } else {
            self.begin(exchange)
        }
    }

    /// Chooses the way of the connection's bytes: to its socket if nothing is in between, otherwise through the channel.
    private func openOutput(_ context: ChannelHandlerContext) {
        guard self.loop.identity == nil else { return self.output.attach(SecureSink(context)) }
        let operations = context.channel.pipeline.syncOperations
        let descriptor = try? operations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { $0 }
        self.output.open(descriptor: descriptor ?? -1)
    }

    /// The bytes of the client itself begin here.
    private func begin(_ exchange: HTTPExchange) {
        guard let identity = self.loop.identity, let context else {
            self.role = .http(exchange)
            return
        }
        self.role = .handshake(exchange)
        do { try identity.secure(context) } catch { self.drop() }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshake(let exchange) = self.role, case .handshakeCompleted? = event as? TLSUserEvent {
            self.loop.statistics.tlsHandshakes += 1
            self.role = .http(exchange)
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.lost(.transportClose)
        self.loop.flushes.release()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.lost(isUncleanShutdown(error) ? .transportClose : .transportError)
        context.closeSocket()
    }

    private func lost(_ reason: DisconnectReason) {
        self.output.discard()
        self.input.discard()
        let role = exchange(&self.role, with: .closed)
        self.disarm()
        self.client?.closed(self)
        switch role {
        case .proxyHeader(_, let exchange), .http(let exchange): exchange.connectionLost()
        case .handshake(let exchange):
            self.loop.statistics.tlsFailures += 1
            exchange.connectionLost()
        case .webSocket(let link): link.connectionLost(reason)
        case .lingering, .closed: break
        }
    }

    // MARK: Reading

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.loop.flushes.hold()
        let buffer = self.unwrapInboundIn(data)
        self.budget.advance(to: self.loop.now)
        self.budget.charge(receivedBytes: buffer.readableBytes)
        if self.input.unreadBytes > 0 {
            self.input.append(buffer.readableBytesView)
        } else {
            buffer.withUnsafeReadableBytes { self.process($0) }
        }
    }

    /// Processes received bytes as far as they may be, and keeps the rest.
    private func process(_ input: UnsafeRawBufferPointer) {
        self.input.beginProcessing()
        var offset = 0
        while offset < input.count {
            let count = self.consume(UnsafeRawBufferPointer(rebasing: input[offset...]))
            guard count > 0 else { break }
            offset += count
        }
        self.input.endProcessing(leaving: UnsafeRawBufferPointer(rebasing: input[offset...]))
        if !self.budget.isSufficient { self.resumeLater() }
    }

    /// Passes bytes to the present role; returns how many were processed, 0 if none may be now.
    private func consume(_ input: UnsafeRawBufferPointer) -> Int {
        switch self.role {
        case .proxyHeader(let reader, let exchange): return self.readProxyHeader(reader, exchange, input)
        case .handshake: self.reread(input)
        case .http(let exchange): return exchange.read(input)
        case .webSocket(let link): return link.read(input)
        case .lingering(let rest):
            self.budget.charge(readBytes: input.count)
            self.role = .lingering(rest - input.count)
            if rest <= input.count { self.drop() }
        case .closed: break
        }
        return input.count
    }

    /// Passes bytes that came with the header of a proxy through the handlers of TLS, which were added behind it.
    private func reread(_ input: UnsafeRawBufferPointer) {
        guard let pipeline = self.context?.pipeline.syncOperations else { return }
        pipeline.fireChannelRead(NIOAny(ByteBuffer(bytes: input)))
        pipeline.fireChannelReadComplete()
    }

    /// Processes what was kept, because what held it up is over, and then reads on.
    func proceed() {
        guard !self.input.isProcessing else { return }
        self.budget.advance(to: self.loop.now)
        if self.budget.isSufficient { self.httpExchange?.readLimitsRestored() }
        if self.budget.isSufficient, self.input.unreadBytes > 0 {
            let unread = self.input.removeUnread()
            unread.withUnsafeBytes { self.process($0) }
        }
        if !self.budget.isSufficient { self.resumeLater() }
        self.resumeReading()
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // What came with the header of a proxy is read within another read.
        if self.input.isProcessing { self.loop.flushes.release() } else { self.loop.flushes.readEnded() }
    }

    func read(context: ChannelHandlerContext) {
        if self.mayRead { context.read() } else { self.input.holdRead() }
    }

    private var mayRead: Bool { !self.input.isPaused && self.role.mayRead }

    /// Resumes reading, if it was paused and no longer has to be.
    func resumeReading() {
        guard self.mayRead, self.input.releaseRead() else { return }
        self.context?.read()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        let isWritable = context.channel.isWritable
        self.output.writabilityChanged(isWritable)
        guard isWritable else { return }
        self.proceed()
        switch self.role {
        case .webSocket(let link): link.becameWritable()
        case .http(let exchange): exchange.becameWritable()
        case .proxyHeader, .handshake, .lingering, .closed: break
        }
    }

    // MARK: What the peer may send

    /// Whether more of what was received may be processed now.
    var isWithinReadLimits: Bool { self.budget.isSufficient }

    func charge(messages: Int) { self.budget.charge(messages: messages) }

    /// The peer sent too much: reads on when that is paid for.
    private func resumeLater() {
        if case .closed = self.role { return }
        if self.input.pause(until: self.budget.sufficientAt) { self.loop.statistics.pausedReads += 1 }
        self.loop.timers.arm(self)
    }

    // MARK: The client

    /// The client's address: the socket's, or what a trusted proxy says.
    var remoteAddress: SocketAddress? { self.client?.address }

    /// What the client's address uses; `nil` if that is not limited.
    var account: AddressAccount? { self.client?.account }

    /// False over a connection limit: requests are answered 503.
    var isWithinLimits: Bool { self.client?.isWithinLimits ?? true }

    func requestArrived(_ head: HTTPRequestHead) {
        self.client?.requestArrived(head)
        self.budget.requestArrived(of: self.account)
    }

    func charge(readBytes count: Int) { self.budget.charge(readBytes: count) }

    func requestAnswered() { self.budget.requestAnswered() }

    private func readProxyHeader(
        _ reader: ProxyHeaderReader, _ exchange: HTTPExchange, _ input: UnsafeRawBufferPointer
    ) -> Int {
        var reader = reader
        var offset = 0
        switch reader.next(input, at: &offset) {
        case .incomplete: self.role = .proxyHeader(reader, exchange)
        case .local: self.begin(exchange)
        case .client(let client):
            // As for one that comes without a proxy: closed before a handshake costs anything.
            guard self.client?.opened(by: client) == true else {
                self.drop()
                return input.count
            }
            self.budget.begin(self.account)
            self.begin(exchange)
        case .malformed:
            self.loop.statistics.badRequests += 1
            self.drop()
            return input.count
        }
        return offset
    }

    // MARK: Changing roles

    var httpExchange: HTTPExchange? { self.role.exchange }

    /// The 101 response was sent: from here on the client speaks WebSocket.
    func becomeWebSocket(_ limits: WebSocketLimits) -> WebSocketLink {
        let link = WebSocketLink(self, limits)
        self.role = .webSocket(link)
        self.budget.begin(self.account)
        self.disarm()
        return link
    }

    /// The session that the connection's WebSocket carries; `nil` when it carries none.
    var session: EngineIOSession? { if case .webSocket(let link) = self.role { link.session } else { nil } }

    /// Bytes kept for this connection: queued output, unprocessed input, and the parts of requests and messages.
    var heldBytes: Int { self.output.bufferedBytes + self.input.unreadBytes + self.role.heldBytes }

    // MARK: Closing and time

    var deadline: UInt64 { min(self.end.time, self.input.resumeDeadline) }

    /// Sets the deadline at which the connection is dropped, unless its peer is still reading what it was sent.
    func arm(after duration: Duration) {
        self.end.set(self.loop.now &+ duration.nanoseconds)
        self.loop.timers.arm(self)
    }

    func disarm() { self.end.clear() }

    func deadlineReached(at now: UInt64) {
        if now >= self.end.time { return self.endReached() }
        self.budget.advance(to: now)
        if self.budget.isSufficient {
            self.input.resume()
            self.proceed()
            self.loop.timers.arm(self)
        } else {
            self.resumeLater()
        }
    }

    private func endReached() {
        let next = self.loop.now &+ self.loop.configuration.closeTimeout.nanoseconds
        guard self.end.moves(to: next, unsent: self.output.bufferedBytes) else { return self.drop() }
        self.loop.timers.arm(self)
    }

    func drop() { self.context?.closeSocket() }

    /// Closes immediately, because of what the peer does not read.
    func shed() {
        self.loop.statistics.shedConnections += 1
        self.drop()
    }

    /// Sends queued bytes, then closes the output; the input stays open for the close timeout and a bounded number of
    /// bytes. Closing with unread bytes would reset the connection and could destroy an answer in flight.
    func linger() {
        switch exchange(&self.role, with: .lingering(1 << 20)) {
        case .closed:
            self.role = .closed
            return
        case .http(let exchange): exchange.close()
        case .proxyHeader, .handshake, .webSocket, .lingering: break
        }
        self.input.discard()
        self.resumeReading()
        self.output.flush()
        self.output.close()
        self.arm(after: self.loop.configuration.closeTimeout)
        self.context?.close(mode: .output, promise: nil)
    }
}

/// When a connection is dropped whose request or closing takes too long. A peer that goes on reading what it was sent gets
/// more time.
struct PeerDeadline {
    /// On the loop's clock; `.max` for none.
    private(set) var time = UInt64.max
    /// The output that the peer had not read at the deadline before.
    private var unsentBefore = Int.max
    /// What a peer must have read between two deadlines, bytes.
    private static let leastProgress = 4096

    mutating func set(_ time: UInt64) { (self.time, self.unsentBefore) = (time, .max) }

    mutating func clear() { self.time = .max }

    /// The deadline was reached: moves on to another one if the peer has read a part of its output meanwhile.
    /// - Parameter unsent: the output that it has not read, bytes.
    /// - Returns: false when it has not; nothing to read is no progress either.
    mutating func moves(to time: UInt64, unsent: Int) -> Bool {
        guard unsent > 0, unsent <= self.unsentBefore - Self.leastProgress else { return false }
        (self.time, self.unsentBefore) = (time, unsent)
        return true
    }
}
