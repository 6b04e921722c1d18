internal import NIOCore
internal import SocketIO

/// The destination of a request when its body is complete.
struct HTTPDestination {
    enum Target {
        case openPolling(Int)
        case poll(EngineIOSession)
        case post(EngineIOSession)
        case preflight
        case fallback(any HTTPApplication)
        /// An error, and the message in place of its own.
        case failure(EngineError, String?)
        /// The server that owns the session.
        case relay(SocketIOServer.Neighbour)
    }

    let target: Target
    /// The maximum body size, bytes; a larger one is answered 413.
    let bodyLimit: Int

    init(_ target: Target, bodyLimit: Int) {
        self.target = target
        self.bodyLimit = bodyLimit
    }

    /// Whether it belongs to a session that is open.
    var isOfSession: Bool {
        switch self.target {
        case .poll, .post, .relay: true
        case .openPolling, .preflight, .fallback, .failure: false
        }
    }

    static func failure(_ error: EngineError, _ message: String? = nil) -> HTTPDestination {
        .init(.failure(error, message), bodyLimit: 0)
    }
}

/// The HTTP side of a connection: one request at a time.
///
/// ```
/// head -> body -> answering [-> streaming] -> idle -> head …        upgrade, relayed upgrade, end -> over
/// ```
/// A session gets the packets of a POST as they come; everybody else the whole body. Of a long POST a neighbour gets
/// several, each as large as one packet may be: between two of them the exchange is back at `body`.
///
/// A request is read when the one before it is answered and the peer has read enough of the answers. Once over, late
/// answers have no effect.
final class HTTPExchange {
    private enum Stage {
        /// Reading a head.
        case head
        /// Reading a body for this target.
        case body(HTTPDestination.Target)
        /// The request is complete: this target will answer it.
        case answering(HTTPDestination.Target)
        /// A neighbour answers the request; or a part of it, and more of its body follows.
        case relaying(RelayLink, isMore: Bool)
        /// The head of a neighbour's answer was sent, and its body follows.
        case streaming(RelayLink, keepsAlive: Bool)
        /// Between two requests.
        case idle
        /// The connection is closed or no longer speaks HTTP.
        case over
    }

    let connection: PeerHandler
    private let router: RequestRouter
    private var parser: HTTPRequestParser
    private var stage = Stage.head
    /// The head of the unanswered request.
    private var head: HTTPRequestHead?
    /// What has come of its body and was not passed on.
    private var body: [UInt8] = []
    /// The digest of the body, if a neighbour relays the request.
    private var provenDigest: [UInt8]?
    /// The number of the current request, which identifies late answers to older ones.
    private var serial = 0
    /// Whether a POST that was read is answered only when its packets are paid for.
    private var isPostHeld = false

    init(_ connection: PeerHandler, _ router: RequestRouter) {
        self.connection = connection
        self.router = router
        self.parser = HTTPRequestParser(limits: router.loop.configuration.http)
    }

    private var loop: ServerLoop { self.router.loop }

    var remoteAddress: SocketAddress? { self.connection.remoteAddress }

    /// What the client's address uses; `nil` if that is not limited.
    var account: AddressAccount? { self.connection.account }

    /// The request belongs to a session of this account, which pays for what a neighbour relays.
    func countRequest(for account: AddressAccount?) { self.connection.countRequest(for: account) }

    /// Counts packets of a POST.
    func charge(messages: Int) { self.connection.charge(messages: messages) }

    /// Bytes of the request that is being read or answered.
    var heldBytes: Int { self.parser.heldBytes + (self.head?.byteCount ?? 0) + self.body.count }

    private var isOver: Bool { if case .over = self.stage { true } else { false } }

    private var isAnswerDue: Bool {
        switch self.stage {
        case .answering, .relaying, .streaming: true
        case .head, .body, .idle, .over: false
        }
    }

    // MARK: Reading

