internal import NIOCore
internal import NIOHTTP1

/// Handles one admin connection: GET and HEAD of the known pages, nothing else; one request after the other. Bodies are
/// read and discarded.
final class AdminHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// Idle time after which a connection is closed.
    static let idle = TimeAmount.seconds(15)

    private let pages: AdminPages
    private let gate: AdminGate
    private let patience: Duration
    private var head: HTTPRequestHead?
    private var timeout: Scheduled<Void>?

    init(pages: AdminPages, gate: AdminGate, patience: Duration) {
        self.pages = pages
        self.gate = gate
        self.patience = patience
    }

    func handlerAdded(context: ChannelHandlerContext) { self.restartTimeout(context) }

    func handlerRemoved(context: ChannelHandlerContext) { self.timeout?.cancel() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch self.unwrapInboundIn(data) {
        case .head(let head): self.head = head
        case .body: break
        case .end:
            guard let head = self.head else { return }
            self.head = nil
            self.restartTimeout(context)
            self.answer(head, context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func restartTimeout(_ context: ChannelHandlerContext) {
        self.timeout?.cancel()
        let channel = context.channel
        self.timeout = context.eventLoop.scheduleTask(in: Self.idle) { channel.close(promise: nil) }
    }

    private func answer(_ request: HTTPRequestHead, _ context: ChannelHandlerContext) {
        let path = request.uri.prefix { $0 != "?" }
        let fields = request.headers
        let page = self.pages.source(at: String(path))
        if let refusal = self.gate.refusal(
            isOpen: page?.isOpen ?? false, hosts: fields["Host"], authorizations: fields["Authorization"])
        {
            return self.respond(refusal, to: request, context)
        }
        guard request.method == .GET || request.method == .HEAD else {
            return self.respond(AdminPage(status: 405, body: "only GET\n".utf8), to: request, context)
        }
        switch page?.source {
        case .page(let make): self.respond(make(), to: request, context)
        case .question(let ask): self.ask(ask, String(request.uri.dropFirst(path.count + 1)), for: request, context)
        case nil: self.respond(AdminPage(status: 404, body: "no such page\n".utf8), to: request, context)
        }
    }

    /// Asks another thread. The pipeline passes no further request on before this one is answered.
    private func ask(
        _ ask: (AdminQuestion) -> Void, _ query: String, for request: HTTPRequestHead, _ context: ChannelHandlerContext
    ) {
        let (loop, patience) = (context.eventLoop, self.patience)
        let promise = loop.makePromise(of: AdminPage.self)
        let limit = loop.scheduleTask(in: TimeAmount(patience)) {
            promise.succeed(AdminPage(status: 503, body: "no answer within \(patience)\n".utf8))
        }
        promise.futureResult.assumeIsolated().whenSuccess { page in
            limit.cancel()
            if context.channel.isActive { self.respond(page, to: request, context) }
        }
        ask(AdminQuestion(query: query) { page in loop.execute { promise.succeed(page()) } })
    }

    /// What a browser may do with a page (Content Security Policy 3): run and show files of this server, and connect to it.
    /// Text that somebody smuggled into it stays text.
    private static let confinement: HTTPHeaders = [
        "Content-Security-Policy":
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff",
    ]

    private func respond(_ page: AdminPage, to request: HTTPRequestHead, _ context: ChannelHandlerContext) {
        var page = page
        var head = HTTPResponseHead(version: request.version, status: HTTPResponseStatus(statusCode: page.status))
        head.headers.add(name: "Content-Type", value: page.contentType)
        head.headers.add(name: "Content-Length", value: "\(page.body.count)")
        head.headers.add(name: "Cache-Control", value: "no-store")
        head.headers.add(contentsOf: Self.confinement)
        // RFC 9110 section 11.6.1.
        if page.status == 401 { head.headers.add(name: "WWW-Authenticate", value: "Bearer realm=\"admin\"") }
        if page.status == 405 { head.headers.add(name: "Allow", value: "GET, HEAD") }
        if !request.isKeepAlive { head.headers.add(name: "Connection", value: "close") }
        if request.method == .HEAD { page.body = [] }
        context.write(self.wrapOutboundOut(.head(head)), promise: nil)
        if !page.body.isEmpty {
            context.write(self.wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: page.body)))), promise: nil)
        }
        let done = request.isKeepAlive ? nil : context.eventLoop.makePromise(of: Void.self)
        let channel = context.channel
        done?.futureResult.whenComplete { _ in channel.close(promise: nil) }
        context.writeAndFlush(self.wrapOutboundOut(.end(nil)), promise: done)
    }
}
