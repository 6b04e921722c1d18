/// Reads the header that a proxy sends at the start of a connection: the PROXY protocol, version 2, section 2.2 of its
/// specification (haproxy.org, doc/proxy-protocol.txt).
///
/// The input may come in pieces of any size; at most ``maxLength`` bytes behind the fixed part are accepted.
public struct ProxyHeaderReader: Sendable {
    /// What a complete header says.
    public enum Outcome: Sendable, Equatable {
        case incomplete
        /// The connection is this client's.
        case client(IPAddress)
        /// The connection is the proxy's own, such as a health check, or of a family without IP addresses.
        case local
        /// This is no such header: close the connection.
        case malformed
    }

    private var bytes: [UInt8] = []
    private static let signature: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A]
    private static let fixedLength = 16
    /// Addresses of the largest family, and as many bytes of additional fields as proxies send in practice.
    private static let maxLength = 2048

    public init() {}

    /// Reads from `offset` on, and not beyond the header.
    public mutating func next(_ input: UnsafeRawBufferPointer, at offset: inout Int) -> Outcome {
        while offset < input.count {
            self.bytes.append(input[offset])
            offset += 1
            guard self.isPossible else { return .malformed }
            if self.bytes.count >= Self.fixedLength, self.bytes.count == Self.fixedLength + self.length {
                return self.outcome
            }
        }
        return .incomplete
    }

    private var length: Int { Int(self.bytes[14]) << 8 | Int(self.bytes[15]) }

    private var isPossible: Bool {
        let count = self.bytes.count
        if count <= Self.signature.count { return self.bytes[count - 1] == Self.signature[count - 1] }
        switch count {
        // Version 2, LOCAL or PROXY.
        case 13: return self.bytes[12] == 0x20 || self.bytes[12] == 0x21
        case Self.fixedLength: return self.length <= Self.maxLength
        default: return true
        }
    }

    private var outcome: Outcome {
        let isLocal = self.bytes[12] == 0x20
        let addresses = self.bytes[Self.fixedLength...]
        let size: Int
        switch self.bytes[13] >> 4 {
        case 1: size = 4
        case 2: size = 16
        default: return .local
        }
        if isLocal { return .local }
        // Source and destination, then their ports.
        guard addresses.count >= 2 * size + 4, let client = IPAddress(bytes: addresses.prefix(size)) else {
            return .malformed
        }
        return .client(client)
    }
}
