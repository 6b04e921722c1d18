public import NIOCore

/// The unit of limits by address: an IPv4 address, or the /64 of an IPv6 one.
public struct AddressKey: Hashable, Sendable {
    private let bits: UInt64
    private let isIPv6: Bool

    /// `nil` for loopback and for anything but an IP address: those are not limited.
    public init?(_ address: SocketAddress?) {
        let bytes: [UInt8]
        switch address {
        // The address follows family and port (IPv4), or those and the flow label (IPv6).
        case .v4(let address): bytes = Array(withUnsafeBytes(of: address.address) { Array($0) }[4..<8])
        case .v6(let address): bytes = Array(withUnsafeBytes(of: address.address) { Array($0) }[8..<24])
        default: return nil
        }
        let mapped = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
        let isIPv4 = bytes.count == 4 || bytes.starts(with: mapped)
        let key = isIPv4 ? bytes.suffix(4) : bytes.prefix(8)
        if isIPv4 {
            guard key.first != 127 else { return nil }
        } else {
            guard bytes != [UInt8](repeating: 0, count: 15) + [1] else { return nil }
        }
        self.bits = key.reduce(0) { $0 << 8 | UInt64($1) }
        self.isIPv6 = !isIPv4
    }
}
