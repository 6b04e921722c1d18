internal import NIOCore
internal import SocketIO

/// The unit of the limits by address: an IPv4 address, or the /64 of an IPv6 one, which is a single customer's.
public struct AddressKey: Hashable, Sendable {
    private let bits: UInt64
    private let isIPv6: Bool

    init(_ address: IPAddress) {
        self.isIPv6 = address.bytes.count == 16
        self.bits = address.bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}

extension IPAddress {
    /// The IP address of a socket's peer; `nil` for Unix domain sockets.
    init?(_ address: SocketAddress?) {
        let bytes: [UInt8]
        switch address {
        // The address follows family and port (IPv4), or those and the flow label (IPv6).
        case .v4(let address): bytes = Array(withUnsafeBytes(of: address.address) { Array($0) }[4..<8])
        case .v6(let address): bytes = Array(withUnsafeBytes(of: address.address) { Array($0) }[8..<24])
        default: return nil
        }
        self.init(bytes: bytes)
    }
}
