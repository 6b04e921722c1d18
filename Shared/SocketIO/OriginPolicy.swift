/// The web origins that may use a server. Clients other than browsers send none or the server's own address.
public enum OriginPolicy: Sendable, Equatable {
    /// Every origin; the CORS answer is `*`.
    case any
    /// Native clients, the server's own pages, and pages of exactly these origins. The server's own are those whose host
    /// and port are the request's Host, so check the Host as well: see ``HostPolicy``. Set `isSecure` when the server itself
    /// speaks TLS: a page of `http://` is then another server's, or of somebody on the network in between.
    case own(and: [WebOrigin], isSecure: Bool = false)
    /// Native clients, and pages of exactly these origins, byte for byte.
    case only([WebOrigin])

    public enum Verdict: Sendable, Equatable {
        case allowed
        /// 403.
        case refused
        /// 400: more than one Origin.
        case malformed
    }

    /// Checks the Origin fields of a request.
    ///
    /// No Origin is allowed: browsers always send one with WebSockets and cross-site requests. So is `ws://` or `wss://`
    /// followed by the request's own Host, with the default port or without: native clients send
    /// `wss://api.example.com` with `Host: api.example.com:443`. No browser can: a page on a name that an attacker points
    /// at this server sends `http://` or `https://` and that name, which only ``own(and:)`` allows.
    public func judge(_ head: HTTPRequestHead) -> Verdict {
        guard head.headerCount("origin") <= 1 else { return .malformed }
        guard let origin = head.headerBytes("origin") else { return .allowed }
        if self == .any { return .allowed }
        if self.listed.contains(where: { origin.elementsEqual($0.text.utf8) }) { return .allowed }
        return self.isOwnAddress(origin, host: head.headerBytes("host")) ? .allowed : .refused
    }

    /// What to tell the client of a request that was refused, which may be the developer of a page.
    public static func message(for head: HTTPRequestHead) -> String {
        let origin = head.header("origin") ?? ""
        // What no browser sends is not repeated.
        let isPlain = origin.utf8.count <= 256 && origin.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        return
            "Pages of \(isPlain ? origin : "this origin") may not use this server: its setting origins does not name them."
    }

    /// The origins of other servers.
    private var listed: [WebOrigin] {
        switch self {
        case .any: []
        case .only(let list), .own(let list, _): list
        }
    }

    /// A proxy may speak TLS for the server, which then sees neither `https` nor port 443; so the origin's scheme decides
    /// which port is the default.
    private func isOwnAddress(_ origin: ArraySlice<UInt8>, host: ArraySlice<UInt8>?) -> Bool {
        guard let host, let colon = origin.firstIndex(of: UInt8(ascii: ":")),
            let scheme = OriginScheme(origin[..<colon]), self.admitsOwn(scheme),
            origin[colon...].starts(with: "://".utf8),
            let theirs = Authority(origin[colon...].dropFirst(3)), let own = Authority(host)
        else { return false }
        return HTTPRequestHead.equalIgnoringCase(theirs.name, own.name)
            && (theirs.port ?? scheme.defaultPort) == (own.port ?? scheme.defaultPort)
    }

    /// Whether the server's own address is allowed with this scheme.
    private func admitsOwn(_ scheme: OriginScheme) -> Bool {
        if case .own(_, let isSecure) = self, isSecure { return scheme == .https || scheme == .secureSocket }
        if case .own = self { return true }
        return scheme.isSocket
    }
}

// MARK: - CORS

extension OriginPolicy {
    /// The value of `Access-Control-Allow-Origin`, `nil` for none.
    public func allowedOrigin(for head: HTTPRequestHead) -> String? {
        if self == .any { return "*" }
        guard let origin = head.headerBytes("origin") else { return nil }
        return self.listed.first { origin.elementsEqual($0.text.utf8) }?.text
    }

    /// The fields that let browsers read an answer, and keep caches from giving it to pages of other origins.
    public func headers(for head: HTTPRequestHead) -> [(String, String)] {
        guard let origin = self.allowedOrigin(for: head) else { return [("Vary", "Origin")] }
        if self == .any { return [("Access-Control-Allow-Origin", origin)] }
        return [
            ("Access-Control-Allow-Origin", origin), ("Access-Control-Allow-Credentials", "true"), ("Vary", "Origin"),
        ]
    }

    /// The fields of the answer to a preflight request.
    /// - Parameters:
    ///   - methods: the methods of the resource, such as `GET, POST`.
    ///   - fields: the request fields that it reads, such as `Content-Type`.
    public func preflightHeaders(for head: HTTPRequestHead, methods: String, fields: String) -> [(String, String)] {
        guard self.allowedOrigin(for: head) != nil else { return self.headers(for: head) }
        return self.headers(for: head) + [
            ("Access-Control-Allow-Methods", methods), ("Access-Control-Allow-Headers", fields),
            ("Access-Control-Max-Age", "600"),
        ]
    }
}

// MARK: - Schemes

/// The schemes of web pages, and of native clients, which name the address of their WebSocket (RFC 6455 section 3).
enum OriginScheme: CaseIterable {
    case http, https, socket, secureSocket

    init?(_ name: ArraySlice<UInt8>) {
        guard let scheme = Self.allCases.first(where: { HTTPRequestHead.equal(name, $0.name, ignoringCase: true) })
        else { return nil }
        self = scheme
    }

    private var name: StaticString {
        switch self {
        case .http: "http"
        case .https: "https"
        case .socket: "ws"
        case .secureSocket: "wss"
        }
    }

    /// True for the schemes that no browser sends.
    var isSocket: Bool { self == .socket || self == .secureSocket }

    var defaultPort: Int { self == .http || self == .socket ? 80 : 443 }
}
