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
    var candidate: PeerHandler?
    var link: PollingLink?
    var layer: SocketIOLayer?
    var armedTick: UInt64 = 0
    var isDirty = false
    var isDoomed = false
    var isFull = false
    var hasEnded = false
    var isTold = false
    /// The client said goodbye by this POST, which is answered when the session ends.
    var isLeaving = false
    /// The server goes away: the client shall come back elsewhere.
    var isGoingAway = false
    var leavingPost: PeerHandler?
    var endReason: DisconnectReason?
    var badPackets: TokenBucket?

    /// How the session was opened; `nil` once released.
    public internal(set) var handshake: Handshake?
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
    /// True while packets wait for a poll.
    var hasPackets: Bool { self.link?.queue.isEmpty == false }
    var polls: Bool { self.machine.transport == .polling }

    var engineApplication: (any EngineIOApplication)? {
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

// MARK: - Ending

extension EngineIOSession {
    var endedByViolation: Bool {
        switch self.endReason {
        case .protocolError, .parseError, .payloadTooBig, .badPackets: true
        default: false
        }
    }

    /// The server ends the session. A polling client without a held poll gets the rest with its next one.
    func end(_ why: DisconnectReason, code: UInt16, reason: StaticString) {
        guard !self.hasEnded else { return }
        if case .drained = why { self.isGoingAway = true }
        // Rule breakers are not waited for.
        let isImmediate =
            switch why {
            case .closedByServer, .drained: false
            default: true
            }
        // A held poll gets the first of several bodies, and the next polls the rest.
        if !isImmediate, let link = self.link, self.exceedsLastBody(link) { self.flushPolling() }
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
    func finish(_ why: DisconnectReason, code: UInt16, reason: StaticString) {
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
    func tellApplication(_ why: DisconnectReason) {
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
