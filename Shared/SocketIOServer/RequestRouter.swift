internal import Crypto
internal import JSONBytes
internal import NIOCore
internal import SocketIO

/// Decides where HTTP requests go, and opens sessions and WebSockets.
final class RequestRouter {
    let loop: ServerLoop
    let table: RouteTable
    private let sessions: SessionRegistry
    private let fallback: (any HTTPApplication)?

    init(
        _ loop: ServerLoop, _ table: RouteTable, _ sessions: SessionRegistry, fallback: (any HTTPApplication)?
    ) {
        self.loop = loop
        self.table = table
        self.sessions = sessions
        self.fallback = fallback
    }

    /// Routes a request whose head was read; `nil` if it was answered or became a WebSocket.
    func route(_ head: HTTPRequestHead, _ exchange: HTTPExchange) -> HTTPDestination? {
        guard let index = self.table.index(of: head.pathBytes) else { return self.routeFallback(head, exchange) }
        if head.isMethod("OPTIONS") { return HTTPDestination(.preflight, bodyLimit: 65_536) }
        if let refusal = self.table.refusal(of: head) { return refusal }
        if case .webSocket(let application, let limits) = self.table.kind(index) {
            self.openBare(head, application, limits, exchange)
            return nil
        }
        do throws(EngineError) {
            switch try EngineRequest(head) {
            case .open(let transport): return self.routeOpening(head, transport, index, exchange)
            case .session(let sid, let transport): return try self.route(head, sid, transport, index, exchange)
            }
        } catch {
            return .failure(error)
        }
    }

    private func routeFallback(_ head: HTTPRequestHead, _ exchange: HTTPExchange) -> HTTPDestination? {
        if let fallback { return HTTPDestination(.fallback(fallback), bodyLimit: max(0, fallback.maxBody)) }
        exchange.answer(.init(status: 404), closes: head.hasBody)
        if !head.hasBody { exchange.skipBody() }
        return nil
    }

    private func routeOpening(
        _ head: HTTPRequestHead, _ transport: EngineTransport, _ index: Int, _ exchange: HTTPExchange
    ) -> HTTPDestination? {
        if self.loop.isDraining {
            exchange.answerUnavailable(retryAfter: 1, head)
            return nil
        }
        if transport == .polling { return HTTPDestination(.openPolling(index), bodyLimit: 0) }
        self.openWebSocket(head, route: index, exchange)
        return nil
    }

    private func route(
        _ head: HTTPRequestHead, _ sid: [UInt8], _ transport: EngineTransport, _ index: Int, _ exchange: HTTPExchange
    ) throws(EngineError) -> HTTPDestination? {
        guard let session = self.sessions.session(sid: sid), session.route == index else { throw .unknownSession }
        session.catchUp(at: self.loop.now)
        guard !session.hasEnded else { throw .unknownSession }
        if transport == .webSocket {
            self.openCandidate(head, session, exchange)
            return nil
        }
        if head.isMethod("POST") {
            return HTTPDestination(
                .post(try session.postHeadReceived()), bodyLimit: self.loop.configuration.maxPostBody)
        }
        guard session.transport == .polling else { throw .badRequest }
        guard head.isMethod("GET") else { throw .badHandshakeMethod }
        return HTTPDestination(.poll(session), bodyLimit: 0)
    }
}

// MARK: - Openings

extension RequestRouter {
    /// Asks the application whether a session may open; `nil` if not, in which case the request was answered.
    private func admit(
        _ head: HTTPRequestHead, route: Int, _ transport: EngineTransport, _ exchange: HTTPExchange
    ) -> Handshake? {
        guard self.sessions.mayOpen(exchange.connection.account) else {
            exchange.answerUnavailable(retryAfter: 5, head)
            return nil
        }
        let handshake = Handshake(head: head, remoteAddress: exchange.connection.remoteAddress, transport: transport)
        guard case .socketIO(let application) = self.table.kind(route) else { return handshake }
        switch application.admit(handshake) {
        case nil: return handshake
        case .forbidden(let message): exchange.answer(.forbidden, message)
        case .unavailable(let seconds): exchange.answerUnavailable(retryAfter: max(0, seconds), head)
        }
        return nil
    }

