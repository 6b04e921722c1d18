internal import DequeModule
internal import NIOCore
internal import SocketIO

/// The polling side of a session: the packets that wait and the requests that are open.
final class PollingLink {
    /// A packet that waits for a poll.
    enum Packet {
        /// A whole text packet, digit first.
        case text(ByteBuffer)
        /// One packet of a prepared one.
        case prepared(PreparedPacket, Range<Int>)
        case binary([UInt8])

        var byteCount: Int {
            switch self {
            case .text(let buffer): buffer.readableBytes
            case .prepared(_, let range): range.count
            case .binary(let bytes): bytes.count
            }
        }
    }

    private(set) var queue: Deque<Packet> = []
    private(set) var byteCount = 0
    /// The connection of the held GET.
    var poll: PeerHandler?

    func append(_ packet: Packet) {
        self.byteCount += packet.byteCount
        self.queue.append(packet)
    }

    func popFirst() -> Packet? {
        guard let packet = self.queue.popFirst() else { return nil }
        self.byteCount -= packet.byteCount
        return packet
    }

    /// The next body: packets joined by `U+001E`, binary as `b` and base64.
    func takeBody(maxPackets: Int) -> [UInt8] {
        var body: [UInt8] = []
        var count = 0
        while count < maxPackets, let packet = self.popFirst() {
            if count > 0 { body.append(EnginePayloadReader.separator) }
            count += 1
            switch packet {
            case .text(let buffer): body.append(contentsOf: buffer.readableBytesView)
            case .prepared(let prepared, let range):
                body.append(contentsOf: prepared.frames.viewBytes(at: range.lowerBound, length: range.count) ?? .init())
            case .binary(let bytes):
                body.append(UInt8(ascii: "b"))
                bytes.withUnsafeBytes { Base64.encode($0, into: &body) }
            }
            // One body need not carry much more than one large packet.
            if body.count > 1 << 20 { break }
        }
        return body
    }
}
