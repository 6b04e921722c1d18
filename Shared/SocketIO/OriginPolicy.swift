/// The web origins that may use a server. Clients other than browsers send none or the server's own address.
public enum OriginPolicy: Sendable, Equatable {
    /// Every origin; the CORS answer is `*`.
    case any
    /// Native clients, and pages of exactly these origins, byte for byte, such as `https://app.example.com`.
    case only([String])

    /// The verdict on a request.
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
    /// at this server sends `http://` or `https://` and that name.
    public func judge(_ head: HTTPRequestHead) -> Verdict {
        guard head.headerCount("origin") <= 1 else { return .malformed }
        guard let origin = head.headerBytes("origin") else { return .allowed }
        switch self {
        case .any: return .allowed
        case .only(let list):
            if list.contains(where: { origin.elementsEqual($0.utf8) }) { return .allowed }
            return Self.isOwnSocketAddress(origin, host: head.headerBytes("host")) ? .allowed : .refused
        }
    }

    private static func isOwnSocketAddress(_ origin: ArraySlice<UInt8>, host: ArraySlice<UInt8>?) -> Bool {
        guard let host, let colon = origin.firstIndex(of: UInt8(ascii: ":")),
            let scheme = SocketScheme(origin[..<colon]), origin[colon...].starts(with: "://".utf8),
            let theirs = Authority(origin[colon...].dropFirst(3)), let own = Authority(host)
        else { return false }
        return HTTPRequestHead.equalIgnoringCase(theirs.name, own.name)
            && (theirs.port ?? scheme.defaultPort) == (own.port ?? scheme.defaultPort)
    }
}

// MARK: - CORS

extension OriginPolicy {
    /// The value of `Access-Control-Allow-Origin`, `nil` for none.
    public func allowedOrigin(for head: HTTPRequestHead) -> String? {
        switch self {
        case .any: return "*"
        case .only(let list):
            guard let origin = head.headerBytes("origin") else { return nil }
            return list.first { origin.elementsEqual($0.utf8) }
        }
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

// MARK: - Addresses

/// The schemes of WebSockets (RFC 6455 section 3).
private enum SocketScheme {
    case plain
    case secure

    init?(_ name: ArraySlice<UInt8>) {
        if HTTPRequestHead.equal(name, "ws", ignoringCase: true) {
            self = .plain
        } else if HTTPRequestHead.equal(name, "wss", ignoringCase: true) {
            self = .secure
        } else {
            return nil
        }
    }

    var defaultPort: Int { self == .plain ? 80 : 443 }
}

/// A host and perhaps a port (RFC 3986 section 3.2), such as `api.example.com:443` or `[::1]`.
private struct Authority {
    let name: ArraySlice<UInt8>
    /// `nil` for the default of the scheme.
    let port: Int?

    /// `nil` for an empty name or a malformed port.
    init?(_ text: ArraySlice<UInt8>) {
        // The colons of an IPv6 address are inside brackets.
        let afterName = text.lastIndex(of: UInt8(ascii: "]")) ?? text.startIndex
        let colon = text[afterName...].firstIndex(of: UInt8(ascii: ":")) ?? text.endIndex
        self.name = text[..<colon]
        let digits = text[colon...].dropFirst()
        guard !self.name.isEmpty, digits.count <= 5, digits.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }) else {
            return nil
        }
        self.port = digits.isEmpty ? nil : digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }
}
