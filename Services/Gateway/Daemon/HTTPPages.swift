import Boot
import Crypto
import GatewayCore
import JSONBytes
import SocketIO
import SocketIOServer
import Wire

/// Plain HTTP on the gateway's port: health, a page, the client for web pages, and the API for back ends, which reads rooms,
/// their histories and streams, and changes them.
final class HTTPPages: HTTPApplication {
    private unowned let hub: GatewayHub
    private let adminPages: AdminPages
    /// The web origins that may use the API.
    private let origins: OriginPolicy
    private let appServer: AppServer
    let maxBody: Int

    init(
        hub: GatewayHub, adminPages: AdminPages, origins: OriginPolicy, appServer: AppServer, maxBody: Int
    ) {
        self.hub = hub
        self.adminPages = adminPages
        self.origins = origins
        self.appServer = appServer
        self.maxBody = maxBody
        // Ahead of the first who asks, on a thread of its own.
        Task.detached(priority: .utility) { StaticFile.prepare() }
    }

    func handle(_ request: HTTPRequest, respond: @escaping (HTTPResponse) -> Void) {
        let head = request.head
        if let health = self.health(head) { return respond(health.confined) }
        guard self.hub.admission.isAddressed(by: head, from: request.remoteAddress) else {
            return respond(Self.wrongHost.confined)
        }
        guard APIResource.contains(head.path) else { return respond(self.page(head).confined) }
        self.answer(request) { respond($0.confined) }
    }

    private func answer(_ request: HTTPRequest, _ respond: @escaping (HTTPResponse) -> Void) {
        let head = request.head
        let answer: (HTTPResponse) -> Void = { respond(self.readable($0, by: head)) }
        do throws(Refusal) {
            try self.checkOrigin(of: head)
            guard let resource = APIResource(path: head.path) else { throw .noSuchPage }
            switch head.method {
            case "OPTIONS": respond(self.preflight(head, resource))
            case let method where !resource.methods.contains(method): answer(Self.wrongMethod(resource.methods))
            default: self.handle(request, resource, answer)
            }
        } catch {
            answer(Self.refusal(error))
        }
    }

    func bodyTooLarge(_ head: HTTPRequestHead) -> HTTPResponse {
        guard APIResource.contains(head.path) else { return HTTPResponse(status: 413).confined }
        return self.shared(with: head) { () throws(Refusal) in
            throw Refusal(.tooLarge, "A body has at most \(self.maxBody) bytes.")
        }.confined
    }

    // MARK: Pages

    private func page(_ head: HTTPRequestHead) -> HTTPResponse {
        let file = StaticFile.at(head.path)
        guard file != nil || head.path == "/app/settings.json" else { return Self.refusal(.noSuchPage) }
        guard Self.reading.contains(head.method) else { return Self.wrongMethod(Self.reading) }
        guard let file else { return Self.json(200, self.appServer.json) }
        let answer = file.answer(
            known: head.header("if-none-match"), encodings: head.header("accept-encoding"),
            with: self.appServer)
        return file.isForOtherOrigins ? self.shared(with: head) { answer } : answer
    }

    /// An answer that pages of the allowed origins may read, too.
    private func shared(with head: HTTPRequestHead, _ answer: () throws(Refusal) -> HTTPResponse) -> HTTPResponse {
        do throws(Refusal) {
            try self.checkOrigin(of: head)
            return self.readable(try answer(), by: head)
        } catch {
            return self.readable(Self.refusal(error), by: head)
        }
    }

    /// Yes or no, for proxies, which name no host of ours and no origin. The reasons are on the admin server only: they
    /// name neighbours and files.
    private func health(_ head: HTTPRequestHead) -> HTTPResponse? {
        let isReadiness = head.path == "/readyz"
        guard isReadiness || head.path == "/healthz", let page = self.adminPages.page(at: head.path) else { return nil }
        guard Self.reading.contains(head.method) else { return Self.wrongMethod(Self.reading) }
        let isWell = page.status == 200
        let text = isReadiness ? #"{"ready":\#(isWell)}"# : isWell ? "ok\n" : "stalled\n"
        return HTTPResponse(
            status: UInt16(clamping: page.status), headers: [("content-type", page.contentType)], body: Array(text.utf8)
        )
    }

    private static var wrongHost: HTTPResponse {
        var response = HTTPPages.refusal(Refusal(.forbidden, GatewayAdmission.wrongName, field: "Host"))
        // Misdirected Request (RFC 9110 section 15.5.20).
        response.status = 421
        return response
    }

