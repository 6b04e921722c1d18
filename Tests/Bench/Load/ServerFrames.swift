package import SocketIO

/// Splits a server's bytes into WebSocket messages (RFC 6455 section 5.2), in place while whole frames arrive.
///
/// It trusts its server more than a server may trust an app: it checks sizes, but neither reserved bits nor the order
/// of fragments.
package struct ServerFrames: Sendable {
    /// The peer does not speak WebSocket, or sends a message beyond ``maxMessage``.
    package struct Violation: Error, Equatable {}

    /// The largest message, bytes.
    package static let maxMessage = 64 << 20

    /// The beginning of an incomplete frame.
    private var rest: [UInt8] = []
    /// The fragments received so far of a fragmented message.
    private var fragments: [UInt8] = []

    package init() {}

    /// Feeds bytes from the socket; calls `body` with every complete message.
    package mutating func feed(
        _ bytes: UnsafeRawBufferPointer, _ body: (WebSocketOpcode, UnsafeRawBufferPointer) -> Void
    ) throws(Violation) {
        if self.rest.isEmpty {
            let used = try self.split(bytes, body)
            if used < bytes.count { self.rest.append(contentsOf: bytes[used...]) }
            return
        }
        self.rest.append(contentsOf: bytes)
        var collected: [UInt8] = []
        swap(&collected, &self.rest)
        let (used, failed) = collected.withUnsafeBytes { all in
            do throws(Violation) {
                return (try self.split(all, body), false)
            } catch {
                return (0, true)
            }
        }
        if failed { throw Violation() }
        collected.removeFirst(used)
        swap(&collected, &self.rest)
    }

    /// Calls `body` for every complete frame in `bytes`; returns the offset of the first incomplete one.
    private mutating func split(
        _ bytes: UnsafeRawBufferPointer, _ body: (WebSocketOpcode, UnsafeRawBufferPointer) -> Void
    ) throws(Violation) -> Int {
        var offset = 0
        while bytes.count - offset >= 2 {
            let first = bytes[offset]
            let second = bytes[offset + 1]
            guard second & 0x80 == 0 else { throw Violation() }
            var header = 2
            var length = Int(second)
            if second == 126 {
                guard bytes.count - offset >= 4 else { return offset }
                length = Int(UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: offset + 2, as: UInt16.self)))
                header = 4
            } else if second == 127 {
                guard bytes.count - offset >= 10 else { return offset }
                let wide = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset + 2, as: UInt64.self))
                guard wide <= UInt64(Self.maxMessage) else { throw Violation() }
                length = Int(wide)
                header = 10
            }
            guard bytes.count - offset - header >= length else { return offset }
            let begin = offset + header
            offset = begin + length
            try self.frame(first, UnsafeRawBufferPointer(rebasing: bytes[begin..<offset]), body)
        }
        return offset
    }

    private mutating func frame(
        _ first: UInt8, _ payload: UnsafeRawBufferPointer, _ body: (WebSocketOpcode, UnsafeRawBufferPointer) -> Void
    ) throws(Violation) {
        guard let opcode = WebSocketOpcode(rawValue: first & 0xF) else { throw Violation() }
        let isFinal = first & 0x80 != 0
        if isFinal, opcode != .continuation { return body(opcode, payload) }
        guard self.fragments.count + payload.count <= Self.maxMessage else { throw Violation() }
        self.fragments.append(contentsOf: payload)
        guard isFinal else { return }
        self.fragments.withUnsafeBytes { body(.text, $0) }
        self.fragments.removeAll()
    }
}
