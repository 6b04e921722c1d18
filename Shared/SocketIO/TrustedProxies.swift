/// The proxies in front of a server, and whom they say they speak for.
public struct TrustedProxies: Sendable, Equatable {
    /// How a proxy says whose connection or request it passes on. Only one way counts: what a proxy does not write
    /// itself, strangers could.
    public enum Source: String, Sendable, CaseIterable {
        /// `X-Forwarded-For`.
        case xForwardedFor = "x-forwarded-for"
        /// `Forwarded` (RFC 7239).
        case forwarded
        /// A PROXY protocol header of version 2 at the start of each connection.
        case proxyProtocol = "proxy-protocol"
    }

    private let ranges: [AddressRange]
    public let source: Source

    public static let none = TrustedProxies([], source: .xForwardedFor)

    public init(_ ranges: [AddressRange], source: Source) {
        self.ranges = ranges
        self.source = source
    }

    public func contains(_ address: IPAddress) -> Bool { self.ranges.contains { $0.contains(address) } }

    /// The client of a request that came from a trusted proxy: the last address in the field of ``source`` that is not
    /// itself a trusted proxy's. What stands before it was written by strangers.
    /// - Returns: `nil` if there is none, or if something that is no address stands where it should.
    public func client(of head: HTTPRequestHead) -> IPAddress? {
        let entries: [Substring]
        switch self.source {
        case .xForwardedFor: entries = head.forwardedFor
        case .forwarded: entries = head.forwarded
        case .proxyProtocol: return nil
        }
        for entry in entries.reversed() {
            guard let address = Self.address(entry) else { return nil }
            if !self.contains(address) { return address }
        }
        return entries.first.flatMap(Self.address)
    }

    /// The address of an entry, which may have a port: `192.0.2.1`, `192.0.2.1:443`, `2001:db8::1`,
    /// `[2001:db8::1]:443`.
    private static func address(_ entry: Substring) -> IPAddress? {
        if entry.hasPrefix("[") {
            guard let end = entry.firstIndex(of: "]") else { return nil }
            return IPAddress(entry[entry.index(after: entry.startIndex)..<end])
        }
        if let address = IPAddress(entry) { return address }
        guard let colon = entry.lastIndex(of: ":"), entry[..<colon].contains(".") else { return nil }
        return IPAddress(entry[..<colon])
    }
}

extension HTTPRequestHead {
    /// How many addresses of a request are looked at: those nearest to this server.
    private static let maxForwarded = 16

    /// The entries of `X-Forwarded-For`, the nearest proxy's last.
    fileprivate var forwardedFor: [Substring] { self.entries(of: "x-forwarded-for") }

    /// The `for` parameters of `Forwarded`, the nearest proxy's last; an element without one is empty.
    fileprivate var forwarded: [Substring] {
        self.entries(of: "forwarded").map { element in
            for parameter in element.split(separator: ";") {
                let pair = Self.trim(parameter).split(separator: "=", maxSplits: 1)
                guard pair.count == 2, pair[0].lowercased() == "for" else { continue }
                return pair[1].hasPrefix("\"") ? pair[1].dropFirst().prefix { $0 != "\"" } : pair[1]
            }
            return ""
        }
    }

    private func entries(of name: StaticString) -> [Substring] {
        let values = self.headers(named: name)
        guard !values.isEmpty else { return [] }
        return values.joined(separator: ",").split(separator: ",", omittingEmptySubsequences: false)
            .suffix(Self.maxForwarded).map(Self.trim)
    }

    private static func trim(_ text: Substring) -> Substring {
        var text = text
        while text.first == " " || text.first == "\t" { text.removeFirst() }
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return text
    }
}

/// A range of IP addresses: `10.0.0.0/8`, `2001:db8::/32`, or a single address.
public struct AddressRange: Sendable, Hashable {
    private let base: IPAddress
    private let prefix: Int

    /// `nil` unless `text` is an address, with or without a prefix length.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let base = parts.first.flatMap({ IPAddress($0) }) else { return nil }
        let width = base.bytes.count * 8
        guard parts.count == 2 else {
            (self.base, self.prefix) = (base, width)
            return
        }
        guard parts[1].utf8.allSatisfy({ $0 &- 0x30 < 10 }), let prefix = Int(parts[1]), prefix <= width else {
            return nil
        }
        (self.base, self.prefix) = (base, prefix)
    }

    /// Whether an address is in this range; addresses of the other family never are.
    public func contains(_ address: IPAddress) -> Bool {
        guard address.bytes.count == self.base.bytes.count else { return false }
        for (index, pair) in zip(address.bytes, self.base.bytes).enumerated() {
            let bits = min(8, self.prefix - index * 8)
            guard bits > 0 else { return true }
            guard (pair.0 ^ pair.1) >> UInt8(8 - bits) == 0 else { return false }
        }
        return true
    }
}
