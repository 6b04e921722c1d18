public import NIOCore
public import SocketIO

/// One Engine.IO session: the thing that survives the change from polling to WebSocket. Used on the loop only.
public final class EngineIOSession: Timed {
    let server: SocketIOServer
    let id: EngineID
    /// Index of its route.
    let route: Int
    var machine: EngineMachine
    /// The WebSocket that carries it; `nil` while it polls.
    var peer: PeerHandler?
    private var candidate: PeerHandler?
    private var link: PollingLink?
    var layer: SocketIOLayer?
    var armedTick: UInt64 = 0
    private var isDirty = false
    private var isDoomed = false
    private var isFull = false
    private var isOpenDue = false
    private var hasEnded = false
    private var isTold = false
    /// The client said goodbye by this POST, which is answered when the session ends.
    private var isLeaving = false
    private var leavingPost: PeerHandler?
    private var endReason: DisconnectReason?
    private var badPackets: TokenBucket?

    /// How the session was opened; `nil` once released.
    public private(set) var handshake: Handshake?
    /// Where it came from.
    public let remoteAddress: SocketAddress?
    /// The application's own.
    public var userInfo: AnyObject?

    init(_ server: SocketIOServer, _ handshake: Handshake, route: Int) {
        self.server = server
        self.id = server.drawID()
        self.route = route
        self.handshake = handshake
        self.remoteAddress = handshake.remoteAddress
        var timings = server.bareTimings
        if case .socketIO(let application) = server.routes[route].kind {
            timings = server.timings
            self.layer = SocketIOLayer(application, server.configuration)
        }
        self.machine = EngineMachine(transport: handshake.transport, timings: timings, at: server.now)
        if handshake.transport == .polling { self.link = PollingLink() }
        self.arm()
    }

    /// The id as the client knows it.
    public var sid: String { String(decoding: self.server.sidText(self.id), as: UTF8.self) }
    /// The transport in use.
    public var transport: EngineTransport { self.machine.transport }
    /// Frees the request that opened the session.
    public func releaseHandshake() { self.handshake = nil }

    var isClosed: Bool { self.machine.isClosed }
    var polls: Bool { self.machine.transport == .polling }

    private var engineApplication: (any EngineIOApplication)? {
        if case .engineIO(let application) = self.server.routes[self.route].kind { application } else { nil }
    }

    func opened() { self.engineApplication?.opened(self) }

    func arm() { self.server.arm(self, at: self.machine.nextDeadline) }

    func timerFired(at now: UInt64) {
        self.catchUp(at: now)
        self.arm()
    }

    /// Does what time has brought.
    func catchUp(at now: UInt64) {
        guard now >= self.machine.nextDeadline else { return }
        let due = self.machine.timeReached(now)
        if due.sendsPing { self.sendControl(.ping) }
        if due.releasesPoll { self.answerPoll([EnginePacketType.noop.rawValue]) }
        if due.dropsCandidate { self.dropCandidate() }
        switch due.expiry {
        case nil: break
        case .pingTimeout:
            self.server.statistics.pingTimeouts += 1
            self.finish(.pingTimeout, code: 1001, reason: "ping timeout")
        case .connectTimeout:
            self.server.statistics.connectTimeouts += 1
            self.finish(.connectTimeout, code: 1008, reason: "no namespace joined in time")
        case .closeTimeout:
            self.finish(.transportClose, code: 1000, reason: "")
        }
    }
}

// MARK: - Sending

extension EngineIOSession {
    /// Sends a text message.
    public func send(text: UnsafeRawBufferPointer) {
        self.sendText(length: 1 + text.count) { buffer in
            buffer.writeInteger(EnginePacketType.message.rawValue)
            buffer.writeBytes(text)
        }
    }

    /// Sends a binary message.
    public func send(binary: [UInt8]) {
        guard !self.machine.isClosed else { return }
        if let peer = self.writablePeer() {
            binary.withUnsafeBytes { peer.sendFrame(.binary, $0) }
        } else {
            self.link?.append(.binary(binary))
            self.markDirty()
        }
        self.enforceBound()
    }

    /// Bytes that wait for this client: not accepted by the kernel, or not fetched by a poll.
    public var bufferedBytes: Int { self.peer?.bufferedBytes ?? self.link?.byteCount ?? 0 }

    /// Whether little enough waits.
    public var isWritable: Bool { self.peer?.channel.isWritable ?? (!self.isFull && !self.isClosed) }

    /// Closes the session: a WebSocket with `code`, polling with a close packet.
    public func close(code: UInt16 = 1000, reason: StaticString = "") {
        self.end(.closedByServer(code), code: code, reason: reason)
    }

