internal import JSONBytes

/// Where a server is: scheme, host and port of its URL. What else the URL has is not used.
struct ServerOrigin: Equatable, Sendable {
    /// Such as `https://touch.example` or `http://127.0.0.1:8080`: lower case, without the scheme's own port.
    let origin: String
    /// What comes before the path of a WebSocket.
    let socketOrigin: String

    /// Nil for what is no `http`, `https`, `ws` or `wss` URL.
    init?(_ url: String) {
        let text = url.lowercased()
        guard let separator = text.firstRange(of: "://"), url.utf8.allSatisfy({ 0x21..<0x7F ~= $0 }) else { return nil }
        let isSecure: Bool
        switch text[..<separator.lowerBound] {
        case "http", "ws": isSecure = false
        case "https", "wss": isSecure = true
        default: return nil
        }
        let authority = text[separator.upperBound...].prefix { !"/?#".contains($0) }
        guard let host = Self.host(authority, isSecure: isSecure) else { return nil }
        self.origin = (isSecure ? "https://" : "http://") + host
        self.socketOrigin = (isSecure ? "wss://" : "ws://") + host
    }

    /// Host and port without a user, and without the port that the scheme has anyway.
    private static func host(_ authority: Substring, isSecure: Bool) -> String? {
        let place = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        var host = place
        var port: Substring?
        if let colon = place.lastIndex(of: ":"), !place[colon...].contains("]") {
            host = place[..<colon]
            port = place[place.index(after: colon)...]
        }
        guard !host.isEmpty, host.hasPrefix("[") == host.hasSuffix("]") else { return nil }
        guard host.hasPrefix("[") || !host.contains(":") else { return nil }
        guard let port, !port.isEmpty else { return String(host) }
        guard port.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }), let number = UInt16(port) else {
            return nil
        }
        return number == (isSecure ? 443 : 80) ? String(host) : "\(host):\(number)"
    }

    var socketURL: String { self.socketOrigin + "/socket.io/?EIO=4&transport=websocket" }

    func historyURL(room: String, after: Int64, limit: Int) -> String {
        "\(self.origin)/api/rooms/\(PercentCoding.encode(room))/history?after=\(after)&limit=\(limit)"
    }
}
