/// The HTTP address of a named instance in the settings: `gateway-1=10.0.0.5:8080`.
package struct HostAddress: InstanceAddress, Hashable {
    /// 1 to 64 of `A-Z a-z 0-9 . _ -`; unique in its stage.
    package let name: String
    /// A host name or an IP address, IPv6 without its brackets.
    package let host: String
    /// 1 to 65535.
    package let port: Int

    package init(name: String, host: String, port: Int) {
        self.name = name
        self.host = host
        self.port = port
    }

    /// Parses `name=host:port`; an IPv6 address is in brackets.
    package init(_ text: String) throws(SettingRefusal) {
        guard let equals = text.firstIndex(of: "="), let colon = text.lastIndex(of: ":"), equals < colon else {
            throw SettingRefusal("\"\(text)\" is not of the form name=host:port")
        }
        self.name = String(text[..<equals])
        try PeerAddress.check(name: self.name)
        var host = text[text.index(after: equals)..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            throw SettingRefusal("\"\(text)\" needs brackets around an IPv6 address: name=[::1]:8080")
        }
        guard !host.isEmpty, !host.utf8.contains(where: { $0 <= 0x20 || $0 == UInt8(ascii: "/") }) else {
            throw SettingRefusal("\"\(text)\" needs a host: name=host:port")
        }
        self.host = String(host)
        guard let port = Int(text[text.index(after: colon)...]), (1...65535).contains(port) else {
            throw SettingRefusal("\"\(text)\" needs a port from 1 to 65535")
        }
        self.port = port
    }

    package init(_ found: DNSInstance) {
        self.init(name: found.name, host: found.address, port: found.port)
    }

    package static let form = "name=host:port"
    package static let areLinks = false
    package var isLocal: Bool { Loopback.contains(self.host) }

    package var description: String {
        "\(self.name)=" + (self.host.contains(":") ? "[\(self.host)]" : self.host) + ":\(self.port)"
    }
}
