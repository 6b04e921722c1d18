internal import NIOCore
internal import SocketIO

extension PeerHandler {
    /// Feeds HTTP bytes; what follows a WebSocket handshake goes to the frame decoder.
    func readHTTP(_ input: UnsafeRawBufferPointer) {
        guard case .http(let exchange) = self.role else { return }
        if exchange.isAnswering || exchange.isFeeding {
            guard exchange.backlog.count + input.count <= self.server.configuration.http.head else {
                let isStreaming = exchange.isStreaming
                exchange.connectionLost()
                if isStreaming { self.linger() } else { self.answer(.init(status: 429), closes: true) }
                return
            }
            exchange.backlog.append(contentsOf: input)
            return
        }
        exchange.isFeeding = true
        var offset = 0
        while case .http = self.role, !exchange.isAnswering, let event = exchange.parser.next(input, at: &offset) {
            self.httpEvent(event, exchange)
        }
        exchange.isFeeding = false
        let rest = UnsafeRawBufferPointer(rebasing: input[offset...])
        switch self.role {
        case .http:
            if exchange.isAnswering {
                if !rest.isEmpty { exchange.backlog.append(contentsOf: rest) }
            } else if exchange.parser.isMidRequest, self.deadline == .max || exchange.isIdle {
                exchange.isIdle = false
                self.arm(after: self.server.configuration.handshakeTimeout)
            }
        case .engine, .candidate, .bare:
            if !rest.isEmpty { self.readFrames(rest) }
        case .spliced, .lingering, .closed:
            break
        }
    }

    private func httpEvent(_ event: HTTPRequestEvent, _ exchange: HTTPExchange) {
        switch event {
        case .head(let head):
            self.server.statistics.requests += 1
            exchange.serial += 1
            exchange.head = head
            exchange.isIdle = false
            self.headReceived(head, exchange)
        case .body(let body):
            guard let head = exchange.head, let target = exchange.target else { return }
            exchange.isAnswering = true
            self.disarm()
            self.requestComplete(head, target, body)
        case .failure(let status):
            if case .post(let session) = exchange.target {
                exchange.target = nil
                session.postRefused()
            }
            self.server.statistics.badRequests += 1
            self.answer(.init(status: status), closes: true)
        }
    }

    private func headReceived(_ head: HTTPRequestHead, _ exchange: HTTPExchange) {
        if self.isRefused {
            self.answer(.init(status: 503, headers: [("Retry-After", "5")]), closes: true)
            return
        }
        guard let (target, limit) = self.server.route(head, self) else { return }
        exchange.target = target
        if case .failure(let error, let route) = target, head.hasBody {
            // Not worth reading the body for.
            self.answer(error, route: route, closes: true)
            return
        }
        guard head.contentLength <= limit else {
            if case .post(let session) = target { session.postRefused() }
            self.server.statistics.badRequests += 1
            exchange.target = nil
            self.answer(.init(status: 413, headers: self.server.corsHeaders(head)), closes: true)
            return
        }
        if head.hasBody {
            self.arm(after: self.server.configuration.requestTimeout)
            if head.header("expect", lists: "100-continue") {
                self.encode { _ = $0.writeString("HTTP/1.1 100 Continue\r\n\r\n") }
            }
        }
        exchange.parser.acceptBody(limit: limit)
    }

    private func requestComplete(_ head: HTTPRequestHead, _ target: HTTPExchange.Target, _ body: [UInt8]) {
        switch target {
        case .openPolling(let route): self.server.openPolling(head, route: route, self)
        case .poll(let session): session.pollReceived(self)
        case .post(let session): session.postReceived(body, self)
        case .preflight: self.answer(.init(status: 204, headers: self.server.preflightHeaders(head)))
        case .failure(let error, let route): self.answer(error, route: route)
        case .fallback(let application): self.ask(application, head, body)
        case .relay(let owner): self.relay(head, body, to: owner)
        case .relaying: break
        }
    }

    private func ask(_ application: any HTTPApplication, _ head: HTTPRequestHead, _ body: [UInt8]) {
        guard case .http(let exchange) = self.role else { return }
        let serial = exchange.serial
        let request = HTTPRequest(head: head, body: body, remoteAddress: self.channel.remoteAddress)
        application.handle(request) { [weak self] response in
            guard let self, case .http(let exchange) = self.role, exchange.serial == serial, exchange.isAnswering else {
                return
            }
            self.answer(response)
        }
    }
}

