package import SocketIO

/// The addresses that only programs on the same machine can reach.
package enum Loopback {
    /// True for `localhost`, 127.0.0.0/8 and `::1` (RFC 6890); any other name is taken for one that others can reach.
    package static func contains(_ host: String) -> Bool {
        if host == "localhost" || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// The addresses on which a server listens that is asked to listen on this one: programs look for `localhost` on
    /// either address of loopback, and some only on the first that they find.
    package static func addresses(of host: String) -> [String] {
        host == "localhost" || host == "127.0.0.1" ? ["127.0.0.1", "::1"] : [host]
    }
}

extension HostPolicy {
    /// The names of a server that listens on an address. Without a list a server on loopback goes by the names of
    /// loopback, and one elsewhere by any.
    /// - Parameter names: a list that the operator sets.
    package init(names: [ServerName] = [], listeningOn host: String) {
        if !names.isEmpty {
            self = .only(names)
        } else {
            // 127.0.0.2 is loopback, too.
            let other = (try? ServerName(parsing: host)).map { [$0] } ?? []
            self = Loopback.contains(host) ? .loopback(and: other) : .any
        }
    }
}
