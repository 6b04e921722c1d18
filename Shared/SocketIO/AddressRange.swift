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
