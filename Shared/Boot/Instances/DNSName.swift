internal import Trust

/// A name whose records in DNS are a stage's instances: `dns://HOST:PORT` or `srv://NAME`.
package struct DNSName: Sendable, Hashable, CustomStringConvertible {
    package enum Records: Sendable, Hashable {
        /// The addresses of a host, where all instances have this port, 1 to 65535.
        case addresses(port: Int)
        /// The hosts and ports of a service (RFC 2782).
        case services
    }

    /// 1 to 253 letters, digits, dots, dashes and underscores.
    package let host: String
    package let records: Records

    package init(host: String, records: Records) {
        self.host = host
        self.records = records
    }

    /// Parses `dns://HOST:PORT` and `srv://NAME`; nil for anything that begins otherwise.
    package init?(_ text: String) throws(SettingRefusal) {
        if text.hasPrefix(Self.addressScheme) {
            let parts = text.dropFirst(Self.addressScheme.count).split(
                separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, Self.isHost(parts[0]), let port = Int(parts[1]), (1...65535).contains(port) else {
                throw SettingRefusal("\"\(text)\" needs a host name and a port from 1 to 65535: dns://HOST:PORT")
            }
            self.init(host: String(parts[0]), records: .addresses(port: port))
        } else if text.hasPrefix(Self.serviceScheme) {
            let host = text.dropFirst(Self.serviceScheme.count)
            guard Self.isHost(host) else {
                throw SettingRefusal("\"\(text)\" needs a name, and the port is in its records: srv://NAME")
            }
            self.init(host: String(host), records: .services)
        } else {
            return nil
        }
    }

    package var description: String {
        switch self.records {
        case .addresses(let port): "\(Self.addressScheme)\(self.host):\(port)"
        case .services: "\(Self.serviceScheme)\(self.host)"
        }
    }

    private static let addressScheme = "dns://"
    private static let serviceScheme = "srv://"

    private static func isHost(_ text: Substring) -> Bool {
        (1...253).contains(text.utf8.count) && text.utf8.allSatisfy(PeerList.isNameByte)
    }
}

/// An instance that DNS knows.
package struct DNSInstance: Sendable, Hashable {
    /// What it goes by: its address, with dashes for the colons of IPv6, which names do not have; or the first label of
    /// its host in a service's record, such as `fanout-0` of `fanout-0.fanouts.example.net`.
    package let name: String
    /// Its IP address.
    package let address: String
    package let port: Int

    package init(name: String, address: String, port: Int) {
        self.name = name
        self.address = address
        self.port = port
    }

    /// One of the addresses of a host.
    package init(address: String, port: Int) {
        let name = String(address.map { $0 == ":" || $0 == "%" ? "-" : $0 })
        self.init(name: name, address: address, port: port)
    }
}