    /// Whether the next request, or the rest of this one, may be processed now. Whoever has sent too much waits for the
    /// answer: a proxy that keeps connections, or a neighbour, has a busy connection then, and does not pass somebody
    /// else's request to one that is not read.
    private var mayRead: Bool {
        switch self.stage {
        case .body: self.connection.isWithinReadLimits
        case .head, .idle: self.connection.output.isWritable && self.connection.isWithinReadLimits
        case .answering, .relaying, .streaming, .over: false
        }
    }

    /// Processes received bytes up to the end of a request that is not answered yet, or until the connection has to
    /// wait; returns how many were processed.
    func read(_ input: UnsafeRawBufferPointer) -> Int {
        var offset = 0
        while self.mayRead, let event = self.nextEvent(input, at: &offset) { self.handle(event, input) }
        if case .idle = self.stage, self.parser.isMidRequest {
            self.stage = .head
            self.connection.arm(after: self.loop.configuration.handshakeTimeout)
        }
        return offset
    }

    private func nextEvent(_ input: UnsafeRawBufferPointer, at offset: inout Int) -> HTTPRequestEvent? {
        let start = offset
        let event = self.parser.next(input, at: &offset)
        self.connection.charge(readBytes: offset - start)
        return event
    }

    /// What a request counts for against the limit of messages; and what it counts for besides when it opens a polling
    /// session or is for the application.
    private static let requestCost = 2, openingCost = 18

    private func handle(_ event: HTTPRequestEvent, _ input: UnsafeRawBufferPointer) {
        switch event {
        case .head(let head):
            self.loop.statistics.requests += 1
            self.serial += 1
            self.head = head
            self.body = []
            self.stage = .head
            self.connection.requestArrived(head)
            self.connection.charge(messages: Self.requestCost)
            self.headReceived(head)
        case .part(let range):
            guard case .body(let target) = self.stage else { return }
            self.partReceived(UnsafeRawBufferPointer(rebasing: input[range]), target)
        case .end:
            guard let head, case .body(let target) = self.stage else { return }
            let body = exchange(&self.body, with: [])
            guard self.isProven(body) else { return self.refuseRelay() }
            self.stage = .answering(target)
            self.connection.disarm()
            self.complete(head, target, body)
        case .failure(413): self.refuseBody()
        case .failure(let status):
            self.refusePost()
            self.loop.statistics.badRequests += 1
            self.answer(.init(status: status), closes: true)
        }
    }

    private func headReceived(_ head: HTTPRequestHead) {
        guard self.connection.isWithinLimits else { return self.answerUnavailable(retryAfter: 5, nil) }
        guard self.isProven(head) else { return self.refuseRelay() }
        guard let destination = self.router.route(head, self) else { return }
        if case .failure(let error, let message) = destination.target, head.hasBody {
            // Reading the body would be wasted.
            return self.answer(error, message, closes: true)
        }
        self.stage = .body(destination.target)
        if !destination.isOfSession { self.charge(messages: Self.openingCost) }
        guard head.contentLength <= destination.bodyLimit else { return self.refuseBody() }
        if head.hasBody {
            self.connection.arm(after: self.loop.configuration.requestTimeout)
            if head.header("expect", lists: "100-continue") {
                self.connection.output.encode { _ = $0.writeString("HTTP/1.1 100 Continue\r\n\r\n") }
            }
        }
        self.parser.acceptBody(limit: destination.bodyLimit)
    }

    private func partReceived(_ part: UnsafeRawBufferPointer, _ target: HTTPDestination.Target) {
        switch target {
        // What a neighbour relayed is proven as a whole.
        case .post(let session) where self.provenDigest == nil:
            if let refusal = session.postPartReceived(part, self) { self.refusePost(refusal) }
        case .relay(let owner):
            self.body.append(contentsOf: part)
            self.relayPart(to: owner)
        case .openPolling, .poll, .post, .preflight, .fallback, .failure: self.body.append(contentsOf: part)
        }
    }

