/// The names by which clients may address a server, as their requests' Host says (RFC 9110 section 7.2).
///
/// A page on a name that an attacker points at 127.0.0.1 (DNS rebinding) is of the same origin as the server there, for
/// the browser and for ``OriginPolicy/own(and:)``. Only the Host tells that it means another server.
public struct HostPolicy: Sendable, Equatable {
    /// Names with their ports; `nil` when every name is allowed.
    private let names: [String]?

    /// Every name.
    public static let any = HostPolicy(names: nil)

    /// Exactly these names.
    /// - Parameter names: such as `localhost`, `[::1]`, which allow every port, or `api.example.com:8080`.
    public static func only(_ names: [String]) -> HostPolicy { HostPolicy(names: names) }

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
            guard let allowed = Authority(Array(name.utf8)[...]) else { return false }
            return HTTPRequestHead.equalIgnoringCase(allowed.name, given.name)
                && (allowed.port == nil || allowed.port == given.port)
        }
    }
}
