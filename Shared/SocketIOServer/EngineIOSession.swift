public import NIOCore
public import SocketIO

/// One Engine.IO session, which persists across the upgrade from polling to WebSocket. Used on the loop only.
///
/// It has a method for each event of its transports, its application and the clock. ``EngineMachine`` decides what
/// follows from an event, and the method does it with ``SessionOutput``. What comes by HTTP ``SessionPost`` reads.
public final class EngineIOSession: Timed {
    let id: EngineID
    let route: Int
    private let registry: SessionRegistry
    /// What the client's address uses; `nil` if that is not limited.
    let account: AddressAccount?
    private var machine: EngineMachine
    private(set) var output: SessionOutput
    /// Connections that carried the session before, or a part of it, and may not have sent all of that.
    private var trail = ConnectionTrail()
    private(set) var phase = SessionPhase.open
    /// The POST that is being read.
    private var post: SessionPost?
    /// `nil` once the session has ended.
    private var application: (any EngineIOApplication)?
    /// The application, if it is Socket.IO.
    private(set) var layer: SocketIOLayer?
    var armedTick: UInt64 = 0

    public private(set) var handshake: Handshake?
    public let remoteAddress: SocketAddress?
    public var userInfo: AnyObject?

    init(
        _ registry: SessionRegistry, _ handshake: Handshake, _ timings: EngineTimings, route: Int,
        _ carrier: SessionCarrier, _ account: AddressAccount?
    ) {
        self.registry = registry
        self.account = account
        self.id = registry.makeID()
        self.route = route
        self.handshake = handshake
        self.remoteAddress = handshake.remoteAddress
        self.output = SessionOutput(carrier)
        self.machine = EngineMachine(transport: handshake.transport, timings: timings, at: registry.loop.now)
        self.arm()
    }

    func open(for application: any EngineIOApplication) {
        self.application = application
        self.layer = application as? SocketIOLayer
        application.opened(self)
    }

    var loop: ServerLoop { self.registry.loop }

    /// The id known to the client.
    public var sid: String { String(decoding: self.registry.sid(self.id), as: UTF8.self) }
    public var transport: EngineTransport { self.machine.transport }
    public func releaseHandshake() { self.handshake = nil }

    /// Whether the application can no longer send: the session has ended or is about to.
    var isClosed: Bool { self.machine.isClosed }
    var hasEnded: Bool { self.phase.hasEnded }
    /// True while packets are queued for a poll.
    var hasPackets: Bool { self.polling?.isEmpty == false }

    private var polling: PollingLink? { self.output.polling }

    func makeID() -> EngineID { self.registry.makeID() }

    func namespaceRequested() { self.machine.connectRequested() }

    func namespaceJoined() { self.machine.connected() }

    /// Bytes kept for the session besides those of its WebSocket: packets for polls and of a POST, the handshake, and what
    /// the application keeps.
    var heldBytes: Int {
        (self.polling?.heldBytes ?? 0) + (self.post?.heldBytes ?? 0) + (self.handshake?.head.byteCount ?? 0)
            + (self.layer?.heldBytes ?? 0)
    }

    // MARK: Time

    var deadline: UInt64 { self.machine.nextDeadline }

    private func arm() { self.loop.timers.arm(self) }

    func deadlineReached(at now: UInt64) {
        self.catchUp(at: now)
        self.arm()
    }

    func catchUp(at now: UInt64) {
        guard now >= self.machine.nextDeadline else { return }
        let due = self.machine.timeReached(now)
        if due.sendsPing { self.sendText(length: 1) { _ = $0.writeInteger(EnginePacketType.ping.rawValue) } }
        if due.releasesPoll { self.answerPollWithNoop() }
        if due.dropsCandidate { self.dropCandidate() }
        guard let expiry = due.expiry else { return }
        if expiry == .pingTimeout { self.loop.statistics.pingTimeouts += 1 }
        if expiry == .connectTimeout { self.loop.statistics.connectTimeouts += 1 }
        self.finish(.expired(expiry))
    }
}

// MARK: - Sending

extension EngineIOSession {
    public func send(text: UnsafeRawBufferPointer) {
        self.sendText(length: 1 + text.count) { buffer in
            buffer.writeInteger(EnginePacketType.message.rawValue)
            buffer.writeBytes(text)
        }
    }

    public func send(binary: [UInt8]) {
        guard !self.isClosed else { return }
        self.output.send(binary: binary)
        self.packetSent()
    }

    /// Bytes queued for this client: not accepted by the kernel; or not fetched by a poll, with what each packet that
    /// waits for one occupies besides.
    public var bufferedBytes: Int { self.output.bufferedBytes }

    /// Bytes that were sent and that the kernel has not accepted, on all connections that carried them; also once the session
    /// has ended.
    public var outstandingBytes: Int { self.output.bufferedBytes + self.trail.bufferedBytes }

    /// Whether fewer bytes are queued than the high water mark.
    public var isWritable: Bool { self.output.isWritable && !self.isClosed }

    func send(_ packet: PreparedPacket) {
        guard !self.isClosed else { return }
        self.output.send(packet)
        self.packetSent()
    }