    /// A request without a body was answered when its head was read: continues with the next one.
    func skipBody() { self.parser.acceptBody(limit: 0) }

    /// The body of the current request is too large.
    private func refuseBody() {
        self.loop.statistics.badRequests += 1
        if let head, case .body(.fallback(let application)) = self.stage {
            return self.answer(application.bodyTooLarge(head), closes: true)
        }
        self.refusePost()
        self.answer(.init(status: 413, headers: self.corsHeaders), closes: true)
    }

    /// The session refused what has come of its POST. What is still to come is not read.
    func refusePost(_ refusal: SessionPost.Refusal) {
        switch refusal {
        case .malformed:
            let isIncomplete = if case .body = self.stage { true } else { false }
            self.answer(.badRequest, closes: isIncomplete)
        case .tooLarge: self.refuseBody()
        }
    }

    /// The POST that is being read will not be completed.
    private func refusePost() {
        guard case .body(.post(let session)) = self.stage else { return }
        self.stage = .head
        session.postRefused()
    }

    private func complete(_ head: HTTPRequestHead, _ target: HTTPDestination.Target, _ body: [UInt8]) {
        switch target {
        case .openPolling(let route): self.router.openPolling(head, route: route, self)
        case .poll(let session): session.pollReceived(self)
        case .post(let session): self.complete(session, body)
        case .preflight: self.answer(.init(status: 204, headers: self.router.table.preflightHeaders(head)))
        case .failure(let error, let message): self.answer(error, message)
        case .fallback(let application): self.ask(application, head, body)
        case .relay(let owner): self.relay(head, body, to: owner)
        }
    }

    /// - Parameter body: what the session has not got yet.
    private func complete(_ session: EngineIOSession, _ body: [UInt8]) {
        let refusal = body.isEmpty ? nil : body.withUnsafeBytes { session.postPartReceived($0, self) }
        if let refusal { self.refusePost(refusal) } else { session.postReceived(self) }
    }

    private func ask(_ application: any HTTPApplication, _ head: HTTPRequestHead, _ body: [UInt8]) {
        let serial = self.serial
        let request = HTTPRequest(
            head: head, body: body, remoteAddress: self.remoteAddress, limitedAddress: self.account?.key)
        application.handle(request) { [weak self] response in
            guard let self, self.serial == serial, self.isAnswerDue else { return }
            self.answer(response)
        }
    }

    // MARK: Ending

    /// The connection is closing: no more reads or answers.
    func close() { (self.stage, self.body) = (.over, []) }

    /// The connection was lost, perhaps in the middle of a request.
    func connectionLost() { self.abandon(exchange(&self.stage, with: .over)) }

    /// Cancels a request whose client is gone.
    private func abandon(_ stage: Stage) {
        switch stage {
        case .answering(.poll(let session)): session.pollLost()
        case .body(.post(let session)): session.postLost()
        case .relaying(let link, _), .streaming(let link, _): link.cancel()
        case .head, .body, .answering, .idle, .over: break
        }
    }
}

// MARK: - Answers

extension HTTPExchange {
    /// An Engine.IO error.
    /// - Parameter message: in place of the error's own.
    func answer(_ error: EngineError, _ message: String? = nil, closes: Bool = false) {
        guard !self.isOver else { return }
        self.loop.statistics.badRequests += 1
        let headers = [("Content-Type", "application/json")] + self.corsHeaders
        self.answer(.init(status: error.status, headers: headers, body: error.body(message)), closes: closes)
    }

    /// Text for a polling client.
    func answerText(_ body: [UInt8]) {
        let headers =
            [("Content-Type", "text/plain; charset=UTF-8"), ("Cache-Control", "no-store")] + self.corsHeaders
        self.answer(.init(status: 200, headers: headers, body: body))
    }

    /// The packets of a POST were read. While they are more than the client may send, it waits for the answer.
    func answerPost() {
        self.isPostHeld = !self.connection.isWithinReadLimits
        if !self.isPostHeld { self.answerText(Array("ok".utf8)) }
    }