    func send(_ packet: PreparedPacket) {
        guard !self.machine.isClosed else { return }
        if let peer = self.writablePeer() {
            peer.write(packet.frames)
        } else {
            for range in packet.packets { self.link?.append(.prepared(packet, range)) }
            self.markDirty()
        }
        self.enforceBound()
    }

    /// Sends one text packet of exactly `length` bytes, written by `body`.
    func sendText(length: Int, _ body: (inout ByteBuffer) -> Void) {
        guard !self.machine.isClosed else { return }
        if let peer = self.writablePeer() {
            peer.encode { outbox in
                outbox.writeFrameHeader(.text, length)
                let start = outbox.writerIndex
                body(&outbox)
                assert(outbox.writerIndex - start == length, "the frame header announced another length")
            }
        } else {
            var buffer = ByteBufferAllocator().buffer(capacity: length)
            body(&buffer)
            self.link?.append(.text(buffer))
            self.markDirty()
        }
        self.enforceBound()
    }

    private func sendControl(_ type: EnginePacketType) {
        self.sendText(length: 1) { _ = $0.writeInteger(type.rawValue) }
    }

    /// The WebSocket in use, after the open packet if that was held back.
    private func writablePeer() -> PeerHandler? {
        if self.isOpenDue { self.sendOpenNow() }
        return self.peer
    }

    func sendOpen(after delay: Duration) {
        self.isOpenDue = true
        guard delay > .zero else { return self.sendOpenNow() }
        let bound = NIOLoopBound(self, eventLoop: self.server.eventLoop)
        self.server.eventLoop.scheduleTask(in: .nanoseconds(Int64(clamping: delay.nanoseconds))) {
            if bound.value.isOpenDue { bound.value.sendOpenNow() }
        }
    }

    private func sendOpenNow() {
        self.isOpenDue = false
        let payload = self.server.openPayload(self.id, .webSocket)
        self.sendText(length: 1 + payload.count) { buffer in
            buffer.writeInteger(EnginePacketType.open.rawValue)
            buffer.writeBytes(payload)
        }
    }

    private func enforceBound() {
        let isFull: Bool
        if let peer = self.peer {
            if peer.channel.isWritable { return }
            isFull = peer.bufferedBytes > self.server.configuration.maxBufferedBytes
        } else {
            let waiting = self.link?.byteCount ?? 0
            if waiting >= self.server.configuration.writeHighWater { self.isFull = true }
            isFull = waiting > self.server.configuration.maxBufferedBytes
        }
        // Ended at the next flush: the application may be in the middle of sending to many.
        guard isFull, !self.isDoomed else { return }
        self.isDoomed = true
        self.server.doomed.append(self)
        self.server.scheduleFlush()
    }

    func becameWritable() {
        self.isFull = false
        guard !self.isClosed, let layer = self.layer else { return }
        for socket in layer.table.members where socket.isConnected { layer.application.writable(socket) }
    }

    private func markDirty() {
        guard !self.isDirty else { return }
        self.isDirty = true
        self.server.dirtySessions.append(self)
        self.server.scheduleFlush()
    }
}

// MARK: - Polling

extension EngineIOSession {
    func pollReceived(_ peer: PeerHandler) {
        guard let link = self.link else { return peer.answer(.badRequest) }
        switch self.machine.pollReceived(hasPackets: !link.queue.isEmpty) {
        case .hold: link.poll = peer
        case .packets: self.answer(peer, link)
        case .noop: peer.answerPlain([EnginePacketType.noop.rawValue])
        case .last:
            if self.isLeaving {
                peer.answerPlain([EnginePacketType.noop.rawValue])
            } else {
                self.sendLast(peer, link)
            }
            self.finish(.transportClose, code: 1000, reason: "")
        case .mismatch: peer.answer(.unknownSession)
        case .duplicate:
            self.end(.protocolError, code: 1002, reason: "")
            peer.answer(.badRequest)
        }
    }

    private func answer(_ peer: PeerHandler, _ link: PollingLink) {
        peer.answerPlain(link.takeBody(maxPackets: self.server.configuration.maxPollPackets))
        guard self.isFull, link.byteCount <= self.server.configuration.writeLowWater else { return }
        self.becameWritable()
    }

    /// What is left and the close packet.
    private func sendLast(_ peer: PeerHandler, _ link: PollingLink) {
        link.append(.text(ByteBuffer(bytes: [EnginePacketType.close.rawValue])))
        peer.answerPlain(link.takeBody(maxPackets: .max))
    }

    /// Answers the held poll, if there is one, with `body`.
    private func answerPoll(_ body: [UInt8]) {
        guard let link = self.link, let peer = link.poll else { return }
        link.poll = nil
        self.machine.pollAnswered()
        peer.answerPlain(body)
    }

