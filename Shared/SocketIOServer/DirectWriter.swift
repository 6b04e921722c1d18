internal import Glibc
internal import NIOCore

/// Decides when a connection's bytes may be written straight to its socket instead of through its channel, and writes
/// them.
///
/// A channel's write is an entry in a queue, a promise, a flush and a check of the water marks. For bytes that the
/// kernel accepts immediately, which is nearly all of them, this costs a third as much as the kernel's own part
/// (`Services/PERFORMANCE.md`, "A preview": 7 to 10 % of the gateway's event loop). Its invariants:
///
/// 1. **Order.** Nothing is written here while the channel has bytes: not between a write to the channel and its flush,
///    and not after a flush until the channel reports an empty queue.
/// 2. **Nothing is lost.** Bytes that the kernel does not accept (a full buffer, or an error of any kind) are returned to
///    the caller for the channel, which waits for the socket, detects errors and closes. No error is handled here.
/// 3. **Only our own descriptor is written to.** The kernel reuses the number of a closed descriptor for the next
///    connection, so ``close()`` is called first once the channel is closed or its output is shut down.
/// 4. **Back-pressure.** Bytes accepted by the kernel are not counted; all others are in the channel and count towards
///    its water marks.
/// 5. **Plain text.** The socket must be the end of the pipeline: a handler in between would be bypassed. So
///    ``open(descriptor:)`` is not called for a connection with TLS, all of whose bytes go to the channel.
struct DirectWriter {
    private enum ChannelContent {
        case nothing
        /// Bytes that it was not asked to flush yet.
        case unflushed
        /// Perhaps bytes that the kernel has not accepted yet.
        case flushed
    }

    /// −1 when there is no socket: not yet, no longer, or the channel is of another kind.
    private var descriptor: Int32 = -1
    private var channelContent = ChannelContent.nothing
    private static let flags = Int32(MSG_DONTWAIT | MSG_NOSIGNAL)

    var needsFlush: Bool { self.channelContent == .unflushed }

    /// The channel is active; −1 for one without a socket.
    mutating func open(descriptor: Int32) { self.descriptor = descriptor }

    /// Stops direct writes: everything goes to the channel.
    mutating func close() { self.descriptor = -1 }

    mutating func wroteToChannel() { self.channelContent = .unflushed }

    mutating func flushedChannel() { self.channelContent = .flushed }

    /// Whether bytes may bypass the channel.
    /// - Parameter backlog: the bytes in the channel's queue; only called when there may be any.
    mutating func channelIsEmpty(_ backlog: () -> Int) -> Bool {
        if self.channelContent == .flushed, backlog() == 0 { self.channelContent = .nothing }
        return self.channelContent == .nothing
    }

    /// Writes to the socket without blocking.
    /// - Returns: the number of bytes that the kernel accepted; the remainder must be written to the channel next.
    ///   `nil` when the channel has earlier bytes.
    mutating func write(_ buffer: ByteBuffer, _ backlog: () -> Int) -> Int? {
        guard self.channelIsEmpty(backlog) else { return nil }
        guard self.descriptor >= 0 else { return 0 }
        let count = buffer.withUnsafeReadableBytes { bytes in
            send(self.descriptor, bytes.baseAddress, bytes.count, Self.flags)
        }
        return max(0, count)
    }
}
