/// A name by which clients address a server: a host, and a port if it is meant with this one only.
public struct ServerName: Sendable, Equatable {
    let host: String
    let port: Int?

    /// A name that a person wrote, such as `api.example.com`, `[::1]` or `localhost:8080`.
    /// - Throws: for what no request has as Host.
    public init(parsing text: String) throws(UnusableName) {
        guard !text.contains("/") else { throw UnusableName("is no HOST or HOST:PORT") }
        let place = try WrittenAuthority(text[...])
        self.host = place.host
        self.port = place.port
    }

    /// A name with every port.
    /// - Parameter host: in lower case.
    fileprivate init(host: String) {
        self.host = host
        self.port = nil
    }
}

/// The names by which clients may address a server, as their requests' Host says (RFC 9110 section 7.2).
///
/// A page on a name that an attacker points at 127.0.0.1 (DNS rebinding) is of the same origin as the server there, for
/// the browser and for ``OriginPolicy/own(and:)``. Only the Host tells that it means another server.
public struct HostPolicy: Sendable, Equatable {
    private let names: [ServerName]?

    public static let any = HostPolicy(names: nil)

    public static func only(_ names: [ServerName]) -> HostPolicy { HostPolicy(names: names) }

    /// The names that this machine has for itself, and others.
    public static func loopback(and names: [ServerName]) -> HostPolicy {
        .only(["localhost", "127.0.0.1", "[::1]"].map(ServerName.init(host:)) + names)
    }

    /// Whether a request addresses the server by one of its names. A request without a Host does not.
    public func admits(_ head: HTTPRequestHead) -> Bool {
        self.admits(host: head.headerCount("host") == 1 ? head.headerBytes("host") : nil)
    }

    /// The same for a request whose fields somebody else has read.
    /// - Parameter host: the value of the only Host; nil when there is none, or several.
    public func admits(host: ArraySlice<UInt8>?) -> Bool {
        guard let names else { return true }
        guard let host, let given = Authority(host) else { return false }
        return names.contains { name in
            HTTPRequestHead.equalIgnoringCase(Array(name.host.utf8)[...], given.name)
                && (name.port == nil || name.port == given.port)
        }
    }
}

/// A host and perhaps a port (RFC 3986 section 3.2), such as `api.example.com:443` or `[::1]`.
struct Authority {
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