    /// Answers the held poll with what waits.
    func flushPolling() {
        self.isDirty = false
        guard !self.hasEnded, let link = self.link, let peer = link.poll, !link.queue.isEmpty else { return }
        link.poll = nil
        self.machine.pollAnswered()
        self.answer(peer, link)
    }

    /// The connection of the held poll broke.
    func pollLost() {
        self.link?.poll = nil
        self.machine.pollAnswered()
        self.finish(.transportClose, code: 1000, reason: "")
    }

    func postArrived() -> EngineMachine.PostAnswer { self.machine.postReceived() }

    /// The connection of a POST broke before its body was there.
    func postLost() {
        self.machine.postEnded()
        self.finish(.transportClose, code: 1000, reason: "")
    }

    /// The body of a POST was too large or malformed; it was answered already.
    func postRefused() {
        self.machine.postEnded()
        self.end(.payloadTooBig, code: 1009, reason: "")
    }

    func postReceived(_ body: [UInt8], _ peer: PeerHandler) {
        self.machine.postEnded()
        guard !self.hasEnded, self.polls else { return peer.answer(.badRequest) }
        let isSound = body.withUnsafeBytes { self.readPackets($0) }
        if self.isLeaving, !self.hasEnded {
            self.leavingPost = peer
        } else if isSound {
            peer.answerPlain(Array("ok".utf8))
        } else {
            peer.answer(.badRequest)
        }
    }

    /// Deals with the packets of one POST; `false` if one of them is malformed (and the session over).
    private func readPackets(_ body: UnsafeRawBufferPointer) -> Bool {
        var reader = EnginePayloadReader()
        do {
            while let packet = try reader.next(in: body) {
                switch packet {
                case .binary(let bytes): self.binaryMessage(bytes)
                case .text(let type, let range):
                    self.packet(type, UnsafeRawBufferPointer(rebasing: body[range]))
                }
                // A goodbye is no error; a broken rule is.
                if self.hasEnded || self.isLeaving { return !self.endedByViolation }
            }
            return true
        } catch {
            self.violated()
            return false
        }
    }
}

// MARK: - WebSocket

extension EngineIOSession {
    func adopt(_ peer: PeerHandler) { self.peer = peer }

    /// A second transport; `false` if it is one too many.
    func offer(_ peer: PeerHandler) -> Bool {
        guard self.machine.webSocketArrived(at: self.server.now) else { return false }
        self.candidate = peer
        self.arm()
        return true
    }

    func candidateText(_ text: UnsafeRawBufferPointer, _ peer: PeerHandler) {
        guard peer === self.candidate else { return peer.closeWebSocket(code: 1000) }
        switch self.machine.candidateReceived(text, at: self.server.now) {
        case .probe(let releasePoll):
            "3probe".utf8.withContiguousStorageIfAvailable { peer.sendFrame(.text, UnsafeRawBufferPointer($0)) }
            if releasePoll { self.releasePoll() }
            self.arm()
        case .adopt(let releasePoll):
            if releasePoll { self.releasePoll() }
            self.switchTransport(to: peer)
        case .ignore: break
        case .drop: self.dropCandidate()
        }
    }

    /// The machine has taken the poll away already.
    private func releasePoll() {
        guard let link = self.link, let peer = link.poll else { return }
        link.poll = nil
        peer.answerPlain([EnginePacketType.noop.rawValue])
    }

    /// Everything that waited for polls goes first, so order is kept.
    private func switchTransport(to peer: PeerHandler) {
        self.candidate = nil
        self.peer = peer
        peer.role = .engine(self)
        self.server.statistics.upgrades += 1
        let link = self.link
        self.link = nil
        while let packet = link?.popFirst() {
            switch packet {
            case .text(let buffer):
                peer.encode { outbox in
                    outbox.writeFrameHeader(.text, buffer.readableBytes)
                    outbox.writeImmutableBuffer(buffer)
                }
            case .prepared(let prepared, let range):
                guard let slice = prepared.frames.getSlice(at: range.lowerBound, length: range.count) else { continue }
                peer.encode { outbox in
                    outbox.writeFrameHeader(.text, slice.readableBytes)
                    outbox.writeImmutableBuffer(slice)
                }
            case .binary(let bytes): bytes.withUnsafeBytes { peer.sendFrame(.binary, $0) }
            }
        }
        if self.isFull, peer.channel.isWritable { self.becameWritable() }
        self.arm()
    }

    private func dropCandidate() {
        guard let candidate = self.candidate else { return }
        self.candidate = nil
        self.machine.candidateLost(at: self.server.now)
        candidate.closeWebSocket(code: 1000)
        self.arm()
    }

    func candidateLost(_ peer: PeerHandler) {
        guard peer === self.candidate else { return }
        self.candidate = nil
        self.machine.candidateLost(at: self.server.now)
        self.arm()
    }

