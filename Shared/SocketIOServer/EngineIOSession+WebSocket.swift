internal import NIOCore
internal import SocketIO

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
            Array("3probe".utf8).withUnsafeBytes { peer.sendFrame(.text, $0) }
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
    func releasePoll() {
        guard let link = self.link, let peer = link.poll else { return }
        link.poll = nil
        peer.answerPlain([EnginePacketType.noop.rawValue])
    }

    /// Everything that waited for polls goes first, so order is kept.
    func switchTransport(to peer: PeerHandler) {
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
        if self.isFull, peer.isWritable { self.becameWritable() }
        self.arm()
    }

    func dropCandidate() {
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