    /// Sends a packet unless the session is not writable or has no space for it; false when it was not sent.
    func offer(_ packet: PreparedPacket) -> Bool {
        let limit = self.loop.configuration.maxBufferedBytes
        guard self.isWritable,
            self.output.hasSpace(for: packet, limit: limit, highWater: self.loop.configuration.writeHighWater)
        else { return false }
        if case .webSocket(let link) = self.output.carrier {
            link.output.write(packet.frames)
        } else {
            self.send(packet)
        }
        return true
    }

    /// Sends one text packet of exactly `length` bytes, written by `body`.
    func sendText(length: Int, _ body: (inout ByteBuffer) -> Void) {
        guard !self.isClosed else { return }
        self.output.send(length: length, body)
        self.packetSent()
    }

    /// Queues a polling session for the next flush, and enforces the bound of the backlog.
    private func packetSent() {
        if let link = self.polling {
            if link.queueForFlush() { self.loop.flushes.append(polling: self) }
        } else if self.output.isWritable {
            return
        }
        // Ended by the next flush: the application may be sending to many recipients right now.
        if self.output.grew(limit: self.loop.configuration.maxBufferedBytes) {
            self.loop.flushes.append(slowReader: self)
        }
    }

    /// Exempts bytes that are about to be sent from the bound of the backlog.
    func exempt(_ bytes: Int) { self.output.exempt(bytes) }

    func becameWritable() {
        if !self.isClosed { self.layer?.becameWritable() }
    }
}

// MARK: - Polling

extension EngineIOSession {
    func pollReceived(_ poll: HTTPExchange) {
        guard let link = self.polling else { return poll.answer(.badRequest) }
        switch self.machine.pollReceived(hasPackets: !link.isEmpty, exceedsBody: link.exceedsLastBody) {
        case .hold: link.hold(poll)
        case .packets: self.answer(poll, link)
        case .last:
            self.trail.append(poll.connection)
            link.sendLast(poll, isGoingAway: self.phase.isGoingAway)
            self.finish(.leftByClient)
        case .farewell:
            poll.answerText([EnginePacketType.noop.rawValue])
            self.finish(.leftByClient)
        case .mismatch: poll.answer(.unknownSession)
        case .duplicate:
            self.end(.protocolError)
            poll.answer(.badRequest)
        }
    }

    private func answer(_ poll: HTTPExchange, _ link: PollingLink) {
        self.trail.append(poll.connection)
        if link.sendNext(poll) { self.becameWritable() }
    }

    /// Answers the held poll, if there is one. The machine has already recorded the answer.
    private func answerPollWithNoop() {
        guard let poll = self.polling?.releasePoll() else { return }
        self.machine.pollAnswered()
        poll.answerText([EnginePacketType.noop.rawValue])
    }

    func flushPolling() {
        guard let link = self.polling, let poll = link.releasePollToFlush() else { return }
        self.machine.pollAnswered()
        self.answer(poll, link)
    }

    func pollLost() {
        _ = self.polling?.releasePoll()
        self.machine.pollAnswered()
        self.finish(.leftByClient)
    }

    /// The head of a POST arrived; throws when its body must not be read.
    func postHeadReceived() throws(EngineError) -> SessionPost {
        switch self.machine.postReceived(at: self.loop.now) {
        case .read:
            let post = SessionPost(self)
            self.post = post
            return post
        case .mismatch: throw .badRequest
        case .duplicate:
            self.end(.protocolError)
            throw .badRequest
        }
    }

    /// The body of the POST was read, or refused, or its connection was lost.
    func postEnded() {
        self.machine.postEnded()
        self.post = nil
    }

    /// Answers a POST that was read. That of a close packet is answered at the end.
    func answerPost(_ exchange: HTTPExchange) {
        if self.phase.isLeaving { self.phase = .leaving(exchange) } else { exchange.answerPost() }
    }
}

// MARK: - WebSocket

extension EngineIOSession {
    /// A WebSocket with the id of this session opened; `false` if there is one already.
    func startUpgrade(to link: WebSocketLink) -> Bool {
        guard let polling, self.machine.webSocketArrived(at: self.loop.now) else { return false }
        polling.candidate = link
        self.arm()
        return true
    }

    /// A text frame of the WebSocket that is being probed.
    func candidateText(_ text: UnsafeRawBufferPointer, _ link: WebSocketLink) {
        guard link === self.polling?.candidate else { return link.close(code: 1000) }
        switch self.machine.candidateReceived(text, at: self.loop.now) {
        case .probe:
            Array("3probe".utf8).withUnsafeBytes { link.send(.text, $0) }
            self.arm()
        case .adopt(let releasePoll):
            if releasePoll { self.answerPollWithNoop() }
            self.switchTransport(to: link)
        case .ignore: break
        case .drop: self.dropCandidate()
        }
    }

