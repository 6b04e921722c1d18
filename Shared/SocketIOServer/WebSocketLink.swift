internal import NIOCore
internal import SocketIO

/// The WebSocket side of a connection: encodes and decodes frames for its user.
final class WebSocketLink {
    enum User {
        case engine(EngineIOSession)
        case candidate(EngineIOSession)
        case bare(WebSocketPeer)
        /// Not attached yet, or closed.
        case none
    }

    let output: ConnectionOutput
    let connection: PeerHandler
    private var user = User.none
    private var decoder: WebSocketDecoder
    private var pings: PingAllowance

    init(_ connection: PeerHandler, _ limits: WebSocketLimits) {
        self.connection = connection
        self.output = connection.output
        self.decoder = WebSocketDecoder(limits: limits)
        self.pings = PingAllowance(burst: connection.loop.configuration.pongBurst)
    }

    /// Received messages go to this user from here on.
    func attach(_ user: User) { self.user = user }

    /// The session that it carries; `nil` when it carries none.
    var session: EngineIOSession? { if case .engine(let session) = self.user { session } else { nil } }

    private var isOpen: Bool { if case .none = self.user { false } else { true } }

    /// Whether more may be read from the client, given its output backlog.
    var mayRead: Bool { if case .bare = self.user { self.output.isWritable } else { true } }

    var heldBytes: Int { self.decoder.heldBytes }

    /// Decodes and processes `input` while the peer is within its limits; returns how many bytes were processed.
    func read(_ input: UnsafeRawBufferPointer) -> Int {
        self.connection.loop.withScratch { payload in
            var offset = 0
            var unanswered: [UInt8]?
            while self.isOpen, self.connection.isWithinReadLimits,
                let event = self.decoder.next(input, at: &offset, payload: &payload)
            {
                self.connection.charge(messages: 1)
                if case .ping = event {
                    self.receivedPing(payload, &unanswered)
                } else {
                    self.received(event, payload)
                }
            }
            if self.isOpen, let unanswered { self.sendPong(unanswered) }
            return offset
        }
    }

    private func received(_ event: WebSocketEvent, _ payload: [UInt8]) {
        switch event {
        case .text: payload.withUnsafeBytes { self.receivedText($0) }
        case .binary: self.receivedBinary(payload)
        case .ping, .pong: break
        case .close(let code): self.receivedClose(code)
        case .violation(let violation):
            self.connection.loop.statistics.protocolErrors += 1
            self.end(.violation(violation))
        }
    }

    private func receivedText(_ text: UnsafeRawBufferPointer) {
        switch self.user {
        case .engine(let session): session.textFrame(text)
        case .candidate(let session): session.candidateText(text, self)
        case .bare(let peer): peer.received(text, isText: true)
        case .none: break
        }
    }

    private func receivedBinary(_ bytes: [UInt8]) {
        switch self.user {
        case .engine(let session): session.binaryMessage(bytes)
        case .candidate(let session):
            session.candidateLost(self)
            self.close(code: 1002)
        case .bare(let peer): bytes.withUnsafeBytes { peer.received($0, isText: false) }
        case .none: break
        }
    }

    /// Answers a ping, or leaves it in `unanswered` until the end of the read.
    private func receivedPing(_ payload: [UInt8], _ unanswered: inout [UInt8]?) {
        let loop = self.connection.loop
        switch self.pings.pingReceived(at: loop.now) {
        case .answer:
            unanswered = nil
            self.sendPong(payload)
        case .answerIfLast: unanswered = payload
        case .close: self.end(.tooManyPings)
        }
    }

    private func sendPong(_ payload: [UInt8]) { payload.withUnsafeBytes { self.send(.pong, $0) } }

    private func receivedClose(_ code: UInt16?) {
        let user = self.user
        switch user {
        case .engine(let session): session.transportLost(.transportClose)
        case .candidate(let session): session.candidateLost(self)
        case .bare, .none: break
        }
        self.close(code: code)
        if case .bare(let peer) = user { peer.ended() }
    }

    func becameWritable() {
        if case .engine(let session) = self.user { session.becameWritable() }
    }

    // MARK: Sending

    func send(_ opcode: WebSocketOpcode, _ payload: UnsafeRawBufferPointer) {
        self.output.encode { outbox in
            outbox.writeFrameHeader(opcode, payload.count)
            outbox.writeBytes(payload)
        }
    }

    // MARK: Ending

    private func end(_ ending: SessionEnding) {
        switch self.user {
        case .engine(let session): session.end(ending)
        case .candidate(let session):
            session.candidateLost(self)
            self.close(code: ending.code, reason: ending.text)
        case .bare(let peer):
            self.close(code: ending.code, reason: ending.text)
            peer.ended()
        case .none: break
        }
    }

    /// Sends a close frame (without a code if `nil`) and closes the output. The user is not called.
    func close(code: UInt16?, reason: StaticString = "") {
        guard self.isOpen else { return }
        self.user = .none
        let payload = code.map { WebSocketFrame.closePayload(code: $0, reason: reason) } ?? []
        payload.withUnsafeBytes { self.send(.close, $0) }
        self.connection.linger()
    }

    func connectionLost(_ reason: DisconnectReason) {
        switch exchange(&self.user, with: .none) {
        case .engine(let session): session.transportLost(reason)
        case .candidate(let session): session.candidateLost(self)
        case .bare(let peer): peer.ended()
        case .none: break
        }
    }
}
