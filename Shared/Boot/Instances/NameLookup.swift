internal import CResolver
internal import Glibc

/// Asks the system's resolver for a stage's instances. Addresses come from `/etc/hosts`, DNS, whatever nsswitch.conf
/// says; services from DNS.
package enum NameLookup {
    /// Answers with more instances than this are refused.
    package static let maximumInstances = 1000

    /// The instances of a name, each once. Blocks, perhaps for many seconds.
    /// - Returns: the instances, at least one, or a reason such as `does not resolve: Name or service not known`.
    package static func instances(of name: DNSName) -> Result<[DNSInstance], SettingRefusal> {
        Result { () throws(SettingRefusal) in
            switch name.records {
            case .addresses(let port):
                let addresses = try self.addresses(of: name.host)
                if addresses.isEmpty { throw SettingRefusal("has no address") }
                return addresses.map { DNSInstance(address: $0, port: port) }
            case .services: return try self.services(of: name.host)
            }
        }
    }

    // MARK: Addresses

    /// The IPv4 addresses of a host or, if it has none, its IPv6 addresses: an instance with both is one instance.
    /// Sorted, each once; none for a host without any.
    private static func addresses(of host: String) throws(SettingRefusal) -> [String] {
        let addresses = try self.addresses(of: host, family: AF_INET)
        return addresses.isEmpty ? try self.addresses(of: host, family: AF_INET6) : addresses
    }

    private static func addresses(of host: String, family: Int32) throws(SettingRefusal) -> [String] {
        var hints = addrinfo()
        hints.ai_family = family
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var first: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, nil, &hints, &first)
        guard code == 0 else {
            if Self.none.contains(code) { return [] }
            throw SettingRefusal("does not resolve: \(String(cString: gai_strerror(code)))")
        }
        defer { freeaddrinfo(first) }
        var found: Set<String> = []
        var next = first
        while let entry = next?.pointee {
            next = entry.ai_next
            if let text = self.text(entry) { found.insert(text) }
            guard found.count <= self.maximumInstances else {
                throw SettingRefusal("has more than \(self.maximumInstances) addresses")
            }
        }
        return found.sorted()
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

    // MARK: Services

    /// The instances that a name's SRV records list. Priorities and weights say whom to prefer, which is for nobody to
    /// decide here: every instance owns its share. A host that has no address is as one that is not listed; one whose
    /// address nobody can say just now makes the lookup fail.
    private static func services(of name: String) throws(SettingRefusal) -> [DNSInstance] {
        var services = [resolver_service](repeating: resolver_service(), count: self.maximumInstances)
        let count = resolver_services(name, &services, Int32(services.count))
        guard count >= 0 else { throw self.refusal(code: -count) }
        var instances: [String: DNSInstance] = [:]
        for service in services[..<Int(count)] {
            let (host, port) = (self.target(service), Int(service.port))
            if host.isEmpty || port == 0 { continue }
            let name = String(host.prefix { $0 != "." })
            try PeerAddress.check(name: name)
            guard let address = try self.addresses(of: host).first else { continue }
            let instance = DNSInstance(name: name, address: address, port: port)
            guard instances.updateValue(instance, forKey: name) ?? instance == instance else {
                throw SettingRefusal("lists the name \"\(name)\" twice")
            }
        }
        guard !instances.isEmpty else { throw SettingRefusal("lists no instance that has an address") }
        return Array(instances.values)
    }

    private static func target(_ service: resolver_service) -> String {
        withUnsafeBytes(of: service.target) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    /// - Parameter code: of `resolver_services`, without its sign.
    private static func refusal(code: Int32) -> SettingRefusal {
        switch Int(code) {
        case resolver_malformed: SettingRefusal("has a malformed answer")
        case resolver_too_many: SettingRefusal("has more than \(self.maximumInstances) instances")
        case Int(NO_DATA): SettingRefusal("has no SRV records")
        default: SettingRefusal("does not resolve: \(String(cString: hstrerror(code)))")
        }
    }
}
