internal import NIOCore
internal import SocketIO

extension SocketIOServer {
    /// Decides where a request goes and how much body it may have; `nil` if it was answered or became a WebSocket.
    func route(_ head: HTTPRequestHead, _ peer: PeerHandler) -> (HTTPExchange.Target, limit: Int)? {
        guard let index = self.routeIndex(head.pathBytes) else { return self.routeFallback(head, peer) }
        if head.isMethod("OPTIONS") { return (.preflight(index), 65_536) }
        switch self.origins(head, index) {
        case .allowed: break
        case .refused: return (.failure(.forbidden, index), 0)
        case .malformed: return (.failure(.badRequest, index), 0)
        }
        if case .webSocket(let application, let limits) = self.routes[index].kind {
            self.openBare(head, application, limits, peer)
            return nil
        }
        return self.routeEngine(head, index, peer)
    }

    private func routeIndex(_ path: ArraySlice<UInt8>) -> Int? {
        var path = path
        while path.last == UInt8(ascii: "/") { path.removeLast() }
        return self.routes.firstIndex { $0.path.elementsEqual(path) }
    }

    private func routeFallback(_ head: HTTPRequestHead, _ peer: PeerHandler) -> (HTTPExchange.Target, limit: Int)? {
        guard let http = self.http else {
            peer.answer(.init(status: 404), closes: head.hasBody)
            if !head.hasBody, case .http(let exchange) = peer.role { exchange.parser.acceptBody(limit: 0) }
            return nil
        }
        return (.fallback(http), max(0, http.maxBody))
    }

    private func origins(_ head: HTTPRequestHead, _ index: Int) -> OriginPolicy.Verdict {
        self.configuration.origins.judge(head)
    }

    /// The checks of the reference server, in its order.
    private func routeEngine(
        _ head: HTTPRequestHead, _ index: Int, _ peer: PeerHandler
    ) -> (HTTPExchange.Target, limit: Int)? {
        let isUpgrade = WebSocketHandshake.isAsked(by: head)
        let transport: EngineTransport
        switch head.queryValue("transport") {
        case "polling": transport = .polling
        case "websocket": transport = .webSocket
        default: return (.failure(.unknownTransport, index), 0)
        }
        guard (transport == .webSocket) == isUpgrade else { return (.failure(.badRequest, index), 0) }
        if let sid = head.queryValueBytes("sid") {
            guard let session = self.session(named: sid), session.route == index else {
                return self.routeAway(head, sid, index)
            }
            session.catchUp(at: self.now)
            guard self.sessions[session.id] != nil else { return (.failure(.unknownSession, index), 0) }
            return self.routeSession(head, session, isUpgrade: isUpgrade, peer)
        }
        guard head.isMethod("GET") else { return (.failure(.badHandshakeMethod, index), 0) }
        guard head.queryValue("EIO") == "4" else { return (.failure(.unsupportedVersion, index), 0) }
        if self.isDraining {
            peer.answer(.init(status: 503, headers: [("Retry-After", "1")] + self.corsHeaders(head)), closes: true)
            return nil
        }
        if isUpgrade {
            self.openWebSocket(head, route: index, peer)
            return nil
        }
        return (.openPolling(index), 0)
    }

    /// A session that is not ours: perhaps a neighbour's. A request that was relayed once stays here.
    private func routeAway(
        _ head: HTTPRequestHead, _ sid: [UInt8], _ index: Int
    ) -> (HTTPExchange.Target, limit: Int) {
        guard let owner = self.relays.owner(of: sid), !HTTPRelay.isRelayed(head) else {
            return (.failure(.unknownSession, index), 0)
        }
        return (.relay(owner), head.isMethod("POST") ? self.configuration.maxPayload : 0)
    }

    private func routeSession(
        _ head: HTTPRequestHead, _ session: EngineIOSession, isUpgrade: Bool, _ peer: PeerHandler
    ) -> (HTTPExchange.Target, limit: Int)? {
        let index = session.route
        if isUpgrade {
            self.offerCandidate(head, session, peer)
            return nil
        }
        guard session.polls else { return (.failure(.badRequest, index), 0) }
        if head.isMethod("GET") { return (.poll(session), 0) }
        guard head.isMethod("POST") else { return (.failure(.badHandshakeMethod, index), 0) }
        switch session.postArrived() {
        case .read: return (.post(session), self.configuration.maxPayload)
        case .mismatch: return (.failure(.badRequest, index), 0)
        case .duplicate:
            session.end(.protocolError, code: 1002, reason: "")
            return (.failure(.badRequest, index), 0)
        }
    }
}

// MARK: - Openings

extension SocketIOServer {
    /// Asks the application; answers the refusal itself. `nil`: refused.
    private func admit(
        _ head: HTTPRequestHead, route: Int, _ transport: EngineTransport, _ peer: PeerHandler
    ) -> Handshake? {
        let handshake = Handshake(head: head, remoteAddress: peer.channel.remoteAddress, transport: transport)
        guard case .socketIO(let application) = self.routes[route].kind else { return handshake }
        switch application.admit(handshake) {
        case nil: return handshake
        case .forbidden: peer.answer(.forbidden, route: route)
        case .unavailable(let seconds):
            peer.answer(
                .init(status: 503, headers: [("Retry-After", "\(max(0, seconds))")] + self.corsHeaders(head)),
                closes: true)
        }
        return nil
    }

