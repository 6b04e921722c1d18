/// An absolute URL in the parts that a request needs; it holds no byte that could end a line of HTTP.
///
/// Hosts are names or addresses in ASCII; names in other scripts come in their encoded form (`xn--…`). User names,
/// passwords and fragments are refused.
struct TransportURL: Equatable, Sendable {
    enum Schemes: Sendable {
        /// `ws` and `wss`.
        case webSocket
        /// `http` and `https`.
        case http
    }

    let isSecure: Bool
    /// A name or an address; one of IPv6 without brackets.
    let host: String
    /// The URL's port, or the scheme's.
    let port: Int
    /// Path and query as a request's first line has them; never empty.
    let target: String

    init(_ text: String, _ schemes: Schemes) throws(TransportError) {
        var rest = text.utf8[...]
        guard let isSecure = Self.takeScheme(&rest, schemes) else {
            throw TransportError(.unreachable, "The URL does not begin with \(schemes.names).")
        }
        let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
        guard let (host, port) = Self.hostAndPort(rest[..<end]) else {
            throw TransportError(.unreachable, "The URL has no valid host and port.")
        }
        guard let target = Self.target(rest[end...]) else {
            throw TransportError(
                .unreachable, "The URL has a character in its path or query that must be percent-encoded.")
        }
        self.isSecure = isSecure
        self.host = host
        self.port = port ?? (isSecure ? 443 : 80)
        self.target = target
    }

    var isIPv6: Bool { self.host.utf8.contains(UInt8(ascii: ":")) }

    /// Host and port as the header `Host` has them.
    var authority: String {
        let host = self.isIPv6 ? "[\(self.host)]" : self.host
        return self.port == (self.isSecure ? 443 : 80) ? host : "\(host):\(self.port)"
    }
}

extension TransportURL.Schemes {
    fileprivate var plain: String { self == .webSocket ? "ws" : "http" }
    fileprivate var secure: String { self == .webSocket ? "wss" : "https" }
    fileprivate var names: String { "\(self.plain):// or \(self.secure)://" }
}

// MARK: - Parts

extension TransportURL {
    /// Whether the scheme at the beginning is the secure one; nil for another scheme.
    private static func takeScheme(_ rest: inout Substring.UTF8View, _ schemes: Schemes) -> Bool? {
        guard let colon = rest.firstIndex(of: UInt8(ascii: ":")), rest[colon...].starts(with: "://".utf8) else {
            return nil
        }
        let scheme = Substring(rest[..<colon]).lowercased()
        guard scheme == schemes.plain || scheme == schemes.secure else { return nil }
        rest = rest[colon...].dropFirst(3)
        return scheme == schemes.secure
    }

    private static func hostAndPort(_ authority: Substring.UTF8View) -> (host: String, port: Int?)? {
        let hostEnd: Substring.UTF8View.Index
        let host: Substring.UTF8View
        if authority.first == UInt8(ascii: "[") {
            guard let bracket = authority.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            host = authority[..<bracket].dropFirst()
            hostEnd = authority.index(after: bracket)
            guard host.contains(UInt8(ascii: ":")), host.allSatisfy(\.isOfIPv6) else { return nil }
        } else {
            hostEnd = authority.firstIndex(of: UInt8(ascii: ":")) ?? authority.endIndex
            host = authority[..<hostEnd]
            guard host.allSatisfy(\.isOfName) else { return nil }
        }
        guard (1...253).contains(host.count) else { return nil }
        let rest = authority[hostEnd...]
        guard !rest.isEmpty else { return (String(Substring(host)), nil) }
        guard rest.first == UInt8(ascii: ":"), let port = Self.port(rest.dropFirst()) else { return nil }
        return (String(Substring(host)), port)
    }

    private static func port(_ digits: Substring.UTF8View) -> Int? {
        guard (1...5).contains(digits.count), digits.allSatisfy(\.isDigit) else { return nil }
        return Int(Substring(digits)).flatMap { (1...65_535).contains($0) ? $0 : nil }
    }

    private static func target(_ rest: Substring.UTF8View) -> String? {
        var index = rest.startIndex
        while index < rest.endIndex {
            let byte = rest[index]
            index = rest.index(after: index)
            guard byte.isOfTarget else { return nil }
            guard byte == UInt8(ascii: "%") else { continue }
            guard case let digits = rest[index...].prefix(2), digits.count == 2, digits.allSatisfy(\.isHexDigit) else {
                return nil
            }
        }
        return (rest.first == UInt8(ascii: "/") ? "" : "/") + String(Substring(rest))
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    private var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }

    fileprivate var isHexDigit: Bool {
        self.isDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self | 0x20)
    }

    fileprivate var isOfName: Bool { self.isDigit || self.isLetter || ".-_".utf8.contains(self) }

    fileprivate var isOfIPv6: Bool { self.isHexDigit || self == UInt8(ascii: ":") || self == UInt8(ascii: ".") }

    /// RFC 3986's characters of paths and queries.
    fileprivate var isOfTarget: Bool {
        self.isDigit || self.isLetter || "-._~%!$&'()*+,;=:@/?[]".utf8.contains(self)
    }
}
