import Boot
import Crypto
import GatewayCore
import JSONBytes
import SocketIO
import SocketIOServer
import Wire

/// Plain HTTP on the gateway's port: health, the REST reading and creating of elements, its description, a page.
final class HTTPPages: HTTPApplication {
    private unowned let hub: GatewayHub
    private let adminPages: AdminPages
    let maxBody: Int

    init(hub: GatewayHub, adminPages: AdminPages, maxBody: Int) {
        self.hub = hub
        self.adminPages = adminPages
        self.maxBody = maxBody
    }

    func handle(_ request: HTTPRequest, respond: @escaping (HTTPResponse) -> Void) {
        let path = request.head.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(
            String.init)
        let method = request.head.method
        switch path {
        case [""]: self.get(method, respond) { Self.page }
        case ["healthz"], ["readyz"]: self.get(method, respond) { self.adminPage(request.head.path) }
        case ["api", "openapi.json"]: self.get(method, respond) { Self.json(200, Array(OpenAPI.document.utf8)) }
        case let path where path.count == 3 && path[0] == "api" && path[1] == "rooms":
            guard method == "GET" else { return respond(Self.wrongMethod("GET")) }
            self.read(request, room: PercentCoding.decode(path[2]), respond)
        case let path where path.count == 4 && path[0] == "api" && path[1] == "rooms" && path[3] == "elements":
            guard method == "POST" else { return respond(Self.wrongMethod("POST")) }
            self.create(request, room: PercentCoding.decode(path[2]), respond)
        default:
            respond(Self.refusal(Refusal(.notFound, "There is no such page.")))
        }
    }

    private func get(_ method: String, _ respond: (HTTPResponse) -> Void, _ page: () -> HTTPResponse) {
        guard method == "GET" || method == "HEAD" else { return respond(Self.wrongMethod("GET")) }
        respond(page())
    }

    /// The same health pages as on the admin server.
    private func adminPage(_ path: String) -> HTTPResponse {
        guard let page = self.adminPages.page(at: path) else {
            return Self.refusal(Refusal(.notFound, "There is no such page."))
        }
        return HTTPResponse(
            status: UInt16(clamping: page.status), headers: [("content-type", page.contentType)], body: page.body)
    }

    // MARK: Rooms

    private func read(_ request: HTTPRequest, room: String, _ respond: @escaping (HTTPResponse) -> Void) {
        guard let identity = self.identify(request, respond) else { return }
        self.hub.read(room: room, as: identity) { respond(Self.json($0.status, $0.json)) }
    }

    private func create(_ request: HTTPRequest, room: String, _ respond: @escaping (HTTPResponse) -> Void) {
        guard let identity = self.identify(request, respond) else { return }
        var session = Identifier("h:" + String(UInt64.random(in: 0...UInt64.max), radix: 36))
        if let key = request.head.header("idempotency-key") {
            guard (1...255).contains(key.utf8.count) else {
                respond(
                    Self.refusal(
                        Refusal(.invalid, "An Idempotency-Key has 1 to 255 bytes.", field: "Idempotency-Key")))
                return
            }
            session = Self.session(user: identity.member.user, key: key)
        }
        self.hub.create(in: room, body: request.body, session: session, as: identity) {
            respond(Self.json($0.status, $0.json))
        }
    }

    /// The session of an idempotency key: the same key of the same user names the same one, and nobody can aim at
    /// another user's.
    private static func session(user: Identifier, key: String) -> Identifier {
        var hash = SHA256()
        hash.update(data: Array(user.text.utf8))
        hash.update(data: [0])
        hash.update(data: Array(key.utf8))
        return Identifier("h:" + hash.finalize().prefix(16).map { Self.hex($0) }.joined())
    }

    private static func hex(_ byte: UInt8) -> String {
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }

    private func identify(_ request: HTTPRequest, _ respond: (HTTPResponse) -> Void) -> Identity? {
        let head = request.head
        let admission = self.hub.admit(
            auth: UnsafeRawBufferPointer(start: nil, count: 0), query: { head.queryValue($0) },
            header: { head.header($0) }, guest: Self.guest)
        switch admission {
        case .success((let identity, _)):
            return identity
        case .failure(let refusal):
            let status = refusal.field == "token" ? 401 : HTTPStatus.of(refusal)
            respond(Self.json(status, refusal.acknowledgementText))
            return nil
        }
    }

    /// Who asks without a name in open mode: always the same, so that an idempotency key finds its session again.
    private static let guest = "guest"

    // MARK: Responses

    private static func json(_ status: Int, _ body: [UInt8]) -> HTTPResponse {
        HTTPResponse(
            status: UInt16(status),
            headers: [("content-type", "application/json"), ("access-control-allow-origin", "*")], body: body)
    }

    private static func refusal(_ refusal: Refusal) -> HTTPResponse {
        Self.json(HTTPStatus.of(refusal), refusal.acknowledgementText)
    }

    private static func wrongMethod(_ allowed: String) -> HTTPResponse {
        HTTPResponse(
            status: 405, headers: [("content-type", "application/json"), ("allow", allowed)],
            body: Refusal(.invalid, "The method must be \(allowed).").acknowledgementText)
    }

    private static let page = HTTPResponse(
        status: 200,
        headers: [
            ("content-type", "text/html; charset=utf-8"), ("x-content-type-options", "nosniff"),
            ("cache-control", "no-cache"),
        ], body: Array(RoomPage.html.utf8))
}

/// Percent-encoding in paths (RFC 3986 section 2.1).
enum PercentCoding {
    /// Decodes a path segment; what is no escape stays as it is. Ill-formed UTF-8 becomes U+FFFD, which no id holds.
    static func decode(_ segment: String) -> String {
        guard segment.utf8.contains(UInt8(ascii: "%")) else { return segment }
        let bytes = Array(segment.utf8)
        var decoded: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
                let high = Self.digit(bytes[index + 1]), let low = Self.digit(bytes[index + 2])
            {
                decoded.append(high << 4 | low)
                index += 3
            } else {
                decoded.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: decoded, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

/// An answer to an HTTP request.
struct HTTPAnswer {
    let status: Int
    let json: [UInt8]
}
