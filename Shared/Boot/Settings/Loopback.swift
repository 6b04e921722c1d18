/// The addresses that only programs on the same machine can reach.
package enum Loopback {
    /// True for `localhost`, 127.0.0.0/8 and `::1` (RFC 6890); any other name is taken for one that others can reach.
    package static func contains(_ host: String) -> Bool {
        if host == "localhost" || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}
