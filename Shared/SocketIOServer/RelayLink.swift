internal import NIOCore
internal import NIOTLS
internal import SocketIO

/// One connection to a neighbour: it carries one relayed request after another, or becomes the owner's side of a
/// WebSocket.
///
/// ```
/// connecting [+ handshake] -> awaiting (the answer) -> body -> idle -> awaiting …
///                               |  101
///                               +---> spliced -> lingering              any -> closed
/// ```
/// Its buffers are bounded: a request, the head of an answer, and what was read when the client stopped reading,
/// because reading then pauses. Used on the loop only.
final class RelayLink: ChannelDuplexHandler, Timed {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum Stage {
        case connecting, awaiting
        /// The outstanding bytes of the answer's body.
        case body(Int)
        case idle, spliced, lingering, closed
    }

    let neighbour: SocketIOServer.Neighbour
    private let loop: ServerLoop
    private let relays: Relays
    private var context: ChannelHandlerContext?
    private var sink: (any ChannelSink)?
    private var stage = Stage.connecting
    /// The client of the request in progress.
    private var client: PeerHandler?
    private var request = RelayRequest(bytes: [], isHead: false, isUpgrade: false, isMore: false)
    private var reader: HTTPResponseReader
    private var keepsAlive = false
    /// Whether the answer is not the client's, because more of its request follows.
    private var isAnswerHidden = false
    private var isReadHeld = false
    var armedTick: UInt64 = 0
    private(set) var deadline: UInt64 = .max

    /// TLS for this connection; `nil` without it.
    var security: TransportSecurity? { self.loop.security }

    init(_ loop: ServerLoop, _ relays: Relays, _ neighbour: SocketIOServer.Neighbour) {
        self.loop = loop
        self.relays = relays
        self.neighbour = neighbour
        self.reader = HTTPResponseReader(limits: loop.configuration.http)
    }

    // MARK: Asking

    /// Sends a request once the connection is established; false if it is still connecting.
    func send(_ request: RelayRequest, for client: PeerHandler) -> Bool {
        self.client = client
        self.request = request
        guard case .idle = self.stage else {
            self.arm(after: self.loop.configuration.relayConnectTimeout)
            return false
        }
        self.sendRequest()
        return true
    }

    private func sendRequest() {
        self.stage = .awaiting
        guard let sink else { return self.drop() }
        sink.append(ByteBuffer(bytes: self.request.bytes))
        self.request.bytes = []
        sink.flush()
        self.arm(after: self.loop.configuration.relayTimeout)
    }

    /// The client is gone: the connection to the owner is closed as if it were the client's.
    func cancel() {
        self.release(isFailure: false)
        self.drop()
    }

    // MARK: Connection

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        self.sink = self.loop.security == nil ? context : SecureSink(context)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        self.sink = nil
    }

    func channelActive(context: ChannelHandlerContext) {
        if self.loop.security == nil { self.connected(context) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted? = event as? TLSUserEvent { self.connected(context) }
        context.fireUserInboundEventTriggered(event)
    }

    private func connected(_ context: ChannelHandlerContext) {
        guard case .connecting = self.stage else { return context.closeSocket() }
        self.relays.connected(context.channel)
        self.sendRequest()
    }

    func connectFailed() { self.lost() }

    func channelInactive(context: ChannelHandlerContext) {
        self.lost()
        self.loop.flushes.release()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.lost()
        context.closeSocket()
    }

    /// Closes immediately.
    func drop() {
        let context = self.context
        self.lost()
        context?.closeSocket()
    }

    private func lost() {
        let stage = self.stage
        if case .closed = stage { return }
        self.stage = .closed
        self.deadline = .max
        self.relays.forget(self)
        switch stage {
        case .connecting, .awaiting: self.release(isFailure: true)?.httpExchange?.relayFailed()
        case .body where self.isAnswerHidden: self.release(isFailure: true)?.httpExchange?.relayFailed()
        case .body: self.release(isFailure: true)?.linger()
        case .spliced: self.release(isFailure: false)?.linger()
        case .idle, .lingering, .closed: break
        }
    }

    /// The relay in progress is over.
    @discardableResult
    private func release(isFailure: Bool) -> PeerHandler? {
        guard let client = self.client else { return nil }
        self.client = nil
        self.relays.ended(isFailure: isFailure)
        return client
    }

    // MARK: Time

    private func arm(after duration: Duration) {
        self.deadline = self.loop.now &+ duration.nanoseconds
        self.loop.timers.arm(self)
    }

    func deadlineReached(at now: UInt64) { self.drop() }
}

