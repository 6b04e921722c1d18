internal import NIOCore
internal import SocketIO

enum SessionCarrier {
    case polling(PollingLink)
    case webSocket(WebSocketLink)
    /// The session has ended: nothing is sent.
    case none

    /// Closes the WebSocket that it is, or the one that was being probed.
    func close(_ ending: SessionEnding) {
        switch self {
        case .polling(let link): link.candidate?.close(code: 1000)
        case .webSocket(let link): link.close(code: ending.code, reason: ending.text)
        case .none: break
        }
    }
}

/// What a session sends: the transport that carries it, and the bound of what waits for its client.
///
/// A packet that must be sent is sent whatever waits already; when more than the bound waits then, the client reads too
/// slowly (``grew(limit:)``). For a packet that may be left out there is space only up to half of the bound.
struct SessionOutput {
    var carrier: SessionCarrier
    private var backlog = SendBacklog()

    init(_ carrier: SessionCarrier) {
        self.carrier = carrier
    }

    /// The polling side; `nil` on a WebSocket, and once the session has ended.
    var polling: PollingLink? { if case .polling(let link) = self.carrier { link } else { nil } }

    // MARK: What waits

    /// Bytes that the kernel has not accepted; or those kept for packets that no poll has fetched.
    var bufferedBytes: Int {
        switch self.carrier {
        case .webSocket(let link): link.output.bufferedBytes
        case .polling(let link): link.heldBytes
        case .none: 0
        }
    }

    /// Whether fewer bytes are queued than the high water mark.
    var isWritable: Bool {
        switch self.carrier {
        case .webSocket(let link): link.output.isWritable
        case .polling(let link): !link.isFull
        case .none: false
        }
    }

    /// Whether no more than half of the bound would wait with this packet, while the output is writable: the other half
    /// is for what must be sent.
    /// - Parameters:
    ///   - limit: the bound, bytes.
    ///   - highWater: what a writable channel holds at most, bytes.
    func hasSpace(for packet: PreparedPacket, limit: Int, highWater: Int) -> Bool {
        let bound = limit / 2
        switch self.carrier {
        case .webSocket(let link):
            // To ask the channel is dear, and most packets are small.
            if packet.byteCount + link.output.unflushedBytes + highWater <= bound { return true }
            return packet.byteCount <= self.backlog.space(within: bound, queued: link.output.bufferedBytes)
        case .polling(let link): return packet.heldBytes <= self.backlog.space(within: bound, queued: link.heldBytes)
        case .none: return false
        }
    }

    /// Exempts bytes that are about to be sent from the bound.
    mutating func exempt(_ bytes: Int) { self.backlog.exempt(bytes, queued: self.bufferedBytes) }

    /// A packet was sent.
    /// - Returns: true the first time that more than `limit` bytes wait, without those that are exempt.
    mutating func grew(limit: Int) -> Bool { self.backlog.grew(to: self.bufferedBytes, limit: limit) }

    // MARK: Sending

    /// Sends one text packet of exactly `length` bytes, written by `body`.
    func send(length: Int, _ body: (inout ByteBuffer) -> Void) {
        switch self.carrier {
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
        switch self.carrier {
        case .webSocket(let link): binary.withUnsafeBytes { link.send(.binary, $0) }
        case .polling(let link): link.append(.binary(binary))
        case .none: break
        }
    }

    /// Sends a prepared packet together with this turn's other sends.
    func send(_ packet: PreparedPacket) {
        switch self.carrier {
        case .webSocket(let link): link.output.writeWithTurn(packet.frames)
        case .polling(let link): for range in packet.packets { link.append(.prepared(packet, range)) }
        case .none: break
        }
    }
}

/// Holds what is queued for one client against a bound, without the bytes that are exempt from it.
struct SendBacklog {
    /// At least the queued bytes that are exempt; never more than are queued.
    private var exemptBytes = 0
    private var isExceeded = false

    /// Exempts bytes that are about to be queued.
    /// - Parameter queued: the bytes that are queued now.
    mutating func exempt(_ bytes: Int, queued: Int) {
        self.exemptBytes = min(self.exemptBytes, queued) + bytes
    }

    /// How many more bytes may be queued until `limit` of them count.
    /// - Parameter queued: the bytes that are queued now.
    func space(within limit: Int, queued: Int) -> Int { limit - (queued - min(self.exemptBytes, queued)) }

    /// Bytes were queued.
    /// - Returns: true the first time that more than `limit` of the `queued` bytes count.
    mutating func grew(to queued: Int, limit: Int) -> Bool {
        self.exemptBytes = min(self.exemptBytes, queued)
        guard !self.isExceeded, queued - self.exemptBytes > limit else { return false }
        self.isExceeded = true
        return true
    }
}
