internal import SocketIO

extension EngineIOSession {
    func packet(_ type: EnginePacketType, _ content: UnsafeRawBufferPointer) {
        switch self.machine.packetReceived(type, at: self.server.now) {
        case .message: self.textMessage(content)
        case .nothing:
            // A pong may bring the next ping nearer than the deadline that was waited for.
            if type == .pong { self.arm() }
        case .close:
            if let link = self.link, link.poll == nil { return self.awaitLastPoll() }
            // The poll that is held ends quietly.
            self.answerPoll([EnginePacketType.noop.rawValue])
            self.finish(.transportClose, code: 1000, reason: "")
        case .violation: self.violated()
        }
    }

    func awaitLastPoll() {
        self.isLeaving = true
        self.machine.goodbyeReceived(until: self.server.now &+ 50_000_000)
        self.dropCandidate()
        self.tellApplication(.transportClose)
        self.arm()
    }

    func textMessage(_ message: UnsafeRawBufferPointer) {
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
    func violated() {
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
