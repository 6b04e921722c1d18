/// Why a name that a person wrote is none, or could never match what clients send.
public struct UnusableName: Error, Sendable, Equatable {
    /// Completes `"NAME" …`, such as `has no scheme`.
    public let reason: String

    init(_ reason: String) { self.reason = reason }
}

/// A host and perhaps a port that a person wrote, as browsers spell them (WHATWG URL, section 3.5): in lower case, IPv6
/// addresses in brackets and as short as they can be.
struct WrittenAuthority {
    let host: String
    /// 1 to 65535; nil when none is given.
    let port: Int?

    init(_ text: Substring) throws(UnusableName) {
        guard text.hasPrefix("[") || text.utf8.count(where: { $0 == UInt8(ascii: ":") }) <= 1 else {
            throw UnusableName("has several colons; an IPv6 address stands in brackets")
        }
        // The colons of an IPv6 address are inside brackets.
        let afterHost = text.lastIndex(of: "]") ?? text.startIndex
        guard let colon = text[afterHost...].firstIndex(of: ":") else {
            self.host = try Self.host(text)
            self.port = nil
            return
        }
        self.host = try Self.host(text[..<colon])
        let digits = text[colon...].dropFirst()
        guard (1...5).contains(digits.utf8.count), digits.utf8.allSatisfy(\.isDigit), let port = Int(digits),
            (1...65_535).contains(port)
        else { throw UnusableName("has a port that is not 1 to 65535") }
        self.port = port
    }

    private static func host(_ text: Substring) throws(UnusableName) -> String {
        guard !text.isEmpty else { throw UnusableName("has no host") }
        if text.hasPrefix("[") {
            guard text.hasSuffix("]"), let address = IPAddress(text.dropFirst().dropLast()), address.bytes.count == 16
            else { throw UnusableName("has no IPv6 address in its brackets") }
            return "[\(address.text)]"
        }
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else {
            throw UnusableName("is not ASCII; browsers send the form that begins with xn--")
        }
        guard !text.contains("*") else { throw UnusableName("has a wildcard; name each host") }
        let host = text.lowercased()
        guard host.utf8.allSatisfy(Self.isNameByte), host.utf8.count <= 253,
            !host.split(separator: ".", omittingEmptySubsequences: false).dropLast().contains("")
        else { throw UnusableName("has a host that no server can have") }
        // A name whose last label is a number is an IPv4 address for browsers.
        if host.split(separator: ".").last?.utf8.allSatisfy(\.isDigit) == true, IPAddress(host) == nil {
            throw UnusableName("has a host that is neither a name nor an IPv4 address of four numbers")
        }
        return host
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."): true
        default: byte.isDigit
        }
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { self &- UInt8(ascii: "0") < 10 }
}
