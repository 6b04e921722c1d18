internal import NIOCore
internal import SocketIO

struct HTTPDestination {
    enum Target {
        case openPolling(Int)
        case poll(EngineIOSession)
        case post(SessionPost)
        case preflight
        case fallback(any HTTPApplication)
        /// An error, and the message in place of its own.
        case failure(EngineError, String?)
    }

    let target: Target
    /// The maximum body size, bytes; a larger one is answered 413.
    let bodyLimit: Int

    init(_ target: Target, bodyLimit: Int) {
        self.target = target
        self.bodyLimit = bodyLimit
    }

    var isOfSession: Bool {
        switch self.target {
        case .poll, .post: true
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
/// head -> body -> answering -> idle -> head …        upgrade, end -> over
///                     └──────> streaming ──────────────────────────────┘
/// ```
/// A session gets the packets of a POST as they come; everybody else the whole body.
///
/// A request is read when the one before it is answered and the peer has read enough of the answers. Once over, late
/// answers have no effect.
final class HTTPExchange {
    private enum Stage {
        case head
        /// Reading a body for this target.
        case body(HTTPDestination.Target)
        /// The request is complete: this target will answer it.
        case answering(HTTPDestination.Target)
        /// The answer's body goes on. What the client still sends is not read.
        case streaming(ResponseStream)
        case idle
        /// The connection is closed or no longer speaks HTTP.
        case over
    }

    let connection: PeerHandler
    private let router: RequestRouter
    private var parser: HTTPRequestParser
    private var stage = Stage.head
    private var head: HTTPRequestHead?
    /// What has come of its body and was not passed on.
    private var body: [UInt8] = []
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

    var heldBytes: Int { self.parser.heldBytes + (self.head?.byteCount ?? 0) + self.body.count }

    private var isOver: Bool { if case .over = self.stage { true } else { false } }

    private var isAnswerDue: Bool { if case .answering = self.stage { true } else { false } }

    // MARK: Reading

    /// Whether the next request, or the rest of this one, may be processed now. Whoever has sent too much waits for the
    /// answer: a proxy that keeps connections has a busy connection then, and does not pass somebody else's request to
    /// one that is not read.
    private var mayRead: Bool {
        switch self.stage {
        case .body: self.connection.isWithinReadLimits
        case .head, .idle: self.connection.output.isWritable && self.connection.isWithinReadLimits
        case .answering, .streaming, .over: false
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
        guard let destination = self.router.route(head, self) else { return }
        if case .failure(let error, let message) = destination.target, head.hasBody {
            // Reading the body would be wasted.
            return self.answer(error, message, closes: true)
        }
        self.stage = .body(destination.target)
        if !destination.isOfSession { self.connection.charge(messages: Self.openingCost) }
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
        guard case .post(let post) = target else { return self.body.append(contentsOf: part) }
        if let refusal = post.read(part, self.connection) { self.refusePost(refusal) }
    }

    /// A request without a body was answered when its head was read: continues with the next one.
    func skipBody() { self.parser.acceptBody(limit: 0) }

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
        guard case .body(.post(let post)) = self.stage else { return }
        self.stage = .head
        post.refused()
    }

    private func complete(_ head: HTTPRequestHead, _ target: HTTPDestination.Target, _ body: [UInt8]) {
        switch target {
        case .openPolling(let route): self.router.openPolling(head, route: route, self)
        case .poll(let session): session.pollReceived(self)
        case .post(let post): post.completed(self)
        case .preflight: self.answer(.init(status: 204, headers: self.router.table.preflightHeaders(head)))
        case .failure(let error, let message): self.answer(error, message)
        case .fallback(let application): self.ask(application, head, body)
        }
    }

    private func ask(_ application: any HTTPApplication, _ head: HTTPRequestHead, _ body: [UInt8]) {
        let serial = self.serial
        let request = HTTPRequest(
            head: head, body: body, remoteAddress: self.connection.remoteAddress,
            limitedAddress: self.connection.account?.key)
        application.handle(request) { [weak self] response in
            guard let self, self.serial == serial, self.isAnswerDue else {
                response.stream?.finish()
                return
            }
            self.answer(response)
        }
    }

    // MARK: Ending

    /// The connection is closing: no more reads or answers.
    func close() {
        if case .streaming(let stream) = exchange(&self.stage, with: .over) { stream.finish() }
        self.body = []
    }

    /// The client has read most of what waited for it.
    func becameWritable() {
        if case .streaming(let stream) = self.stage { stream.writable?() }
    }

    /// The connection was lost, perhaps in the middle of a request.
    func connectionLost() { self.abandon(exchange(&self.stage, with: .over)) }

    private func abandon(_ stage: Stage) {
        switch stage {
        case .answering(.poll(let session)): session.pollLost()
        case .body(.post(let post)): post.lost()
        case .streaming(let stream): stream.finish()
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

    func answerText(_ body: [UInt8]) {
        let headers =
            [("Content-Type", "text/plain; charset=UTF-8"), ("Cache-Control", "no-store")] + self.corsHeaders
        self.answer(.init(status: 200, headers: headers, body: body))
    }

    /// The packets of a POST were read. While they are more than the client may send, it waits for the answer.
    func answerPost() {
        self.isPostHeld = !self.connection.isWithinReadLimits
        if !self.isPostHeld { self.answerText(Self.ok) }
    }

    static let ok = Array("ok".utf8)

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
        if let stream = response.stream {
            guard hasNoBody else { return self.begin(stream, response) }
            stream.finish()
        }
        let isRefusedUpgrade = self.head.map(WebSocketHandshake.isAsked) == true
        let keepsAlive = !closes && !isRefusedUpgrade && !self.loop.isDraining && self.head?.keepsAlive == true
        let persistence: StaticString? = !keepsAlive ? "close" : self.head?.isHTTP11 == false ? "keep-alive" : nil
        self.connection.output.encode { outbox in
            outbox.writeResponseHead(
                response.status, response.headers, length: response.stream == nil ? response.body.count : nil,
                connection: persistence)
            if !hasNoBody { outbox.writeBytes(response.body) }
        }
        if let hold = response.hold {
            hold.kept { [weak connection] in connection?.drop() }
            self.connection.output.keep(hold)
        }
        self.answered(keepsAlive: keepsAlive)
    }

    private func begin(_ stream: ResponseStream, _ response: HTTPResponse) {
        self.head = nil
        self.stage = .streaming(stream)
        stream.attach(to: self.connection)
        self.connection.output.encode { outbox in
            outbox.writeResponseHead(response.status, response.headers, length: nil, connection: "close")
            outbox.writeBytes(response.body)
        }
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

    func switchToWebSocket(_ accept: String, _ limits: WebSocketLimits) -> WebSocketLink {
        self.stage = .over
        self.connection.output.encode { $0.writeSwitchingProtocols(accept: accept) }
        return self.connection.becomeWebSocket(limits)
    }
}
