/// A server's address: `http://HOST[:PORT][/PATH]`.
package struct ServerAddress: Sendable, Equatable {
    package var host: String
    package var port: Int
    /// The Engine.IO path, with a slash at both ends.
    package var path: String

    /// Parses a URL; nil for one that this program cannot connect to (such as TLS).
    package init?(_ url: String) {
        guard let scheme = ["http://", "ws://"].first(where: { url.hasPrefix($0) }) else { return nil }
        let rest = url.dropFirst(scheme.count)
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        let authority = rest[..<slash]
        var path = String(rest[slash...])
        if path.isEmpty || path == "/" { path = "/socket.io/" }
        if !path.hasSuffix("/") { path += "/" }
        let isSound = path.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "?") }
        guard isSound, !authority.isEmpty else { return nil }
        self.path = path
        var host = authority
        self.port = 80
        if let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") {
            guard let port = Int(authority[authority.index(after: colon)...]), (1...65535).contains(port) else {
                return nil
            }
            self.port = port
            host = authority[..<colon]
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard !host.isEmpty, host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        self.host = String(host)
    }

    /// The request that asks for an Engine.IO WebSocket (RFC 6455 section 4.1).
    var upgradeRequest: String {
        let authority = self.host.contains(":") ? "[\(self.host)]:\(self.port)" : "\(self.host):\(self.port)"
        return """
            GET \(self.path)?EIO=4&transport=websocket HTTP/1.1\r
            Host: \(authority)\r
            Upgrade: websocket\r
            Connection: Upgrade\r
            Sec-WebSocket-Key: dG91Y2hzeW5jLWJlbmNoLQ==\r
            Sec-WebSocket-Version: 13\r
            User-Agent: touchsync-bench\r
            \r

            """
    }
}
