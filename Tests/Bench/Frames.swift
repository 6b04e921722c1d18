import SocketIO

/// Splits a server's bytes into WebSocket messages (RFC 6455 section 5.2), in place while whole frames arrive.
///
/// It trusts its server more than a server may trust an app: it checks sizes, but no reserved bits. A message in
/// fragments is refused, as servers of small messages send none.
struct ServerFrames: Sendable {
    /// The largest message, bytes.
    private static let maxMessage: UInt64 = 64 << 20

    /// The beginning of an incomplete frame.
    private var rest: [UInt8] = []

    /// Feeds bytes from the socket; calls `body` with every complete message.
    /// - Returns: false when the peer does not speak WebSocket.
    mutating func feed(
        _ bytes: UnsafeRawBufferPointer, _ body: (WebSocketOpcode, UnsafeRawBufferPointer) -> Void
    ) -> Bool {
        if self.rest.isEmpty {
            guard let used = Self.split(bytes, body) else { return false }
            if used < bytes.count { self.rest += bytes[used...] }
            return true
        }
        self.rest += bytes
        guard let used = self.rest.withUnsafeBytes({ Self.split($0, body) }) else { return false }
        self.rest.removeFirst(used)
        return true
    }

    /// Calls `body` for every complete frame; returns the offset of the first incomplete one.
    private static func split(
        _ bytes: UnsafeRawBufferPointer, _ body: (WebSocketOpcode, UnsafeRawBufferPointer) -> Void
    ) -> Int? {
        var offset = 0
        while bytes.count - offset >= 2 {
            guard bytes[offset] & 0x80 != 0, let opcode = WebSocketOpcode(rawValue: bytes[offset] & 0xF),
                opcode != .continuation, bytes[offset + 1] & 0x80 == 0
            else { return nil }
            var begin = offset + 2
            var length = UInt64(bytes[offset + 1])
            if length >= 126 {
                let wide = length == 126 ? 2 : 8
                guard bytes.count - begin >= wide else { return offset }
                length = bytes[begin..<begin + wide].reduce(0) { $0 << 8 | UInt64($1) }
                guard length <= self.maxMessage else { return nil }
                begin += wide
            }
            guard bytes.count - begin >= Int(length) else { return offset }
            offset = begin + Int(length)
            body(opcode, UnsafeRawBufferPointer(rebasing: bytes[begin..<offset]))
        }
        return offset
    }
}

/// Client-side frames: always masked (RFC 6455 section 5.3), here with one key. Random ones protect proxies from scripts in
/// a browser; there are none here.
enum ClientFrame {
    private static let mask: UInt32 = 0x9E37_79B9

    /// Appends one whole frame.
    static func append(_ opcode: WebSocketOpcode, _ payload: UnsafeRawBufferPointer, to output: inout [UInt8]) {
        let header = output.count
        WebSocketFrame.withHeader(opcode, payloadLength: payload.count) { output += $0 }
        output[header + 1] |= 0x80
        withUnsafeBytes(of: self.mask.littleEndian) { output += $0 }
        let begin = output.count
        output += payload
        output.withUnsafeMutableBytes { bytes in
            WebSocketFrame.unmask(UnsafeMutableRawBufferPointer(rebasing: bytes[begin...]), mask: self.mask, phase: 0)
        }
    }
}