    /// The client may send again: goes on with a request whose head was read, even if nothing more has to come of it.
    func readLimitsRestored() {
        if self.isPostHeld { return self.answerPost() }
        guard case .body = self.stage else { return }
        var offset = 0
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        if let event = self.parser.next(nothing, at: &offset) { self.handle(event, nothing) }
    }

    /// 503, after which the connection is closed.
    /// - Parameters:
    ///   - seconds: when to retry.
    ///   - head: the request whose origin may read the answer; `nil` for none.
    func answerUnavailable(retryAfter seconds: Int, _ head: HTTPRequestHead?) {
        let cors = head.map(self.router.table.corsHeaders) ?? []
        self.answer(.init(status: 503, headers: [("Retry-After", "\(seconds)")] + cors), closes: true)
    }

    private var corsHeaders: [(String, String)] { self.head.map(self.router.table.corsHeaders) ?? [] }

    /// Answers the current request, then continues with the next one or ends the connection. A client whose request
    /// for a WebSocket is refused would only notice the end.
    func answer(_ response: HTTPResponse, closes: Bool = false) {
        guard !self.isOver else { return }
        let hasNoBody = response.status == 204 || self.head?.isMethod("HEAD") == true
        let keepsAlive = self.answerHead(
            response.status, response.headers, length: response.body.count, body: hasNoBody ? [] : response.body,
            closes: closes)
        if let hold = response.hold {
            hold.kept { [weak connection] in connection?.drop() }
            self.connection.output.keep(hold)
        }
        self.answered(keepsAlive: keepsAlive)
    }

    /// Sends the head of an answer and the first part of its body; returns whether the connection is kept alive.
    private func answerHead(
        _ status: UInt16, _ headers: [(String, String)], length: Int, body: [UInt8] = [], closes: Bool = false
    ) -> Bool {
        let isRefusedUpgrade = self.head.map(WebSocketHandshake.isAsked) == true
        let keepsAlive = !closes && !isRefusedUpgrade && !self.loop.isDraining && self.head?.keepsAlive == true
        let connection: StaticString? = !keepsAlive ? "close" : self.head?.isHTTP11 == false ? "keep-alive" : nil
        self.connection.output.encode { outbox in
            outbox.writeResponseHead(status, headers, length: length, connection: connection)
            outbox.writeBytes(body)
        }
        return keepsAlive
    }

    private func answered(keepsAlive: Bool) {
        self.head = nil
        self.stage = .idle
        // What still comes of a connection that ends is of the same client.
        guard keepsAlive else { return self.connection.linger() }
        self.connection.requestAnswered()
        self.connection.arm(after: self.loop.configuration.keepAliveTimeout)
        self.connection.output.flushIfLarge()
        self.connection.proceed()
    }

    /// Accepts a WebSocket handshake.
    func switchToWebSocket(_ accept: String, _ limits: WebSocketLimits) -> WebSocketLink {
        self.stage = .over
        self.connection.output.encode { $0.writeSwitchingProtocols(accept: accept) }
        return self.connection.becomeWebSocket(limits)
    }
}

// MARK: - Relay

/// The client's side of a relay; ``RelayLink`` is the owner's side.
extension HTTPExchange {
    /// Relays what is complete of a POST that is longer than one that a neighbour gets.
    private func relayPart(to owner: SocketIOServer.Neighbour) {
        let limit = self.loop.configuration.maxPayload
        guard self.body.count > limit, let head else { return }
        guard let end = self.body[...limit].lastIndex(of: EnginePayloadReader.separator) else {
            return self.refuseBody()
        }
        let packets = Array(self.body[..<end])
        self.body.removeSubrange(...end)
        self.connection.disarm()
        self.relay(head, packets, to: owner, isMore: true)
    }

    /// The owner took a part of a POST.
    func relayPartTaken() {
        guard case .relaying(let link, isMore: true) = self.stage else { return }
        self.stage = .body(.relay(link.neighbour))
        self.connection.arm(after: self.loop.configuration.requestTimeout)
        self.relayPart(to: link.neighbour)
        self.connection.proceed()
    }

