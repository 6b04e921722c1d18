internal import NIOCore

protocol ChannelSink: AnyObject {
    func append(_ buffer: ByteBuffer)
    func flush()
    /// Bytes in the channel's queue, not accepted by the kernel.
    var heldBytes: Int { get }
}

extension ChannelHandlerContext: ChannelSink {
    func append(_ buffer: ByteBuffer) { self.write(NIOAny(buffer), promise: nil) }

    var heldBytes: Int { (try? self.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0 }
}

/// The output of one connection, in order.
///
/// ```
/// kernel <- channel <- gathered buffers <- shared outbox        oldest bytes on the left
/// ```
/// Sends only append on the right; a flush moves everything to the left as far as possible. The channel is bypassed
/// while it is empty (``DirectWriter``), and bytes are gathered only while it is. With TLS everything goes through it.
final class ConnectionOutput {
    private let loop: ServerLoop
    /// `nil` before the channel is active and after it is closed: nothing is sent then.
    private var sink: (any ChannelSink)?
    private var direct = DirectWriter()
    private var gathered = GatheredWrites()
    private var isQueued = false
    /// Whether the channel's queue is below the high water mark: its last notification, cached because every packet
    /// checks it.
    private(set) var isWritable = true
    /// Of the answer that the peer is reading.
    private var hold: AnswerHold?

    init(_ loop: ServerLoop) {
        self.loop = loop
    }

    // MARK: Channel

    /// The channel can be written to.
    func attach(_ sink: any ChannelSink) { self.sink = sink }

    /// The channel is active and nothing is between it and this socket (−1 if it has none).
    func open(descriptor: Int32) { self.direct.open(descriptor: descriptor) }

    func writabilityChanged(_ isWritable: Bool) {
        self.isWritable = isWritable
        if isWritable { self.hold = nil }
    }

    /// Nothing more is sent, but the channel's queue may still be written.
    func close() { self.direct.close() }

    /// The channel is closed: discards everything queued.
    func discard() {
        self.direct.close()
        self.gathered = GatheredWrites()
        self.hold = nil
        _ = self.loop.outbox.remove(for: self)
    }

    func detach() { self.sink = nil }

    // MARK: Sending

    /// Bytes that the kernel has not accepted.
    var bufferedBytes: Int { self.heldBytes + self.unflushedBytes }

    /// Those of them that the channel does not hold yet.
    var unflushedBytes: Int { self.gathered.byteCount + self.loop.outbox.byteCount(of: self) }

    private var heldBytes: Int { self.sink?.heldBytes ?? 0 }

    /// Sends a buffer, which may be shared: to the kernel immediately if nothing is queued, otherwise behind the queue.
    func write(_ buffer: ByteBuffer) {
        if !self.isQueued, self.writeDirectly(buffer) {
            if self.direct.needsFlush { self.enqueue() }
        } else {
            self.append(buffer)
        }
    }

    /// Sends a buffer together with everything else that is sent to the connection while a read is processed.
    func writeWithTurn(_ buffer: ByteBuffer) {
        if self.loop.flushes.isHeld { self.append(buffer) } else { self.write(buffer) }
    }

    func encode(_ body: (inout ByteBuffer) -> Void) {
        guard self.sink != nil else { return }
        if !self.loop.outbox.encode(for: self, body) {
            var buffer = ByteBufferAllocator().buffer(capacity: 512)
            body(&buffer)
            self.gather(buffer)
        }
        self.enqueue()
    }

    /// Moves everything queued to the kernel, or to the channel once the kernel accepts no more.
    func flush() {
        self.isQueued = false
        if let encoded = self.loop.outbox.remove(for: self) {
            if !self.gathered.isEmpty || !self.writeDirectly(encoded) { self.gather(encoded) }
        }
        if !self.gathered.isEmpty {
            let buffer = self.loop.outbox.join(&self.gathered)
            if !self.writeDirectly(buffer) { self.writeToChannel(buffer) }
        }
        guard self.direct.needsFlush else { return }
        self.direct.flushedChannel()
        self.sink?.flush()
    }

    /// Flushes before the end of the turn if much is queued, so that ``isWritable`` shows whether the peer reads it.
    func flushIfLarge() {
        if self.bufferedBytes > self.loop.configuration.writeHighWater { self.flush() }
    }

    /// Keeps an answer's hold while the peer has not read most of what was sent.
    func keep(_ hold: AnswerHold) {
        self.flushIfLarge()
        if !self.isWritable { self.hold = hold }
    }

    private func enqueue() {
        guard !self.isQueued else { return }
        self.isQueued = true
        self.loop.flushes.append(self)
    }

    private func append(_ buffer: ByteBuffer) {
        if let encoded = self.loop.outbox.remove(for: self) { self.gather(encoded) }
        self.gather(buffer)
        self.enqueue()
    }

    /// Appends a buffer to the queue: to the channel's, if that is not empty.
    private func gather(_ buffer: ByteBuffer) {
        if self.direct.channelIsEmpty({ self.heldBytes }), self.gathered.append(buffer) { return }
        if !self.gathered.isEmpty { self.writeToChannel(self.loop.outbox.join(&self.gathered)) }
        self.writeToChannel(buffer)
    }

    /// Writes to the kernel, and the remainder to the channel; false when the channel has earlier bytes.
    private func writeDirectly(_ buffer: ByteBuffer) -> Bool {
        guard let count = self.direct.write(buffer, { self.heldBytes }) else { return false }
        if count < buffer.readableBytes {
            var rest = buffer
            rest.moveReaderIndex(forwardBy: count)
            self.writeToChannel(rest)
        }
        return true
    }

    private func writeToChannel(_ buffer: ByteBuffer) {
        self.direct.wroteToChannel()
        self.sink?.append(buffer.trimmed)
    }
}

extension ByteBuffer {
    /// The same bytes, copied if most of its storage is something else. What waits in a channel's queue keeps its storage,
    /// and limits count bytes.
    var trimmed: ByteBuffer {
        guard self.storageCapacity > 2 * self.readableBytes + 256 else { return self }
        var copy = ByteBufferAllocator().buffer(capacity: self.readableBytes)
        copy.writeImmutableBuffer(self)
        return copy
    }
}

/// The buffers that a turn of the loop wrote to one connection, in order, to be passed to the kernel together: a write
/// costs far more than its bytes.
struct GatheredWrites {
    private static let bound = 1 << 16

    private var buffers: [ByteBuffer] = []
    private(set) var byteCount = 0

    var isEmpty: Bool { self.buffers.isEmpty }

    /// Appends a buffer, which may be shared; false when that would exceed the bound.
    mutating func append(_ buffer: ByteBuffer) -> Bool {
        guard self.byteCount + buffer.readableBytes <= Self.bound else { return false }
        self.byteCount += buffer.readableBytes
        self.buffers.append(buffer)
        return true
    }

    /// Removes all buffers and returns them as one; several are copied into `storage`.
    mutating func removeAll(joinedIn storage: inout ByteBuffer) -> ByteBuffer {
        defer { self = GatheredWrites() }
        if self.buffers.count == 1 { return self.buffers[0] }
        storage.clear(minimumCapacity: self.byteCount)
        for buffer in self.buffers { storage.writeImmutableBuffer(buffer) }
        return storage
    }
}
