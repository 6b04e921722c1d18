internal import NIOCore
internal import SocketIO

/// The transport that carries a session's packets.
enum SessionCarrier {
    case polling(PollingLink)
    case webSocket(WebSocketLink)
    /// The session has ended: nothing is sent.
    case none

    var polling: PollingLink? { if case .polling(let link) = self { link } else { nil } }

    /// Bytes that the kernel has not accepted; or those kept for packets that no poll has fetched.
    var bufferedBytes: Int {
        switch self {
        case .webSocket(let link): link.output.bufferedBytes
        case .polling(let link): link.heldBytes
        case .none: 0
        }
    }

    /// Whether fewer bytes are queued than the high water mark.
    var isWritable: Bool {
        switch self {
        case .webSocket(let link): link.output.isWritable
        case .polling(let link): !link.isFull
        case .none: false
        }
    }

    /// Sends one text packet of exactly `length` bytes, written by `body`.
    func send(length: Int, _ body: (inout ByteBuffer) -> Void) {
        switch self {
        case .webSocket(let link):
            link.output.encode { outbox in
                outbox.writeFrameHeader(.text, length)
                let start = outbox.writerIndex
                body(&outbox)
                assert(outbox.writerIndex - start == length, "the frame header announced another length")
            }
        case .polling(let link):
            var buffer = ByteBufferAllocator().buffer(capacity: length)
            body(&buffer)
            link.append(.text(buffer))
        case .none: break
        }
    }

    func send(binary: [UInt8]) {
        switch self {
        case .webSocket(let link): binary.withUnsafeBytes { link.send(.binary, $0) }
        case .polling(let link): link.append(.binary(binary))
        case .none: break
        }
    }

    /// Sends a prepared packet together with this turn's other sends.
    func send(_ packet: PreparedPacket) {
        switch self {
        case .webSocket(let link): link.output.writeWithTurn(packet.frames)
        case .polling(let link): for range in packet.packets { link.append(.prepared(packet, range)) }
        case .none: break
        }
    }
}