// MARK: - Reading

extension RelayLink {
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.loop.flushes.hold()
        var buffer = self.unwrapInboundIn(data)
        switch self.stage {
        case .awaiting: self.readHead(&buffer)
        case .body(let left): self.readBody(&buffer, left)
        case .spliced: self.client?.output.write(buffer)
        case .connecting, .idle: self.drop()  // No request is in progress.
        case .lingering, .closed: break
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        self.loop.flushes.release()
    }

    private func readHead(_ buffer: inout ByteBuffer) {
        var offset = 0
        let result = buffer.withUnsafeReadableBytes { bytes in
            Result { () throws(HTTPResponseReader.Malformed) in try self.reader.next(bytes, at: &offset) }
        }
        buffer.moveReaderIndex(forwardBy: offset)
        guard case .success(let read) = result else { return self.drop() }
        guard let head = read else { return }
        if head.status == 101 { return self.splice(head, buffer) }
        self.keepsAlive = head.keepsAlive
        self.isAnswerHidden = self.request.isMore && head.status == 200
        if !self.isAnswerHidden { self.client?.httpExchange?.relayAnswered(head) }
        self.arm(after: self.loop.configuration.keepAliveTimeout)
        self.readBody(&buffer, self.request.isHead ? 0 : head.contentLength)
    }

    private func readBody(_ buffer: inout ByteBuffer, _ left: Int) {
        let part = buffer.readSlice(length: min(left, buffer.readableBytes)) ?? ByteBuffer()
        if part.readableBytes > 0, !self.isAnswerHidden { self.client?.output.write(part) }
        guard part.readableBytes == left else {
            self.stage = .body(left - part.readableBytes)
            return
        }
        // Parked before the client continues: its next request may use this connection. Bytes after an answer belong to
        // no request; such a connection is not reused.
        let client = self.release(isFailure: false)
        self.stage = .idle
        if self.keepsAlive, buffer.readableBytes == 0, self.relays.park(self) {
            self.arm(after: self.loop.configuration.keepAliveTimeout / 2)
        } else {
            self.drop()
        }
        if self.isAnswerHidden {
            client?.httpExchange?.relayPartTaken()
        } else {
            client?.httpExchange?.relayEnded()
        }
    }
}

// MARK: - WebSocket

extension RelayLink {
    private func splice(_ head: HTTPResponseHead, _ rest: ByteBuffer) {
        guard self.request.isUpgrade, let accept = head.header("sec-websocket-accept") else { return self.drop() }
        self.stage = .spliced
        self.deadline = .max
        self.client?.splice(self, accept: accept)
        if rest.readableBytes > 0 { self.client?.output.write(rest) }
    }

    /// Whether the output for the owner is below the high water mark.
    var isWritable: Bool { self.context?.channel.isWritable ?? true }

    /// Queues the client's bytes; ``flush()`` sends them.
    func write(_ buffer: ByteBuffer) { self.sink?.append(buffer) }

    func flush() { self.sink?.flush() }

    /// The client has closed its side: its last bytes are still sent.
    func clientGone() {
        guard case .spliced = self.stage else { return self.cancel() }
        self.release(isFailure: false)
        self.stage = .lingering
        self.resumeReading()
        self.flush()
        self.arm(after: self.loop.configuration.closeTimeout)
        self.context?.close(mode: .output, promise: nil)
    }

    /// Reading pauses while the client is not writable.
    private var mayRead: Bool {
        switch self.stage {
        case .body, .spliced: self.client?.output.isWritable ?? true
        case .connecting, .awaiting, .idle, .lingering, .closed: true
        }
    }

    func read(context: ChannelHandlerContext) {
        if self.mayRead { context.read() } else { self.isReadHeld = true }
    }

    /// Resumes reading, if it was paused and no longer has to be.
    func resumeReading() {
        guard self.isReadHeld, self.mayRead else { return }
        self.isReadHeld = false
        self.context?.read()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { self.client?.resumeReading() }
    }
}