    fileprivate static let reading = ["GET", "HEAD"]

    // MARK: Origins

    private func checkOrigin(of head: HTTPRequestHead) throws(Refusal) {
        switch self.origins.judge(head) {
        case .allowed: break
        case .refused: throw Refusal(.forbidden, OriginPolicy.message(for: head), field: "Origin")
        case .malformed: throw Refusal(.invalid, "A request has at most one origin.", field: "Origin")
        }
    }

    /// An answer with the fields that let pages of allowed origins read it.
    private func readable(_ answer: HTTPResponse, by head: HTTPRequestHead) -> HTTPResponse {
        var answer = answer
        answer.headers += self.origins.headers(for: head)
        return answer
    }

    /// The answer to a browser that asks for a page of another origin what this page may send.
    private func preflight(_ head: HTTPRequestHead, _ resource: APIResource) -> HTTPResponse {
        let methods = resource.methods.joined(separator: ", ")
        let fields = "Authorization, Content-Type, Idempotency-Key, Last-Event-ID, traceparent"
        let headers = self.origins.preflightHeaders(for: head, methods: methods, fields: fields)
        return HTTPResponse(status: 204, headers: [("allow", methods)] + headers)
    }

    // MARK: Rooms

    private func handle(_ request: HTTPRequest, _ resource: APIResource, _ respond: @escaping (HTTPResponse) -> Void) {
        if case .description = resource { return respond(Self.json(200, Array(OpenAPI.document.utf8))) }
        guard let identity = self.identify(request, for: resource, respond) else { return }
        do throws(Refusal) {
            if case .events(let room) = resource {
                // A browser that connects again repeats the address, and names its place in the field.
                let place = request.head.header("last-event-id") ?? request.head.queryValue("after")
                return try self.hub.subscribed(to: room, after: place, as: identity, respond: respond)
            }
            let question = try Self.question(request, resource, of: identity.member.user)
            self.hub.requestReceived(question, as: identity) { respond(Self.response($0)) }
        } catch {
            respond(Self.refusal(error))
        }
    }

    private static func question(
        _ request: HTTPRequest, _ resource: APIResource, of user: Identifier
    ) throws(Refusal) -> AppRequest {
        let head = request.head
        switch resource {
        case .description, .events: throw .noSuchPage
        case .room(let room): return .room(room)
        case .history(let room):
            return .history(of: room, after: head.queryValue("after"), limit: head.queryValue("limit"))
        case .elements(let room): return .commits(try Self.commits(.creation, in: room, request, of: user))
        case .commits(let room): return .commits(try Self.commits(.commits, in: room, request, of: user))
        }
    }

    private static func commits(
        _ form: CommitRequest.Form, in room: String, _ request: HTTPRequest, of user: Identifier
    ) throws(Refusal) -> CommitRequest {
        CommitRequest(
            room: room, form: form, body: request.body, session: try Self.session(of: user, request.head),
            parent: Self.traceParent(request.head))
    }

    /// The session of a request's commits. The same Idempotency-Key of the same user names the same one, and nobody can aim
    /// at another user's.
    private static func session(of user: Identifier, _ head: HTTPRequestHead) throws(Refusal) -> Identifier {
        guard let key = head.header("idempotency-key") else {
            return SessionKey.http(String(UInt64.random(in: 0...UInt64.max), radix: 36))
        }
        guard (1...255).contains(key.utf8.count) else {
            throw Refusal(.invalid, "An Idempotency-Key has 1 to 255 bytes.", field: "Idempotency-Key")
        }
        var hash = SHA256()
        hash.update(data: Array(user.text.utf8))
        hash.update(data: [0])
        hash.update(data: Array(key.utf8))
        return SessionKey.http(hash.finalize().prefix(16).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())
    }

    /// The trace of which a request is a part. One that is malformed, or given twice, is ignored (W3C Trace Context,
    /// section 4.3).
    private static func traceParent(_ head: HTTPRequestHead) -> TraceParent? {
        guard head.headerCount("traceparent") == 1 else { return nil }
        return head.header("traceparent").flatMap { TraceParent($0) }
    }