// MARK: - Answers

extension PeerHandler {
    /// An Engine.IO error.
    func answer(_ error: EngineError, route: Int? = nil, closes: Bool = false) {
        self.server.statistics.badRequests += 1
        var headers = [("Content-Type", "application/json")]
        if case .http(let exchange) = self.role, let head = exchange.head { headers += self.server.corsHeaders(head) }
        self.answer(.init(status: error.status, headers: headers, body: error.body), closes: closes)
    }

    /// Text for a polling client.
    func answerPlain(_ body: [UInt8]) {
        var headers = [("Content-Type", "text/plain; charset=UTF-8"), ("Cache-Control", "no-store")]
        if case .http(let exchange) = self.role, let head = exchange.head { headers += self.server.corsHeaders(head) }
        self.answer(.init(status: 200, headers: headers, body: body))
    }

    /// Answers the current request, then goes on with the next or ends the connection.
    func answer(_ response: HTTPResponse, closes: Bool = false) {
        guard case .http(let exchange) = self.role else { return }
        let isBare = response.status == 204 || exchange.head?.isMethod("HEAD") == true
        let keepsAlive = self.answerHead(
            response.status, response.headers, length: response.body.count, body: isBare ? [] : response.body,
            closes: closes)
        self.answered(exchange, keepsAlive: keepsAlive)
    }

    /// Queues the head of an answer and what is there of its body; returns whether the connection is kept after it.
    func answerHead(
        _ status: UInt16, _ headers: [(String, String)], length: Int, body: [UInt8] = [], closes: Bool = false
    ) -> Bool {
        guard case .http(let exchange) = self.role else { return false }
        let head = exchange.head
        let keepsAlive = !closes && !self.server.isDraining && head?.keepsAlive == true
        self.encode { outbox in
            outbox.writeString("HTTP/1.1 \(status) \(Self.phrase(status))\r\n")
            for (name, value) in headers where Self.isSafe(name) && Self.isSafe(value) {
                outbox.writeString(name)
                outbox.writeString(": ")
                outbox.writeString(value)
                outbox.writeString("\r\n")
            }
            if status != 204 { outbox.writeString("Content-Length: \(length)\r\n") }
            if !keepsAlive {
                outbox.writeString("Connection: close\r\n")
            } else if head?.isHTTP11 == false {
                outbox.writeString("Connection: keep-alive\r\n")
            }
            outbox.writeString("\r\n")
            outbox.writeBytes(body)
        }
        return keepsAlive
    }

    /// The answer is queued: goes on with the next request, or ends the connection.
    func answered(_ exchange: HTTPExchange, keepsAlive: Bool) {
        exchange.head = nil
        exchange.target = nil
        exchange.isAnswering = false
        guard keepsAlive else {
            self.linger()
            return
        }
        exchange.isIdle = true
        self.arm(after: self.server.configuration.keepAliveTimeout)
        guard !exchange.isFeeding, !exchange.backlog.isEmpty else { return }
        let backlog = exchange.backlog
        exchange.backlog = []
        backlog.withUnsafeBytes { self.readHTTP($0) }
    }

    /// Queues the 101 answer.
    func answerSwitch(_ accept: String) {
        self.encode { outbox in
            outbox.writeString(
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                    + "Sec-WebSocket-Accept: \(accept)\r\n\r\n")
        }
    }

    private static func isSafe(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    }

    private static func phrase(_ status: UInt16) -> String {
        switch status {
        case 200: "OK"
        case 201: "Created"
        case 202: "Accepted"
        case 204: "No Content"
        case 301: "Moved Permanently"
        case 302: "Found"
        case 304: "Not Modified"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 413: "Content Too Large"
        case 414: "URI Too Long"
        case 415: "Unsupported Media Type"
        case 422: "Unprocessable Content"
        case 426: "Upgrade Required"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 502: "Bad Gateway"
        case 503: "Service Unavailable"
        case 504: "Gateway Timeout"
        case 505: "HTTP Version Not Supported"
        default: "Status"
        }
    }
}