    func openPolling(_ head: HTTPRequestHead, route: Int, _ exchange: HTTPExchange) {
        guard let handshake = self.admit(head, route: route, .polling, exchange) else { return }
        let session = self.open(handshake, route, .polling(PollingLink(self.loop.configuration)), exchange)
        exchange.answerText(self.sessions.openPacket(session))
        self.start(session)
    }

    private func open(
        _ handshake: Handshake, _ route: Int, _ carrier: SessionCarrier, _ exchange: HTTPExchange
    ) -> EngineIOSession {
        self.sessions.open(handshake, self.table.timings(route), route: route, carrier, exchange.connection.account)
    }

    private func start(_ session: EngineIOSession) {
        switch self.table.kind(session.route) {
        case .socketIO(let application): session.open(for: SocketIOLayer(session, application))
        case .engineIO(let application): session.open(for: application)
        case .webSocket: break
        }
    }

    /// Validates a WebSocket handshake and answers it; `nil` if it was rejected.
    private func upgrade(
        _ head: HTTPRequestHead, _ exchange: HTTPExchange, _ limits: WebSocketLimits
    ) -> WebSocketLink? {
        switch WebSocketHandshake.answer(to: head) {
        case .accept(let key): return exchange.switchToWebSocket(WebSocketAccept.value(for: key), limits)
        case .wrongVersion:
            let headers = [("Sec-WebSocket-Version", "13")] + self.table.corsHeaders(head)
            self.loop.statistics.badRequests += 1
            exchange.answer(.init(status: 426, headers: headers), closes: true)
        case .malformed:
            exchange.answer(.badRequest, closes: true)
        }
        return nil
    }

    private var engineLimits: WebSocketLimits {
        let configuration = self.loop.configuration
        return WebSocketLimits(maxMessage: configuration.maxPayload, maxFragments: configuration.maxFragments)
    }

    private func openWebSocket(_ head: HTTPRequestHead, route: Int, _ exchange: HTTPExchange) {
        guard let handshake = self.admit(head, route: route, .webSocket, exchange) else {
            exchange.skipBody()
            return
        }
        guard let link = self.upgrade(head, exchange, self.engineLimits) else { return }
        let session = self.open(handshake, route, .webSocket(link), exchange)
        link.attach(.engine(session))
        let packet = self.sessions.openPacket(session)
        session.sendText(length: packet.count) { _ = $0.writeBytes(packet) }
        self.start(session)
    }

    private func openCandidate(_ head: HTTPRequestHead, _ session: EngineIOSession, _ exchange: HTTPExchange) {
        guard let link = self.upgrade(head, exchange, self.engineLimits) else { return }
        link.attach(.candidate(session))
        if !session.startUpgrade(to: link) { link.close(code: 1000) }
    }

    private func openBare(
        _ head: HTTPRequestHead, _ application: any WebSocketApplication, _ limits: WebSocketLimits,
        _ exchange: HTTPExchange
    ) {
        guard WebSocketHandshake.isAsked(by: head) else {
            self.loop.statistics.badRequests += 1
            let headers = [("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13")] + self.table.corsHeaders(head)
            exchange.answer(.init(status: 400, headers: headers), closes: true)
            return
        }
        guard let link = self.upgrade(head, exchange, limits) else { return }
        let handshake = Handshake(head: head, remoteAddress: exchange.connection.remoteAddress, transport: .webSocket)
        let peer = WebSocketPeer(link, handshake, application)
        link.attach(.bare(peer))
        application.opened(peer)
    }
}

/// `Sec-WebSocket-Accept` (RFC 6455 section 4.2.2), by which a client knows that the server speaks WebSocket.
enum WebSocketAccept {
    static func value(for key: [UInt8]) -> String {
        var hash = Insecure.SHA1()
        hash.update(data: key)
        hash.update(data: Array("258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8))
        var text: [UInt8] = []
        Array(hash.finalize()).withUnsafeBytes { Base64.encode($0, into: &text) }
        return String(decoding: text, as: UTF8.self)
    }
}
