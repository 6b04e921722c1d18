/// The opcodes of RFC 6455 section 5.2.
public enum WebSocketOpcode: UInt8, Sendable {
    case continuation = 0x0
    case text = 0x1
    case binary = 0x2
    case close = 0x8
    case ping = 0x9
    case pong = 0xA

    /// Control frames may be interleaved with the fragments of a message and have at most 125 bytes.
    public var isControl: Bool { self.rawValue & 0x8 != 0 }
}

/// Server-side frame encoding (RFC 6455 section 5.2; a server never masks).
///
/// ```
///  byte 0: FIN(1) RSV(3) opcode(4)   byte 1: MASK(1)=0 length(7)   then 0, 2 or 8 bytes of length, big endian
/// ```
public enum WebSocketFrame {
    /// The size in bytes of the header of an unmasked frame with a payload of `payloadLength` bytes.
    public static func headerLength(_ payloadLength: Int) -> Int {
        payloadLength < 126 ? 2 : (payloadLength <= 0xFFFF ? 4 : 10)
    }

    /// Calls `body` with the header bytes of one whole (unfragmented) server frame.
    public static func withHeader<Result>(
        _ opcode: WebSocketOpcode, payloadLength: Int, _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        withUnsafeTemporaryAllocation(byteCount: 10, alignment: 8) { header in
            header[0] = 0x80 | opcode.rawValue
            let length = UInt64(clamping: payloadLength)
            switch length {
            case ..<126:
                header[1] = UInt8(truncatingIfNeeded: length)
            case ...0xFFFF:
                header[1] = 126
                header.storeBytes(of: UInt16(truncatingIfNeeded: length).bigEndian, toByteOffset: 2, as: UInt16.self)
            default:
                header[1] = 127
                header.storeBytes(of: length.bigEndian, toByteOffset: 2, as: UInt64.self)
            }
            let count = Self.headerLength(payloadLength)
            return body(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(header)[..<count]))
        }
    }

    /// The payload of a close frame: code, then a reason truncated to the size of a control frame.
    public static func closePayload(code: UInt16, reason: StaticString = "") -> [UInt8] {
        var payload: [UInt8] = [UInt8(truncatingIfNeeded: code >> 8), UInt8(truncatingIfNeeded: code)]
        reason.withUTF8Buffer { payload.append(contentsOf: $0.prefix(123)) }
        return payload
    }

    /// Whether a peer may use `code` in a close frame (RFC 6455 section 7.4 and the IANA registry).
    public static func isValidCloseCode(_ code: UInt16) -> Bool {
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }

    /// Removes (or applies) the mask over `bytes`, eight at a time.
    ///
    /// `mask` contains the four key bytes in wire order, loaded little-endian; `phase` is the number of preceding
    /// payload bytes of the frame.
    public static func unmask(_ bytes: UnsafeMutableRawBufferPointer, mask: UInt32, phase: Int) {
        let shift = UInt32(truncatingIfNeeded: (phase & 3) &* 8)
        let rotated = shift == 0 ? mask : (mask >> shift) | (mask << (32 - shift))
        let wide = UInt64(rotated) | UInt64(rotated) << 32
        guard let base = bytes.baseAddress else { return }
        let count = bytes.count
        var index = 0
        while index + 8 <= count {
            let word = (base + index).loadUnaligned(as: UInt64.self).littleEndian ^ wide
            (base + index).storeBytes(of: word.littleEndian, as: UInt64.self)
            index += 8
        }
        var tail = wide
        while index < count {
            bytes[index] ^= UInt8(truncatingIfNeeded: tail)
            tail >>= 8
            index += 1
        }
    }
}
