internal import NIOCore
internal import NIOHTTP1

/// One connection to an admin server: requests go out together, answers come in their order (RFC 9112 section 9.3.2).
final class AdminExchange: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    /// Answers to one list of requests.
    private struct Pending {
        let promise: EventLoopPromise<[AdminAnswer]>
        let count: Int
        /// Bytes that the bodies may have together.
        let limit: Int
        var answers: [AdminAnswer] = []
        var status = 0
        var body: [UInt8] = []
    }

    private let fields: HTTPHeaders
    private var pending: Pending?

    init(authority: String, authorization: String?) {
        var fields: HTTPHeaders = ["Host": authority]
        if let authorization { fields.add(name: "Authorization", value: authorization) }
        self.fields = fields
    }

    /// Requests pages on a connection that waits for nothing.
    func request(_ paths: [String], limit: Int, on channel: any Channel) -> EventLoopFuture<[AdminAnswer]> {
        let promise = channel.eventLoop.makePromise(of: [AdminAnswer].self)
        self.pending = Pending(promise: promise, count: paths.count, limit: limit)
        for path in paths {
            let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: path, headers: self.fields)
            channel.write(HTTPClientRequestPart.head(head), promise: nil)
            channel.write(HTTPClientRequestPart.end(nil), promise: nil)
        }
        channel.flush()
        return promise.futureResult
    }

    /// Nothing more is awaited.
    func give(up failure: AdminFailure) {
        guard let pending = self.pending else { return }
        self.pending = nil
        pending.promise.fail(failure)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch Self.unwrapInboundIn(data) {
        case .head(let head): self.pending?.status = Int(head.status.code)
        case .body(let bytes): self.append(bytes, context)
        case .end: self.answered()
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.give(up: error is HTTPParserError ? .malformed : .silent)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) { self.give(up: .silent) }

    private func append(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        guard let pending = self.pending else { return }
        let held = pending.answers.reduce(pending.body.count) { $0 + $1.body.count }
        guard bytes.readableBytes <= pending.limit - held else {
            self.give(up: .tooLong(pending.limit))
            context.close(promise: nil)
            return
        }
        self.pending?.body.append(contentsOf: bytes.readableBytesView)
    }

    private func answered() {
        guard var pending = self.pending else { return }
        pending.answers.append(AdminAnswer(status: pending.status, body: pending.body))
        pending.body = []
        let isDone = pending.answers.count == pending.count
        self.pending = isDone ? nil : pending
        if isDone { pending.promise.succeed(pending.answers) }
    }
}

struct AdminAnswer: Sendable {
    let status: Int
    let body: [UInt8]

    /// Why the page was not shown, completing "the admin server"; nil when it was, or there is no such page.
    var refusal: String? {
        switch self.status {
        case 401: "asks for the operator's token, and was given none, or another one"
        case 403: "shows nothing but health, because its operator-token is not set"
        case 421: "goes by another name"
        default: nil
        }
    }
}

/// Why there is no answer.
enum AdminFailure: Error, Equatable, Sendable {
    /// No connection; the reason is for people.
    case unreachable(String)
    /// No whole answer in time, or the connection ended before.
    case silent
    /// The answer is longer than the limit, in bytes.
    case tooLong(Int)
    /// It is not HTTP, or no page of a daemon.
    case malformed

    /// For people, completing the server's name.
    var reason: String {
        switch self {
        case .unreachable(let reason): "cannot be reached: \(reason)"
        case .silent: "gives no answer"
        case .tooLong(let limit): "answers with more than \(limit) bytes"
        case .malformed: "does not answer like a daemon of this pipeline"
        }
    }
}
