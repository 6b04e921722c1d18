internal import NIOCore
internal import SocketIO

/// The one handler of a TCP connection: HTTP first, perhaps a WebSocket later.
///
/// ```
///            request, answer                    101
///  http <------------------------> http --------------------> engine | candidate | bare | spliced
///   |                                                               |
///   +--- answer with close, error ---> lingering (deaf) <--- close -+ ---> closed
/// ```
/// There is no other handler in the pipeline, so a change of role moves no handlers and an idle connection is one
/// object. All fields are used on the loop only.
final class PeerHandler: ChannelDuplexHandler, Timed {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    enum Role {
        case http(HTTPExchange)
        /// The transport of a session.
        case engine(EngineIOSession)
        /// On trial for a session that polls.
        case candidate(EngineIOSession)
        case bare(WebSocketPeer, any WebSocketApplication)
        /// A WebSocket of a session that a neighbour owns.
        case spliced(RelayLink)
        /// Closing: nothing is read, `deadline` ends it.
        case lingering
        case closed
    }

    let server: SocketIOServer
    let channel: any Channel
    private(set) var context: ChannelHandlerContext?
    var role: Role
    var decoder: WebSocketDecoder?
    var armedTick: UInt64 = 0
    /// When an HTTP request is late or a closing must end; `.max` for never.
    var deadline: UInt64 = .max
    var isDirty = false
    /// What the channel says, kept: it is asked with every packet.
    private(set) var isWritable = true
    private var isReadHeld = false
    private var direct = DirectWriter()
    /// What waits for the end of the turn, before all that the outbox holds for this peer.
    private var gathered = GatheredWrites()
    /// Something was written to the channel since its last flush.
    private var hasUnflushed = false
    /// Something that the channel was given may still wait there.
    private var mayHaveBacklog = false
    private var addressKey: AddressKey?
    /// Over a connection limit: the first request is answered 503.
    private(set) var isRefused = false
    var pongs: TokenBucket?
    var unansweredPings = 0
    private var discardLeft = 0

    init(_ server: SocketIOServer, _ channel: any Channel) {
        self.server = server
        self.channel = channel
        self.role = .http(HTTPExchange(limits: server.configuration.http))
    }

