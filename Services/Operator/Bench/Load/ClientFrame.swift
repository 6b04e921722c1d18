package import NIOCore
package import SocketIO

/// Client-side frames: always masked (RFC 6455 section 5.3).
package enum ClientFrame {
    /// Appends one whole frame.
    /// - Parameters:
    ///   - mask: the key, as its four bytes lie in memory on a little-endian machine.
    package static func append(
        _ opcode: WebSocketOpcode, _ payload: UnsafeRawBufferPointer, mask: UInt32, to buffer: inout ByteBuffer
    ) {
        buffer.reserveCapacity(minimumWritableBytes: payload.count + 14)
        buffer.writeInteger(0x80 | opcode.rawValue)
        switch payload.count {
        case ..<126:
            buffer.writeInteger(0x80 | UInt8(truncatingIfNeeded: payload.count))
        case ...0xFFFF:
            buffer.writeInteger(0x80 | 126 as UInt8)
            buffer.writeInteger(UInt16(truncatingIfNeeded: payload.count))
        default:
            buffer.writeInteger(0x80 | 127 as UInt8)
            buffer.writeInteger(UInt64(payload.count))
        }
        buffer.writeInteger(mask, endianness: .little)
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: payload.count) { space in
            let target = UnsafeMutableRawBufferPointer(rebasing: space[..<payload.count])
            target.copyMemory(from: payload)
            WebSocketFrame.unmask(target, mask: mask, phase: 0)
            return payload.count
        }
    }
}

/// Mask keys and jitter: fast, seeded, not secret. (A key guards proxies against a browser's scripts; there are none.)
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
