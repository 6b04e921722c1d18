package import SocketIO

/// Client-side frames: always masked (RFC 6455 section 5.3).
package enum ClientFrame {
    /// Appends one whole frame.
    /// - Parameters:
    ///   - mask: the key, as its four bytes lie in memory on a little-endian machine.
    package static func append(
        _ opcode: WebSocketOpcode, _ payload: UnsafeRawBufferPointer, mask: UInt32, to output: inout [UInt8]
    ) {
        output.append(0x80 | opcode.rawValue)
        switch payload.count {
        case ..<126:
            output.append(0x80 | UInt8(truncatingIfNeeded: payload.count))
        case ...0xFFFF:
            output.append(0x80 | 126)
            Self.append(UInt16(truncatingIfNeeded: payload.count).bigEndian, to: &output)
        default:
            output.append(0x80 | 127)
            Self.append(UInt64(payload.count).bigEndian, to: &output)
        }
        Self.append(mask.littleEndian, to: &output)
        let begin = output.count
        output += payload
        output.withUnsafeMutableBytes { bytes in
            WebSocketFrame.unmask(UnsafeMutableRawBufferPointer(rebasing: bytes[begin...]), mask: mask, phase: 0)
        }
    }

    private static func append(_ value: some FixedWidthInteger, to output: inout [UInt8]) {
        withUnsafeBytes(of: value) { output += $0 }
    }
}

/// Mask keys and jitter: fast, seeded, not secret. (Masking protects proxies from scripts in a browser; there are none
/// here.)
package struct MaskGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) {
        self.state = seed | 1
    }

    /// xorshift64*.
    package mutating func next() -> UInt64 {
        self.state ^= self.state >> 12
        self.state ^= self.state << 25
        self.state ^= self.state >> 27
        return self.state &* 0x2545_F491_4F6C_DD1D
    }
}
