internal import NIOCore
internal import SocketIO

/// The client's side of a relay; ``RelayLink`` is the owner's.
extension PeerHandler {
    /// Hands a whole request to the server that owns its session.
    func relay(_ head: HTTPRequestHead, _ body: [UInt8], to owner: SocketIOServer.Neighbour) {
        guard case .http(let exchange) = self.role else { return }
        let request = RelayRequest(
            bytes: HTTPRelay.request(head, body: body, client: self.channel.remoteAddress?.ipAddress),
            isHead: head.isMethod("HEAD"), isUpgrade: WebSocketHandshake.isAsked(by: head))
        let link = self.server.relays.link(to: owner)
        exchange.target = .relaying(link)
        self.server.relays.send(request, on: link, for: self)
    }

    /// The owner's answer begins; its body follows by ``write(_:)``.
    func relayAnswered(_ head: HTTPResponseHead) {
        guard case .http(let exchange) = self.role else { return }
        exchange.isStreaming = true
        exchange.keepsAlive = self.answerHead(head.status, head.headers, length: head.contentLength)
    }

    /// The owner's answer is complete.
    func relayEnded() {
        guard case .http(let exchange) = self.role, exchange.isStreaming else { return }
        exchange.isStreaming = false
        self.answered(exchange, keepsAlive: exchange.keepsAlive)
    }

    /// The owner cannot be reached, gave no answer in time or none that can be understood: to the client its session
    /// is unknown, and it opens another one.
    func relayFailed() {
        guard case .http(let exchange) = self.role, case .relaying = exchange.target else { return }
        exchange.target = nil
        self.answer(.unknownSession)
    }

    /// The owner's connection ended in the middle of an answer or of a WebSocket.
    func relayBroken() { self.linger() }

    /// The owner switched to WebSocket: from here on bytes go to and fro as they come.
    func relaySwitched(_ accept: String, to link: RelayLink) {
        guard case .http(let exchange) = self.role else { return link.cancel() }
        self.answerSwitch(accept)
        self.role = .spliced(link)
        self.disarm()
        guard !exchange.backlog.isEmpty else { return }
        link.write(ByteBuffer(bytes: exchange.backlog))
        link.flush()
    }

    /// Whether a relay is under way here.
    var isRelaying: Bool {
        switch self.role {
        case .spliced: return true
        case .http(let exchange): if case .relaying = exchange.target { return true } else { return false }
        case .engine, .candidate, .bare, .lingering, .closed: return false
        }
    }

    /// Ends the relay under way, because this server goes away.
    func endRelay() {
        switch self.role {
        case .spliced(let link):
            link.peerGone()
            self.linger()
        case .http(let exchange):
            guard case .relaying(let link) = exchange.target else { return }
            link.cancel()
            if exchange.isStreaming { self.linger() } else { self.relayFailed() }
        case .engine, .candidate, .bare, .lingering, .closed: break
        }
    }
}
