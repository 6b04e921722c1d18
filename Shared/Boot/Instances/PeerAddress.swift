internal import Trust

/// A peer of the mesh in the settings: `committer-1=ipc:///run/touchsync/committer-1.sock`.
package struct PeerAddress: Hashable, Sendable, CustomStringConvertible {
    /// 1 to 64 of `A-Z a-z 0-9 . _ -`; unique in its stage: it decides what the instance owns, and what it must call itself.
    package let name: String
    /// `ipc://PATH` or `tcp://HOST:PORT`.
    package let endpoint: String

    package init(name: String, endpoint: String) {
        self.name = name
        self.endpoint = endpoint
    }

    /// Parses `name=endpoint`.
    package init(_ text: String) throws(SettingRefusal) {
        guard let equals = text.firstIndex(of: "=") else {
            throw SettingRefusal("\"\(text)\" is not of the form name=endpoint")
        }
        self.name = String(text[..<equals])
        self.endpoint = String(text[text.index(after: equals)...])
        try PeerAddress.check(name: self.name)
        try PeerAddress.check(endpoint: self.endpoint)
    }

    /// The addresses of a list, each name once.
    static func list(_ items: [String]) throws(SettingRefusal) -> [PeerAddress] {
        var names: Set<String> = []
        var addresses: [PeerAddress] = []
        for item in items {
            let address = try PeerAddress(item)
            guard names.insert(address.name).inserted else {
                throw SettingRefusal("the name \"\(address.name)\" stands twice in the list")
            }
            addresses.append(address)
        }
        return addresses
    }

    /// An instance that DNS knows.
    package init(_ found: DNSInstance) {
        let host = found.address.contains(":") ? "[\(found.address)]" : found.address
        self.init(name: found.name, endpoint: "tcp://\(host):\(found.port)")
    }

    package var description: String { "\(self.name)=\(self.endpoint)" }

    /// What an item of a list looks like.
    static let form = "name=endpoint"

    /// True for one that only programs of this machine can reach.
    package var isLocal: Bool { Self.isLocal(endpoint: self.endpoint) }

    /// True for an endpoint that only programs of this machine can reach: `ipc://`, and `tcp://` on loopback.
    package static func isLocal(endpoint: String) -> Bool {
        guard var host = self.tcp(endpoint)?.host else { return true }
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        return Loopback.contains(String(host))
    }

    /// The host, which may be in brackets, and the port of `tcp://HOST:PORT`; nil for another endpoint. A port that is no
    /// number is nil.
    package static func tcp(_ endpoint: String) -> (host: Substring, port: Int?)? {
        guard endpoint.hasPrefix("tcp://"), let colon = endpoint.lastIndex(of: ":") else { return nil }
        return (endpoint[..<colon].dropFirst(6), Int(endpoint[endpoint.index(after: colon)...]))
    }

    /// The longest path that fits `sockaddr_un.sun_path` with its terminating zero (unix(7)), in bytes.
    package static let longestSocketPath = 107

    static func check(name: String) throws(SettingRefusal) {
        guard name.utf8.allSatisfy(PeerList.isNameByte), (1...64).contains(name.utf8.count) else {
            throw SettingRefusal("\"\(name)\" is not a name of 1 to 64 letters, digits, dots, dashes and underscores")
        }
    }

    /// Throws for an endpoint that no transport could bind or connect.
    static func check(endpoint: String) throws(SettingRefusal) {
        if endpoint.hasPrefix("ipc://") {
            let path = endpoint.dropFirst(6)
            guard path.hasPrefix("/"), path.utf8.count > 1 else {
                throw SettingRefusal("\"\(endpoint)\" needs an absolute path: ipc:///PATH")
            }
            guard path.utf8.count <= PeerAddress.longestSocketPath else {
                throw SettingRefusal(
                    "\"\(endpoint)\" has a path of \(path.utf8.count) bytes; "
                        + "a UNIX socket allows \(PeerAddress.longestSocketPath)")
            }
            return
        }
        guard endpoint.hasPrefix("tcp://") else {
            throw SettingRefusal("\"\(endpoint)\" is no endpoint; write ipc:///PATH or tcp://HOST:PORT")
        }
        guard let (host, port) = self.tcp(endpoint), !host.isEmpty, let port, (1...65535).contains(port) else {
            throw SettingRefusal("\"\(endpoint)\" needs a host and a port from 1 to 65535: tcp://HOST:PORT")
        }
    }
}

extension Setting where Value == String? {
    /// The endpoint that a daemon binds, `ipc://PATH` or `tcp://HOST:PORT`.
    package static func endpoint(_ name: String, _ meaning: String) -> Setting {
        Setting(
            name: name, fallback: nil, allowed: "an endpoint: ipc:///PATH or tcp://HOST:PORT", meaning: meaning,
            read: { (input) throws(SettingRefusal) in
                guard let text = SettingText.plain(input) else { return nil }
                try PeerAddress.check(endpoint: text)
                return text
            },
            render: { $0 ?? "" })
    }
}
