internal import JSONBytes

/// An IP address, with its IPv4 form if it is an IPv4-mapped IPv6 address.
public struct IPAddress: Sendable, Hashable {
    /// 4 or 16 bytes in network order.
    public let bytes: [UInt8]

    /// `nil` unless there are 4 or 16 bytes.
    public init?(bytes: some Collection<UInt8>) {
        let bytes = Array(bytes)
        switch bytes.count {
        case 4: self.bytes = bytes
        case 16:
            let isMapped = bytes.starts(with: Self.mappedPrefix)
            self.bytes = isMapped ? Array(bytes.suffix(4)) : bytes
        default: return nil
        }
    }

    /// `::ffff:0:0/96` (RFC 4291 section 2.5.5.2).
    private static let mappedPrefix = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]

    /// An address as text, without a port and brackets; `nil` for anything else.
    public init?(_ text: some StringProtocol) {
        guard text.utf8.count <= 45 else { return nil }
        guard let bytes = text.contains(":") ? Self.parseV6(text) : Self.parseV4(text) else { return nil }
        self.init(bytes: bytes)
    }

    /// Four decimal numbers without leading zeros: with them some systems read octal numbers.
    private static func parseV4(_ text: some StringProtocol) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var bytes: [UInt8] = []
        for part in parts {
            guard (1...3).contains(part.utf8.count), part.utf8.allSatisfy({ $0 &- 0x30 < 10 }),
                part == "0" || !part.hasPrefix("0"), let byte = UInt8(part)
            else { return nil }
            bytes.append(byte)
        }
        return bytes
    }

    /// RFC 4291 section 2.2, without zones.
    private static func parseV6(_ text: some StringProtocol) -> [UInt8]? {
        let halves = Self.halves(text)
        guard let head = Self.groups(halves.head, endInV4: halves.tail == nil),
            let tail = Self.groups(halves.tail ?? "", endInV4: true)
        else { return nil }
        let missing = 16 - head.count - tail.count
        guard halves.tail == nil ? missing == 0 : missing >= 2 else { return nil }
        return head + [UInt8](repeating: 0, count: missing) + tail
    }

    /// What is before and behind the first `::`.
    private static func halves(_ text: some StringProtocol) -> (head: String, tail: String?) {
        guard let gap = text.firstRange(of: "::") else { return (String(text), nil) }
        return (String(text[..<gap.lowerBound]), String(text[gap.upperBound...]))
    }

    /// The bytes of groups between colons.
    /// - Parameter endInV4: whether the last one may be an IPv4 address.
    private static func groups(_ text: String, endInV4: Bool) -> [UInt8]? {
        guard !text.isEmpty else { return [] }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count <= 8 else { return nil }
        var bytes: [UInt8] = []
        for (index, part) in parts.enumerated() {
            if endInV4, index == parts.count - 1, part.contains(".") {
                guard let last = Self.parseV4(part) else { return nil }
                return bytes + last
            }
            guard (1...4).contains(part.utf8.count), part.utf8.allSatisfy({ hexDigit($0) < 16 }),
                let group = UInt16(part, radix: 16)
            else { return nil }
            bytes += [UInt8(group >> 8), UInt8(truncatingIfNeeded: group)]
        }
        return bytes
    }

    /// Whether this is 127.0.0.0/8 or `::1`.
    public var isLoopback: Bool {
        self.bytes.count == 4 ? self.bytes[0] == 127 : self.bytes == [UInt8](repeating: 0, count: 15) + [1]
    }

    /// The address as RFC 5952 writes it.
    public var text: String {
        guard self.bytes.count == 16 else { return self.bytes.map(String.init).joined(separator: ".") }
        let groups = (0..<8).map { Int(self.bytes[2 * $0]) << 8 | Int(self.bytes[2 * $0 + 1]) }
        func write(_ groups: some Sequence<Int>) -> String {
            groups.map { String($0, radix: 16) }.joined(separator: ":")
        }
        // The first of the longest runs of zeros, of at least two.
        let runs = groups.indices.map { start in start..<start + groups[start...].prefix { $0 == 0 }.count }
        guard
            let gap = runs.max(by: { $0.count < $1.count || ($0.count == $1.count && $0.lowerBound > $1.lowerBound) }),
            gap.count >= 2
        else { return write(groups) }
        return "\(write(groups[..<gap.lowerBound]))::\(write(groups[gap.upperBound...]))"
    }
}