    func openPolling(_ head: HTTPRequestHead, route: Int, _ peer: PeerHandler) {
        guard let handshake = self.admit(head, route: route, .polling, peer) else { return }
        let session = self.makeSession(handshake, route: route)
        peer.answerPlain([EnginePacketType.open.rawValue] + self.openPayload(session.id, .polling))
        session.opened()
    }

    private func makeSession(_ handshake: Handshake, route: Int) -> EngineIOSession {
        self.statistics.sessions += 1
        let session = EngineIOSession(self, handshake, route: route)
        self.sessions[session.id] = session
        return session
    }

    /// Checks the WebSocket handshake and queues its answer; `false` if it was refused.
    private func shakeHands(_ head: HTTPRequestHead, _ peer: PeerHandler) -> Bool {
        switch WebSocketHandshake.answer(to: head) {
        case .accept(let accept):
            peer.answerSwitch(accept)
            return true
        case .wrongVersion:
            let headers = [("Sec-WebSocket-Version", "13")] + self.corsHeaders(head)
            self.statistics.badRequests += 1
            peer.answer(.init(status: 426, headers: headers), closes: true)
        case .malformed:
            peer.answer(.badRequest, closes: true)
        }
        return false
    }

    private func openWebSocket(_ head: HTTPRequestHead, route: Int, _ peer: PeerHandler) {
        guard let handshake = self.admit(head, route: route, .webSocket, peer) else {
            if case .http(let exchange) = peer.role { exchange.parser.acceptBody(limit: 0) }
            return
        }
        guard self.shakeHands(head, peer) else { return }
        let session = self.makeSession(handshake, route: route)
        session.adopt(peer)
        peer.becomeWebSocket(.engine(session), limits: self.engineLimits)
        session.sendOpen()
        session.opened()
    }

    private func offerCandidate(_ head: HTTPRequestHead, _ session: EngineIOSession, _ peer: PeerHandler) {
        guard self.shakeHands(head, peer) else { return }
        peer.becomeWebSocket(.candidate(session), limits: self.engineLimits)
        if !session.offer(peer) { peer.closeWebSocket(code: 1000) }
    }

    private func openBare(
        _ head: HTTPRequestHead, _ application: any WebSocketApplication, _ limits: WebSocketLimits,
        _ peer: PeerHandler
    ) {
        guard WebSocketHandshake.isAsked(by: head) else {
            self.statistics.badRequests += 1
            let headers = [("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13")] + self.corsHeaders(head)
            peer.answer(.init(status: 400, headers: headers), closes: true)
            return
        }
        guard self.shakeHands(head, peer) else { return }
        let handshake = Handshake(head: head, remoteAddress: peer.channel.remoteAddress, transport: .webSocket)
        let socket = WebSocketPeer(peer, handshake)
        peer.becomeWebSocket(.bare(socket, application), limits: limits)
        application.opened(socket)
    }

    var engineLimits: WebSocketLimits {
        WebSocketLimits(maxMessage: self.configuration.maxPayload, maxFragments: self.configuration.maxFragments)
    }

    /// The JSON of the open packet. Intervals are integers: some clients insist.
    func openPayload(_ id: EngineID, _ transport: EngineTransport) -> [UInt8] {
        let sid = String(decoding: self.sidText(id), as: UTF8.self)
        let upgrades = transport == .polling ? #"["websocket"]"# : "[]"
        let interval = max(1, self.configuration.pingInterval.milliseconds)
        let text =
            #"{"sid":"\#(sid)","upgrades":\#(upgrades),"pingInterval":\#(interval),"#
            + #""pingTimeout":\#(self.configuration.pingTimeout.milliseconds),"#
            + #""maxPayload":\#(self.configuration.maxPayload)}"#
        return Array(text.utf8)
    }
}

// MARK: - CORS

extension SocketIOServer {
    /// Fields that let browsers read an answer.
    func corsHeaders(_ head: HTTPRequestHead) -> [(String, String)] {
        guard let origin = self.configuration.origins.allowedOrigin(for: head) else { return [] }
        if origin == "*" { return [("Access-Control-Allow-Origin", "*")] }
        return [
            ("Access-Control-Allow-Origin", origin), ("Access-Control-Allow-Credentials", "true"), ("Vary", "Origin"),
        ]
    }

    /// The answer to a preflight request.
    func preflightHeaders(_ head: HTTPRequestHead) -> [(String, String)] {
        let cors = self.corsHeaders(head)
        guard !cors.isEmpty else { return [] }
        let asked = head.header("access-control-request-headers") ?? "Content-Type, Authorization"
        return cors + [
            ("Access-Control-Allow-Methods", "GET, POST, OPTIONS"), ("Access-Control-Allow-Headers", asked),
            ("Access-Control-Max-Age", "600"),
        ]
    }
}