    /// The WebSocket that carried the session is gone or said goodbye.
    func transportLost(_ reason: DisconnectReason) {
        self.peer = nil
        self.finish(reason, code: 1000, reason: "")
    }

    /// A text frame by the current transport.
    func textFrame(_ text: UnsafeRawBufferPointer) {
        guard let first = text.first, let type = EnginePacketType(rawValue: first) else { return self.violated() }
        self.packet(type, UnsafeRawBufferPointer(rebasing: text[1...]))
    }
}

// MARK: - Receiving

extension EngineIOSession {
    private func packet(_ type: EnginePacketType, _ content: UnsafeRawBufferPointer) {
        switch self.machine.packetReceived(type, at: self.server.now) {
        case .message: self.textMessage(content)
        case .nothing: break
        case .close:
            if let link = self.link, link.poll == nil { return self.awaitLastPoll() }
            // The poll that is held ends quietly.
            self.answerPoll([EnginePacketType.noop.rawValue])
            self.finish(.transportClose, code: 1000, reason: "")
        case .violation: self.violated()
        }
    }

    private func awaitLastPoll() {
        self.isLeaving = true
        self.machine.goodbyeReceived(until: self.server.now &+ 50_000_000)
        self.dropCandidate()
        self.tellApplication(.transportClose)
        self.arm()
    }

    private func textMessage(_ message: UnsafeRawBufferPointer) {
        self.server.statistics.packetsIn += 1
        if self.layer != nil {
            self.socketIOText(message)
        } else {
            self.engineApplication?.text(self, message)
        }
    }

    func binaryMessage(_ message: [UInt8]) {
        guard !self.isClosed else { return }
        self.server.statistics.packetsIn += 1
        if self.layer != nil {
            self.socketIOBinary(message)
        } else {
            self.engineApplication?.binary(self, message)
        }
    }

    /// The client broke Engine.IO.
    private func violated() {
        self.server.statistics.protocolErrors += 1
        self.end(.protocolError, code: 1002, reason: "")
    }

    /// Counts something that a well-made client would not send.
    func badPacket() {
        guard !self.isClosed else { return }
        self.server.statistics.badPackets += 1
        let burst = Float(self.server.configuration.badPacketBudget)
        let now = self.server.now
        var bucket = self.badPackets ?? TokenBucket(burst: burst, at: now)
        let isTolerated = bucket.take(burst: burst, rate: burst / 60, at: now)
        self.badPackets = bucket
        if !isTolerated { self.end(.badPackets, code: 1008, reason: "too many bad packets") }
    }
}

// MARK: - Ending

extension EngineIOSession {
    private var endedByViolation: Bool {
        switch self.endReason {
        case .protocolError, .parseError, .payloadTooBig, .badPackets: true
        default: false
        }
    }

    /// The server ends the session. A polling client without a held poll gets the rest with its next one.
    func end(_ why: DisconnectReason, code: UInt16, reason: StaticString) {
        guard !self.hasEnded else { return }
        // Rule breakers are not waited for.
        let isImmediate =
            switch why {
            case .closedByServer, .drained: false
            default: true
            }
        if isImmediate {
            self.machine.ended()
        } else if !self.machine.closeRequested(at: self.server.now) {
            self.dropCandidate()
            self.tellApplication(why)
            self.arm()
            return
        }
        if let link = self.link, let peer = link.poll {
            link.poll = nil
            self.sendLast(peer, link)
        }
        self.finish(why, code: code, reason: reason)
    }

    /// Everything is over: nothing is waited for any more.
    private func finish(_ why: DisconnectReason, code: UInt16, reason: StaticString) {
        guard !self.hasEnded else { return }
        self.hasEnded = true
        self.endReason = why
        self.machine.ended()
        self.server.sessions[self.id] = nil
        let peer = self.peer
        let candidate = self.candidate
        let poll = self.link?.poll
        self.peer = nil
        self.candidate = nil
        self.link = nil
        poll?.answer(.unknownSession)
        self.leavingPost?.answerPlain(Array("ok".utf8))
        self.leavingPost = nil
        self.tellApplication(why)
        candidate?.closeWebSocket(code: 1000)
        peer?.closeWebSocket(code: code, reason: reason)
        self.handshake = nil
        self.layer = nil
        self.userInfo = nil
    }

    /// Tells the application once, also when a polling session still waits for its last poll.
    private func tellApplication(_ why: DisconnectReason) {
        guard !self.isTold else { return }
        self.isTold = true
        if let layer = self.layer {
            layer.root = nil
            let sockets = layer.table.removeAll()
            for socket in sockets { socket.ended(why, layer.application) }
        } else {
            self.engineApplication?.closed(self, reason: why)
        }
    }
}