    private func identify(
        _ request: HTTPRequest, for resource: APIResource, _ respond: (HTTPResponse) -> Void
    ) -> Identity? {
        let head = request.head
        var limit: AdmissionLimit?
        let admission = self.hub.admission.admit(
            auth: UnsafeRawBufferPointer(start: nil, count: 0), query: { head.queryValue($0) },
            header: { head.header($0) }, guest: Self.guest, from: request.remoteAddress,
            counted: request.limitedAddress, within: &limit, by: self.hub.shell.core.authenticator,
            among: resource.isStream ? self.hub.shell.core.relay.connections : nil)
        switch admission {
        case .success((let identity, _)):
            return identity
        case .failure(let refusal):
            let status = refusal.field == "token" ? 401 : refusal.httpStatus
            respond(Self.json(status, refusal.acknowledgementText))
            return nil
        }
    }

    /// Who asks without a name in open mode: always the same, so that an idempotency key finds its session again.
    private static let guest = "guest"

    // MARK: Responses

    private static func response(_ answer: HTTPAnswer) -> HTTPResponse {
        var response = Self.json(answer.status, answer.json)
        response.hold = answer.hold
        return response
    }

    private static func json(_ status: Int, _ body: [UInt8]) -> HTTPResponse {
        HTTPResponse(
            status: UInt16(clamping: status),
            headers: [("content-type", "application/json"), ("cache-control", "no-store")] + self.pause(status, body),
            body: body)
    }

    /// When a client may try again, if the refusal says so: whole seconds, rounded up (RFC 9110 section 10.2.3).
    private static func pause(_ status: Int, _ body: [UInt8]) -> [(String, String)] {
        guard status == 429 || status == 503 else { return [] }
        var document = JSONDocument()
        guard (try? document.parse(body)) != nil, let wait = document.root["error"]?["retryAfterMs"]?.integer else {
            return []
        }
        return [("retry-after", String(max(1, (wait + 999) / 1000)))]
    }

    static func refusal(_ refusal: Refusal) -> HTTPResponse {
        Self.json(refusal.httpStatus, refusal.acknowledgementText)
    }

    private static func wrongMethod(_ allowed: [String]) -> HTTPResponse {
        let methods = allowed.joined(separator: ", ")
        var response = Self.json(405, Refusal(.invalid, "The method must be one of \(methods).").acknowledgementText)
        response.headers.append(("allow", methods))
        return response
    }
}

extension Refusal {
    fileprivate static var noSuchPage: Refusal { Refusal(.notFound, "There is no such page.") }
}

/// What a path below `/api` stands for.
private enum APIResource {
    case description
    case room(String)
    case history(String)
    case elements(String)
    case commits(String)
    case events(String)

    /// Whether a path is the API's, though there may be nothing.
    static func contains(_ path: String) -> Bool { path == "/api" || path.hasPrefix("/api/") }

    init?(path: String) {
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst(2).map(String.init)
        switch (segments.first, segments.count) {
        case ("openapi.json", 1): self = .description
        case ("rooms", 2): self = .room(PercentCoding.decode(segments[1]))
        case ("rooms", 3) where segments[2] == "history": self = .history(PercentCoding.decode(segments[1]))
        case ("rooms", 3) where segments[2] == "elements": self = .elements(PercentCoding.decode(segments[1]))
        case ("rooms", 3) where segments[2] == "commits": self = .commits(PercentCoding.decode(segments[1]))
        case ("rooms", 3) where segments[2] == "events": self = .events(PercentCoding.decode(segments[1]))
        default: return nil
        }
    }

    var isStream: Bool { if case .events = self { true } else { false } }

    var methods: [String] {
        switch self {
        case .description, .room, .history: HTTPPages.reading + ["OPTIONS"]
        case .elements, .commits: ["POST", "OPTIONS"]
        case .events: ["GET", "OPTIONS"]
        }
    }
}

struct HTTPAnswer {
    let status: Int
    let json: [UInt8]
    /// Kept until the client has read it.
    var hold: AnswerHold?
}

extension HTTPResponse {
    /// The answer with the fields that confine what a browser does with it: it names this address to nobody, shows it in
    /// no frame, and runs nothing in it that its own policy does not allow (Content Security Policy 3).
    var confined: HTTPResponse {
        var response = self
        response.headers += Self.confinement
        if !self.headers.contains(where: { $0.0 == Self.policyField }) {
            response.headers.append((Self.policyField, "default-src 'none'; frame-ancestors 'none'"))
        }
        return response
    }

    private static let policyField = "content-security-policy"

    private static let confinement = [
        ("referrer-policy", "no-referrer"),
        // For browsers that know no frame-ancestors.
        ("x-frame-options", "DENY"),
    ]
}