    /// Sends a request to the server that owns its session.
    /// - Parameter isMore: whether more of its body follows in another one.
    private func relay(
        _ head: HTTPRequestHead, _ body: [UInt8], to owner: SocketIOServer.Neighbour, isMore: Bool = false
    ) {
        let client = self.remoteAddress?.ipAddress
        var proof: String?
        if let authority = self.loop.configuration.relayAuthority {
            proof = authority.proof(
                method: head.method, target: HTTPRelay.target(of: head),
                forwardedFor: HTTPRelay.forwardedFor(head, client), body: body, for: owner.name)
            // The owner would refuse it.
            guard proof != nil else { return self.answer(.unknownSession, closes: isMore) }
        }
        let request = RelayRequest(
            bytes: HTTPRelay.request(head, body: body, client: client, proof: proof),
            isHead: head.isMethod("HEAD"), isUpgrade: WebSocketHandshake.isAsked(by: head), isMore: isMore)
        let link = self.router.relays.link(to: owner)
        self.stage = .relaying(link, isMore: isMore)
        self.router.relays.send(request, on: link, for: self.connection)
    }

    /// Whether a request that is marked as relayed is proven to be, as far as its head goes; true for all others.
    private func isProven(_ head: HTTPRequestHead) -> Bool {
        self.provenDigest = nil
        guard let authority = self.loop.configuration.relayAuthority, HTTPRelay.isRelayed(head) else { return true }
        self.provenDigest = authority.digest(
            provenBy: HTTPRelay.proof(of: head), method: head.method, target: HTTPRelay.target(of: head),
            forwardedFor: HTTPRelay.forwardedFor(head))
        return self.provenDigest != nil
    }

    /// The same for its body.
    private func isProven(_ body: [UInt8]) -> Bool {
        guard let digest = self.provenDigest else { return true }
        return self.loop.configuration.relayAuthority?.isProven(body: body, digest: digest) ?? false
    }

    private func refuseRelay() {
        self.loop.statistics.badRequests += 1
        if case .body(.post(let session)) = self.stage {
            self.stage = .head
            session.postDiscarded()
        }
        self.answer(.init(status: 403), closes: true)
    }

    /// The relay in progress.
    var relayLink: RelayLink? {
        switch self.stage {
        case .relaying(let link, _), .streaming(let link, _): link
        case .head, .body, .answering, .idle, .over: nil
        }
    }

    /// The owner's answer begins; its body follows through ``PeerHandler/write(_:)``.
    func relayAnswered(_ head: HTTPResponseHead) {
        guard case .relaying(let link, let isMore) = self.stage else { return }
        let keepsAlive = self.answerHead(head.status, head.headers, length: head.contentLength, closes: isMore)
        self.stage = .streaming(link, keepsAlive: keepsAlive)
    }

    /// The owner's answer is complete.
    func relayEnded() {
        guard case .streaming(_, let keepsAlive) = self.stage else { return }
        self.answered(keepsAlive: keepsAlive)
    }

    /// The owner is unreachable, timed out or sent an invalid answer: the client's session counts as unknown, and it
    /// opens another one.
    func relayFailed() {
        guard case .relaying(_, let isMore) = self.stage else { return }
        self.answer(.unknownSession, closes: isMore)
    }

    /// The owner switched to WebSocket.
    func relaySwitched(_ accept: String) {
        self.stage = .over
        self.connection.output.encode { $0.writeSwitchingProtocols(accept: accept) }
    }

    /// Ends the relay in progress, because this server shuts down.
    func endRelay() {
        switch self.stage {
        case .relaying(let link, _):
            link.cancel()
            self.relayFailed()
        case .streaming(let link, _):
            link.cancel()
            self.connection.linger()
        case .head, .body, .answering, .idle, .over: break
        }
    }
}
