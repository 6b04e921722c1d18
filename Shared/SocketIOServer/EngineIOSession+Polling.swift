internal import NIOCore
internal import SocketIO

extension EngineIOSession {
    func pollReceived(_ peer: PeerHandler) {
        guard let link = self.link else { return peer.answer(.badRequest) }
        switch self.machine.pollReceived(
            hasPackets: !link.queue.isEmpty, exceedsBody: !self.isLeaving && self.exceedsLastBody(link))
        {
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

    func answer(_ peer: PeerHandler, _ link: PollingLink) {
        peer.answerPlain(link.takeBody(maxPackets: self.server.configuration.maxPollPackets))
        guard self.isFull, link.byteCount <= self.server.configuration.writeLowWater else { return }
        self.becameWritable()
    }

    /// True when more waits than one body takes together with the close packet: some clients throw away a longer one.
    func exceedsLastBody(_ link: PollingLink) -> Bool {
        link.queue.count >= self.server.configuration.maxPollPackets
    }

    /// What is left and the close packet. When the server goes away an error in its stead, after which every client
    /// connects again; by a close packet python-engineio takes itself to be dismissed for good.
    func sendLast(_ peer: PeerHandler, _ link: PollingLink) {
        if self.isGoingAway {
            if link.queue.isEmpty { return peer.answer(.unknownSession) }
            return peer.answerPlain(link.takeBody(maxPackets: self.server.configuration.maxPollPackets))
        }
        link.append(.text(ByteBuffer(bytes: [EnginePacketType.close.rawValue])))
        peer.answerPlain(link.takeBody(maxPackets: self.server.configuration.maxPollPackets))
    }

    /// Answers the held poll, if there is one, with `body`.
    func answerPoll(_ body: [UInt8]) {
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
        guard !self.hasEnded else { return peer.answer(.badRequest) }
        // Also when a WebSocket took over meanwhile: not every client waits for its POST before that, or sends it again.
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
    func readPackets(_ body: UnsafeRawBufferPointer) -> Bool {
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
