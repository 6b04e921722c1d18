internal import Glibc

/// Asks the system's resolver for the addresses of a host name: `/etc/hosts`, DNS, whatever nsswitch.conf says.
package enum HostLookup {
    /// Answers with more addresses than this are refused.
    package static let maximumAddresses = 1000

    /// The IPv4 addresses of a name or, if it has none, its IPv6 addresses: an instance with both is one instance.
    /// Sorted, each once. Blocks, perhaps for many seconds.
    /// - Returns: the addresses, at least one, or a reason such as `does not resolve: Name or service not known`.
    package static func addresses(of host: String) -> Result<[String], SettingRefusal> {
        let found = self.addresses(of: host, family: AF_INET)
        guard case .success(let addresses) = found, addresses.isEmpty else { return found }
        let others = self.addresses(of: host, family: AF_INET6)
        guard case .success(let addresses) = others, addresses.isEmpty else { return others }
        return .failure(SettingRefusal("has no address"))
    }

    /// - Returns: none for a name without addresses of this family.
    private static func addresses(of host: String, family: Int32) -> Result<[String], SettingRefusal> {
        var hints = addrinfo()
        hints.ai_family = family
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var first: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, nil, &hints, &first)
        guard code == 0 else {
            if Self.none.contains(code) { return .success([]) }
            return .failure(SettingRefusal("does not resolve: \(String(cString: gai_strerror(code)))"))
        }
        defer { freeaddrinfo(first) }
        var found: Set<String> = []
        var next = first
        while let entry = next?.pointee {
            next = entry.ai_next
            if let text = self.text(entry) { found.insert(text) }
            guard found.count <= self.maximumAddresses else {
                return .failure(SettingRefusal("has more than \(self.maximumAddresses) addresses"))
            }
        }
        return .success(found.sorted())
    }

    /// The name is not known, has no address, or none of the family: EAI_NONAME, EAI_NODATA and EAI_ADDRFAMILY, of which
    /// glibc declares the last two as extensions only.
    private static let none: Set<Int32> = [EAI_NONAME, -5, -9]

    private static func text(_ entry: addrinfo) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let code = getnameinfo(
            entry.ai_addr, entry.ai_addrlen, &buffer, socklen_t(buffer.count), nil, 0, NI_NUMERICHOST)
        guard code == 0 else { return nil }
        return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