    /// Packets queued for polls are sent first, so order is preserved.
    private func switchTransport(to link: WebSocketLink) {
        let polling = self.polling
        self.output.carrier = .webSocket(link)
        link.attach(.engine(self))
        self.loop.statistics.upgrades += 1
        polling?.sendAll(by: link)
        if polling?.isFull == true, link.output.isWritable { self.becameWritable() }
        self.arm()
    }

    private func dropCandidate() {
        guard let polling, let candidate = polling.candidate else { return }
        self.candidateLost(candidate)
        candidate.close(code: 1000)
    }

    /// The WebSocket that was being probed is gone; polling continues.
    func candidateLost(_ link: WebSocketLink) {
        guard let polling, link === polling.candidate else { return }
        polling.candidate = nil
        self.machine.candidateLost(at: self.loop.now)
        self.arm()
    }

    /// The WebSocket that carried the session was lost or closed by the client.
    func transportLost(_ reason: DisconnectReason) {
        self.output.carrier = .none
        self.finish(.transportLost(reason))
    }

    /// A text frame of the WebSocket that carries the session.
    func textFrame(_ text: UnsafeRawBufferPointer) {
        guard let first = text.first, let type = EnginePacketType(rawValue: first) else { return self.violated() }
        self.packetReceived(type, UnsafeRawBufferPointer(rebasing: text[1...]))
    }
}

// MARK: - Packets

extension EngineIOSession {
    func packetReceived(_ type: EnginePacketType, _ content: UnsafeRawBufferPointer) {
        switch self.machine.packetReceived(type, at: self.loop.now) {
        case .message: self.textMessage(content)
        case .nothing:
            // A pong may make the next ping due before the deadline that is armed.
            if type == .pong { self.arm() }
        case .close: self.closeReceived()
        case .violation: self.violated()
        }
    }

    private func closeReceived() {
        if let link = self.polling, link.poll == nil {
            self.machine.closeReceived(at: self.loop.now)
            return self.wait(as: .leaving(nil), .leftByClient)
        }
        // The held poll ends with a noop.
        self.answerPollWithNoop()
        self.finish(.leftByClient)
    }

    private func textMessage(_ message: UnsafeRawBufferPointer) {
        self.loop.statistics.packetsIn += 1
        self.application?.text(self, message)
    }

    func binaryMessage(_ message: [UInt8]) {
        guard !self.isClosed else { return }
        self.loop.statistics.packetsIn += 1
        self.application?.binary(self, message)
    }

    func violated() {
        self.loop.statistics.protocolErrors += 1
        self.end(.protocolError)
    }
}

// MARK: - Ending

extension EngineIOSession {
    /// Closes the session: a WebSocket with `code`, polling with a close packet.
    public func close(code: UInt16 = 1000, reason: StaticString = "") {
        self.end(.closed(code, reason))
    }

    /// More than ``SocketIOServer/Configuration/maxBufferedBytes`` are queued for the client.
    func endAsSlowReader() {
        self.loop.statistics.slowReaders += 1
        self.end(.slowReader)
    }

    /// Ends the session and closes the connections that hold something of it, immediately; also once it has ended.
    func shed() {
        if !self.hasEnded { self.endAsSlowReader() }
        self.trail.drop()
    }

    /// The server ends the session. A polling client without a held poll gets the remaining packets with its next one,
    /// unless it violated a rule.
    func end(_ ending: SessionEnding) {
        guard !self.hasEnded else { return }
        if ending.isGraceful {
            // A held poll gets the first of several bodies, and the next polls the rest.
            if let link = self.polling, link.exceedsLastBody { self.flushPolling() }
            guard self.machine.closeRequested(at: self.loop.now) else {
                return self.wait(as: .closing(isGoingAway: ending.isGoingAway || self.phase.isGoingAway), ending)
            }
        } else {
            self.machine.ended()
        }
        if let link = self.polling, let poll = link.releasePoll() {
            self.trail.append(poll.connection)
            link.sendLast(poll, isGoingAway: ending.isGoingAway)
        }
        self.finish(ending)
    }

    /// Waits for the last poll of a polling session, which has already ended for the application.
    private func wait(as phase: SessionPhase, _ ending: SessionEnding) {
        self.dropCandidate()
        let wasOpen = self.phase.isOpen
        if !self.phase.isLeaving { self.phase = phase }
        if wasOpen { self.application?.closed(self, reason: ending.reason) }
        self.arm()
    }

    func finish(_ ending: SessionEnding) {
        guard !self.hasEnded else { return }
        let phase = exchange(&self.phase, with: .ended(ending))
        let carrier = exchange(&self.output.carrier, with: .none)
        self.machine.ended()
        exchange(&self.post, with: nil)?.sessionEnded()
        self.registry.remove(self)
        if case .polling(let link) = carrier { link.releasePoll()?.answer(.unknownSession) }
        if case .leaving(let post?) = phase { post.answerText(HTTPExchange.ok) }
        if phase.isOpen { self.application?.closed(self, reason: ending.reason) }
        if case .webSocket(let link) = carrier { self.trail.append(link.connection) }
        carrier.close(ending)
        self.handshake = nil
        (self.application, self.layer) = (nil, nil)
        self.userInfo = nil
    }
}
