import Glibc

/// The servers that the clients of a load connect to, and how they are spoken to.
struct Target: Sendable {
    /// At least one; clients are spread over them.
    var addresses: [ServerAddress]
    /// For servers that require one; must allow every room (`"*"`).
    var token: String?
    /// A plain Socket.IO server that relays events of the same names: no elements are created, any answer counts.
    var isPlain = false
    /// The clients ask for previews in batches.
    var takesBatches = false
    /// Part of the rooms' names, so that runs do not share rooms.
    var run = ""
}

/// A server's address: `http://HOST[:PORT][/PATH]`.
struct ServerAddress: Sendable {
    /// The Engine.IO path, with a slash at both ends.
    let path: String
    private let host: String
    private let port: Int
    private let sockets: [UInt8]

    /// Resolves a URL; uses the first address of its host.
    /// - Throws: a ``BenchFailure`` for one that this program cannot connect to, such as one with TLS.
    init(_ url: String) throws(BenchFailure) {
        let scheme = ["http://", "ws://"].first { url.hasPrefix($0) }
        let rest = url.dropFirst(scheme?.count ?? 0)
        let authority = rest.prefix { $0 != "/" }
        // The colon of a port comes behind the brackets of an IPv6 address.
        let colon = authority.lastIndex(of: ":").flatMap { authority[$0...].contains("]") ? nil : $0 }
        self.host = String(authority[..<(colon ?? authority.endIndex)].filter { $0 != "[" && $0 != "]" })
        self.port = colon.map { Int(authority[$0...].dropFirst()) ?? 0 } ?? 80
        let path = rest.dropFirst(authority.count)
        self.path = path.count < 2 ? "/socket.io/" : path.hasSuffix("/") ? String(path) : "\(path)/"
        guard scheme != nil, !self.host.isEmpty, (1...65535).contains(self.port),
            url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "?") })
        else { throw BenchFailure("\(url) is no http:// or ws:// address (TLS is not spoken)") }
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        let result = getaddrinfo(self.host, "\(self.port)", &hints, &found)
        guard result == 0, let found else {
            throw BenchFailure("\(self.host) is unknown: \(String(cString: gai_strerror(result)))")
        }
        self.sockets = Array(UnsafeRawBufferPointer(start: found.pointee.ai_addr, count: Int(found.pointee.ai_addrlen)))
        freeaddrinfo(found)
    }

    /// Calls `body` with the address in the kernel's form.
    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        self.sockets.withUnsafeBufferPointer { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) { body($0.baseAddress!, socklen_t(bytes.count)) }
        }
    }

    /// The request that asks for an Engine.IO WebSocket (RFC 6455 section 4.1).
    var upgradeRequest: String {
        """
        GET \(self.path)?EIO=4&transport=websocket HTTP/1.1\r
        Host: \(self.host.contains(":") ? "[\(self.host)]" : self.host):\(self.port)\r
        Upgrade: websocket\r
        Connection: Upgrade\r
        Sec-WebSocket-Key: dG91Y2hzeW5jLWJlbmNoLQ==\r
        Sec-WebSocket-Version: 13\r
        User-Agent: touchsync-bench\r
        \r

        """
    }
}