    var isOpen: Bool { if case .closed = self.role { false } else { true } }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
    }

    func channelActive(context: ChannelHandlerContext) {
        let server = self.server
        server.statistics.connections += 1
        self.direct.open(self.channel)
        self.addressKey = AddressKey(self.channel.remoteAddress)
        server.peers[ObjectIdentifier(self)] = self
        self.isRefused = server.peers.count > server.configuration.maxConnections
        if let key = self.addressKey {
            let count = server.peersByAddress[key, default: 0] + 1
            server.peersByAddress[key] = count
            if count > server.configuration.maxConnectionsPerAddress, !server.relays.isNeighbour(key) {
                self.isRefused = true
            }
        }
        if self.isRefused { server.statistics.refusedConnections += 1 }
        self.arm(after: server.configuration.handshakeTimeout)
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.lost(.transportClose)
        self.server.isReading = false
        self.server.flush()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.lost(.transportError)
        context.close(promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.server.isReading = true
        let buffer = self.unwrapInboundIn(data)
        switch self.role {
        case .http: buffer.withUnsafeReadableBytes { self.readHTTP($0) }
        case .engine, .candidate, .bare: buffer.withUnsafeReadableBytes { self.readFrames($0) }
        case .spliced(let link): link.write(buffer)
        case .lingering: self.discard(buffer.readableBytes)
        case .closed: break
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if case .spliced(let link) = self.role { link.flush() }
        self.server.isReading = false
        self.server.flush()
    }

    /// A bare WebSocket that does not read what it is sent is not read from either, nor is a relayed one while the
    /// owner takes no more. Sessions are: their pongs and commits must get through, and
    /// ``SocketIOServer/Configuration/maxBufferedBytes`` bounds them.
    func read(context: ChannelHandlerContext) {
        if self.mayRead { context.read() } else { self.isReadHeld = true }
    }

    private var mayRead: Bool {
        switch self.role {
        case .bare: self.isWritable
        case .spliced(let link): link.isWritable
        case .http, .engine, .candidate, .lingering, .closed: true
        }
    }

    /// Reads on, if that was held back and is not any more.
    func resumeReading() {
        guard self.isReadHeld, self.mayRead else { return }
        self.isReadHeld = false
        self.context?.read()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        self.isWritable = self.channel.isWritable
        guard self.isWritable else { return }
        self.resumeReading()
        switch self.role {
        case .engine(let session): session.becameWritable()
        case .spliced(let link): link.resumeReading()
        case .http(let exchange): if case .relaying(let link) = exchange.target { link.resumeReading() }
        case .candidate, .bare, .lingering, .closed: break
        }
    }

    /// The connection is over.
    private func lost(_ reason: DisconnectReason) {
        self.direct.close()
        self.gathered = GatheredWrites()
        let role = self.role
        self.role = .closed
        self.decoder = nil
        self.deadline = .max
        if self.server.outboxOwner === self { self.server.outboxOwner = nil }
        if self.server.peers.removeValue(forKey: ObjectIdentifier(self)) != nil, let key = self.addressKey {
            let count = (self.server.peersByAddress[key] ?? 1) - 1
            self.server.peersByAddress[key] = count > 0 ? count : nil
        }
        switch role {
        case .http(let exchange): exchange.connectionLost()
        case .engine(let session): session.transportLost(reason)
        case .candidate(let session): session.candidateLost(self)
        case .bare(let peer, let application): application.closed(peer)
        case .spliced(let link): link.peerGone()
        case .lingering, .closed: break
        }
    }
}

// MARK: - Writing

extension PeerHandler {
    /// Bytes that the kernel has not accepted.
    var bufferedBytes: Int {
        self.channelBytes + self.gathered.byteCount
            + (self.server.outboxOwner === self ? self.server.outbox.readableBytes : 0)
    }

    /// Queues a buffer that others may share, or hands it to the kernel at once if nothing is queued before it.
    func write(_ buffer: ByteBuffer) {
        if !self.isDirty, self.writeDirectly(buffer) { return }
        self.queue(buffer)
    }

    /// The same, but what else the turn has for the connection goes with it, in one write at its end.
    func writeWithTurn(_ buffer: ByteBuffer) {
        if self.server.isReading { self.queue(buffer) } else { self.write(buffer) }
    }

    private func queue(_ buffer: ByteBuffer) {
        self.spill()
        self.gather(buffer)
        self.markDirty()
    }

    /// Puts a buffer behind what waits already: in the channel, if anything waits there.
    private func gather(_ buffer: ByteBuffer) {
        if !self.hasUnflushed, self.isChannelEmpty, self.gathered.append(buffer) { return }
        self.giveGatheredToChannel()
        self.writeToChannel(buffer)
    }

    private func giveGatheredToChannel() {
        guard !self.gathered.isEmpty else { return }
        self.writeToChannel(self.gathered.take(with: &self.server.gathering))
    }

    /// True when nothing that the channel was given waits there for the kernel.
    private var isChannelEmpty: Bool {
        if self.mayHaveBacklog { self.mayHaveBacklog = self.channelBytes > 0 }
        return !self.mayHaveBacklog
    }

    /// Hands a buffer to the kernel; what it does not take is queued in the channel.
    /// - Returns: false when something waits that came before it.
    private func writeDirectly(_ buffer: ByteBuffer) -> Bool {
        guard self.isChannelEmpty else { return false }
        let count = self.direct.write(buffer)
        if count < buffer.readableBytes {
            var rest = buffer
            rest.moveReaderIndex(forwardBy: count)
            self.writeToChannel(rest)
            self.markDirty()
        }
        return true
    }

    private func writeToChannel(_ buffer: ByteBuffer) {
        self.hasUnflushed = true
        self.context?.write(self.wrapOutboundOut(buffer), promise: nil)
    }

    /// Bytes that the channel has and the kernel has not.
    private var channelBytes: Int { (try? self.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0 }

    /// Encodes with `body`: into the outbox, unless it is another peer's in this turn.
    func encode(_ body: (inout ByteBuffer) -> Void) {
        guard self.context != nil else { return }
        if self.server.claimOutbox(self) {
            body(&self.server.outbox)
        } else {
            var buffer = ByteBufferAllocator().buffer(capacity: 512)
            body(&buffer)
            self.gather(buffer)
        }
        self.markDirty()
    }

    /// Puts what the outbox holds for this peer behind what waits already.
    private func spill() {
        guard self.server.outboxOwner === self else { return }
        self.server.outboxOwner = nil
        guard self.server.outbox.readableBytes > 0 else { return }
        self.gather(self.server.outbox)
    }

    func markDirty() {
        guard !self.isDirty else { return }
        self.isDirty = true
        self.server.dirtyPeers.append(self)
        self.server.scheduleFlush()
    }

    private func flushGathered() {
        guard !self.gathered.isEmpty else { return }
        let buffer = self.gathered.take(with: &self.server.gathering)
        if !self.writeDirectly(buffer) { self.writeToChannel(buffer) }
    }

    /// Flushes now.
    func flushNow() {
        self.isDirty = false
        if !self.hasUnflushed, self.gathered.isEmpty, self.server.outboxOwner === self,
            self.writeDirectly(self.server.outbox)
        {
            self.server.outboxOwner = nil
        }
        self.spill()
        self.flushGathered()
        guard self.hasUnflushed else { return }
        self.hasUnflushed = false
        self.mayHaveBacklog = true
        self.isDirty = false
        self.context?.flush()
    }
}

// MARK: - Closing and time

extension PeerHandler {
    func arm(after duration: Duration) {
        self.deadline = self.server.now &+ duration.nanoseconds
        self.server.arm(self, at: self.deadline)
    }

    func disarm() { self.deadline = .max }

    func timerFired(at now: UInt64) {
        guard self.isOpen, self.deadline < .max else { return }
        if now >= self.deadline {
            self.drop()
        } else {
            self.server.arm(self, at: self.deadline)
        }
    }

    /// Closes at once.
    func drop() {
        self.context?.close(promise: nil)
    }

    /// Sends what is queued, then ends our half; the peer's half may last for the close timeout and a bounded number
    /// of bytes. Closing with unread bytes would reset the connection and could destroy the answer under way.
    func linger() {
        guard self.isOpen else { return }
        self.role = .lingering
        self.decoder = nil
        self.discardLeft = 1 << 20
        self.resumeReading()
        self.flushNow()
        self.direct.close()
        self.arm(after: self.server.configuration.closeTimeout)
        self.context?.close(mode: .output, promise: nil)
    }

    private func discard(_ count: Int) {
        self.discardLeft -= count
        if self.discardLeft <= 0 { self.drop() }
    }
}
