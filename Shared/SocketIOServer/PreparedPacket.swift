internal import NIOCore
public import SocketIO

/// Text packets encoded once, for any number of recipients.
///
/// ```
/// | frame header | 4 2 […] | frame header | 4 2 […] | …        one buffer, shared by all writes
///                 ^------^ what polling clients get
/// ```
public struct PreparedPacket: Sendable {
    let frames: ByteBuffer
    /// The ranges of the Engine.IO packets in `frames`, for polling.
    let packets: [Range<Int>]

    /// An event; `json` is the array `["name", …]`, used unchanged.
    public init(event json: some Collection<UInt8>, namespace: Namespace = .root) {
        let prefix = namespace.wirePrefix
        let length = 2 + prefix.count + json.count
        var frames = ByteBufferAllocator().buffer(capacity: WebSocketFrame.headerLength(length) + length)
        frames.writeFrameHeader(.text, length)
        let start = frames.writerIndex
        frames.writeInteger(EnginePacketType.message.rawValue)
        frames.writeInteger(SocketPacketType.event.rawValue)
        frames.writeBytes(prefix)
        frames.writeBytes(json)
        self.frames = frames
        self.packets = [start..<frames.writerIndex]
    }

    private init(frames: ByteBuffer, packets: [Range<Int>]) {
        self.frames = frames
        self.packets = packets
    }

    /// One buffer with several packets, so that a recipient gets them in one write.
    public static func concatenating(_ parts: some Collection<PreparedPacket>) -> PreparedPacket {
        var frames = ByteBufferAllocator().buffer(capacity: parts.reduce(0) { $0 + $1.byteCount })
        var packets: [Range<Int>] = []
        for part in parts {
            let shift = frames.writerIndex - part.frames.readerIndex
            packets.append(contentsOf: part.packets.map { ($0.lowerBound + shift)..<($0.upperBound + shift) })
            frames.writeImmutableBuffer(part.frames)
        }
        return PreparedPacket(frames: frames, packets: packets)
    }

    public var byteCount: Int { self.frames.readableBytes }

    public var packetCount: Int { self.packets.count }

    /// About what is kept while all of them wait for polls, bytes.
    var heldBytes: Int { self.byteCount + self.packetCount * PollPacket.overhead }
}

extension ByteBuffer {
    /// Writes the header of one unfragmented server frame.
    mutating func writeFrameHeader(_ opcode: WebSocketOpcode, _ payloadLength: Int) {
        // Nearly all frames are small: two bytes, or four.
        if payloadLength < 126 {
            self.writeInteger(0x8000 | UInt16(opcode.rawValue) << 8 | UInt16(truncatingIfNeeded: payloadLength))
        } else {
            _ = WebSocketFrame.withHeader(opcode, payloadLength: payloadLength) { self.writeBytes($0) }
        }
    }

    mutating func writeDecimal(_ number: UInt64) {
        if number < 10 {
            self.writeInteger(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number))
        } else {
            self.writeString(String(number))
        }
    }
}

func decimalLength(_ number: UInt64) -> Int {
    var length = 1
    var rest = number
    while rest >= 10 {
        rest /= 10
        length += 1
    }
    return length
}
