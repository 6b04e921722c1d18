internal import NIOCore
internal import SocketIO

extension PeerHandler {
    /// Turns the connection into a WebSocket; the 101 answer is already queued.
    func becomeWebSocket(_ role: Role, limits: WebSocketLimits) {
        self.role = role
        self.decoder = WebSocketDecoder(limits: limits)
        self.disarm()
    }

    /// Decodes and acts on everything in `input`.
    func readFrames(_ input: UnsafeRawBufferPointer) {
        var payload = self.server.takeScratch()
        var offset = 0
        while let event = self.decoder?.next(input, at: &offset, payload: &payload) {
            self.received(event, payload)
        }
        self.server.giveBack(scratch: payload)
    }

    private func received(_ event: WebSocketEvent, _ payload: [UInt8]) {
        switch event {
        case .text: payload.withUnsafeBytes { self.receivedText($0) }
        case .binary: self.receivedBinary(payload)
        case .ping: self.receivedPing(payload)
        case .pong: break
        case .close(let code): self.receivedClose(code)
        case .violation(let violation): self.receivedViolation(violation)
        }
    }

    private func receivedText(_ text: UnsafeRawBufferPointer) {
        switch self.role {
        case .engine(let session): session.textFrame(text)
        case .candidate(let session): session.candidateText(text, self)
        case .bare(let peer, let application): application.message(peer, text, isText: true)
        case .http, .spliced, .lingering, .closed: break
        }
    }

    private func receivedBinary(_ bytes: [UInt8]) {
        switch self.role {
        case .engine(let session): session.binaryMessage(bytes)
        case .candidate(let session):
            session.candidateLost(self)
            self.closeWebSocket(code: 1002)
        case .bare(let peer, let application):
            bytes.withUnsafeBytes { application.message(peer, $0, isText: false) }
        case .http, .spliced, .lingering, .closed: break
        }
    }

    /// RFC 6455 5.5.3 lets an endpoint answer only some pings of a burst; a flood is cut off.
    private func receivedPing(_ payload: [UInt8]) {
        let burst = Float(self.server.configuration.pongBurst)
        let now = self.server.now
        var pongs = self.pongs ?? TokenBucket(burst: burst, at: now)
        let isAnswered = pongs.take(burst: burst, rate: 10, at: now)
        self.pongs = pongs
        if isAnswered {
            self.encode { outbox in
                outbox.writeFrameHeader(.pong, payload.count)
                outbox.writeBytes(payload)
            }
            return
        }
        self.unansweredPings += 1
        guard self.unansweredPings > 100 else { return }
        self.end(.protocolError, code: 1008, reason: "too many pings")
    }

    private func receivedClose(_ code: UInt16?) {
        let role = self.role
        switch role {
        case .engine(let session): session.transportLost(.transportClose)
        case .candidate(let session): session.candidateLost(self)
        case .bare, .http, .spliced, .lingering, .closed: break
        }
        self.closeWebSocket(code: code)
        if case .bare(let peer, let application) = role { application.closed(peer) }
    }

    private func receivedViolation(_ violation: WebSocketViolation) {
        self.server.statistics.protocolErrors += 1
        self.end(violation == .tooBig ? .payloadTooBig : .protocolError, code: violation.closeCode, reason: "")
    }

    /// Ends whatever uses this WebSocket.
    private func end(_ why: DisconnectReason, code: UInt16, reason: StaticString) {
        switch self.role {
        case .engine(let session): session.end(why, code: code, reason: reason)
        case .candidate(let session):
            session.candidateLost(self)
            self.closeWebSocket(code: code, reason: reason)
        case .bare(let peer, let application):
            self.closeWebSocket(code: code, reason: reason)
            application.closed(peer)
        case .http, .spliced, .lingering, .closed: break
        }
    }

    /// Sends a close frame (without a code if `nil`) and ends our half of the connection.
    func closeWebSocket(code: UInt16?, reason: StaticString = "") {
        switch self.role {
        case .engine, .candidate, .bare: break
        case .http, .spliced, .lingering, .closed: return
        }
        let payload = code.map { WebSocketFrame.closePayload(code: $0, reason: reason) } ?? []
        self.encode { outbox in
            outbox.writeFrameHeader(.close, payload.count)
            outbox.writeBytes(payload)
        }
        self.linger()
    }

    /// Sends one whole frame.
    func sendFrame(_ opcode: WebSocketOpcode, _ payload: UnsafeRawBufferPointer) {
        self.encode { outbox in
            outbox.writeFrameHeader(opcode, payload.count)
            outbox.writeBytes(payload)
        }
    }
}
