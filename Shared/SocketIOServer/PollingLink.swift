internal import DequeModule
internal import JSONBytes
internal import NIOCore
internal import SocketIO

enum PollPacket {
    /// A whole text packet, digit first.
    case text(ByteBuffer)
    case prepared(PreparedPacket, Range<Int>)
    case binary([UInt8])

    /// About what a packet occupies besides its bytes: the object and the storage of its buffer, what the allocator adds
    /// to both and rounds up, and its element of the queue. Most packets are much smaller than that.
    static let overhead = 192

    var heldBytes: Int {
        switch self {
        case .text(let buffer): Self.overhead + buffer.readableBytes
        case .prepared(_, let range): Self.overhead + range.count
        case .binary(let bytes): Self.overhead + bytes.count
        }
    }
}

/// The polling side of a session: the queued packets, the held poll, and the WebSocket that is being probed.
final class PollingLink {
    /// The maximum number of packets in one body; python-engineio drops more than 16.
    private let maxPackets: Int
    private let lowWater: Int
    private let highWater: Int
    private var queue: Deque<PollPacket> = []
    private(set) var heldBytes = 0
    private(set) var poll: HTTPExchange?
    var candidate: WebSocketLink?
    /// True from the high water mark until the backlog is below the low one.
    private(set) var isFull = false
    /// Whether the next flush answers the held poll.
    private var isQueued = false

    init(_ configuration: SocketIOServer.Configuration) {
        self.maxPackets = configuration.maxPollPackets
        self.lowWater = configuration.writeLowWater
        self.highWater = configuration.writeHighWater
    }

    var isEmpty: Bool { self.queue.isEmpty }

    /// True when the queue exceeds one body together with the close packet: some clients drop a longer one.
    var exceedsLastBody: Bool { self.queue.count >= self.maxPackets }

    func append(_ packet: PollPacket) {
        self.heldBytes += packet.heldBytes
        self.queue.append(packet)
        if self.heldBytes >= self.highWater { self.isFull = true }
    }

    private func popFirst() -> PollPacket? {
        guard let packet = self.queue.popFirst() else { return nil }
        self.heldBytes -= packet.heldBytes
        return packet
    }

    func hold(_ poll: HTTPExchange) { self.poll = poll }

    func releasePoll() -> HTTPExchange? { exchange(&self.poll, with: nil) }

    /// The next flush is to answer the held poll.
    /// - Returns: whether that is new.
    func queueForFlush() -> Bool { !exchange(&self.isQueued, with: true) }

    /// The held poll, if there is something to answer it with.
    func releasePollToFlush() -> HTTPExchange? {
        self.isQueued = false
        return self.isEmpty ? nil : self.releasePoll()
    }

    /// Answers a poll with the next packets; true when that made a full link writable again.
    func sendNext(_ poll: HTTPExchange) -> Bool {
        poll.answerText(self.nextBody())
        guard self.isFull, self.heldBytes <= self.lowWater else { return false }
        self.isFull = false
        return true
    }

    /// Answers the last poll with the remaining packets and the close packet. When the server shuts down, an error is
    /// sent in its place, after which every client reconnects: python-engineio treats a close packet as final.
    func sendLast(_ poll: HTTPExchange, isGoingAway: Bool) {
        if isGoingAway {
            if self.isEmpty { return poll.answer(.unknownSession) }
        } else {
            self.append(.text(ByteBuffer(bytes: [EnginePacketType.close.rawValue])))
        }
        poll.answerText(self.nextBody())
    }

    /// Removes packets for one body: joined by `U+001E`, binary as `b` and base64.
    private func nextBody() -> [UInt8] {
        var body: [UInt8] = []
        var count = 0
        while count < self.maxPackets, let packet = self.popFirst() {
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
            // One body need not be much larger than one large packet.
            if body.count > 1 << 20 { break }
        }
        return body
    }

    func sendAll(by link: WebSocketLink) {
        while let packet = self.popFirst() {
            switch packet {
            case .text(let buffer): buffer.withUnsafeReadableBytes { link.send(.text, $0) }
            case .prepared(let prepared, let range):
                prepared.frames.withUnsafeReadableBytes { frames in
                    let start = range.lowerBound - prepared.frames.readerIndex
                    link.send(.text, UnsafeRawBufferPointer(rebasing: frames[start..<(start + range.count)]))
                }
            case .binary(let bytes): bytes.withUnsafeBytes { link.send(.binary, $0) }
            }
        }
    }
}
