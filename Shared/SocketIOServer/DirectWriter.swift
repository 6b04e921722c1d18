internal import Glibc
internal import NIOCore

/// Decides when a connection's bytes may be written straight to its socket instead of through its channel, and does it.
///
/// A channel's write is an entry in a queue, a promise, a flush and a check of the water marks; for bytes that the
/// kernel accepts immediately, and that is nearly all of them, this costs a third as much as the kernel's own part
/// (`Services/PERFORMANCE.md`, "A preview": 7 to 10 % of the gateway's event loop). Its invariants:
///
/// 1. **Order.** Nothing is written here while the channel holds bytes: not between a write to the channel and its flush,
///    and not after a flush until the channel reports that none are left.
/// 2. **Nothing is lost.** What the kernel does not accept (a full buffer, or an error of any kind) is for the caller to
///    write to the channel, which waits for the socket, finds out about an error and closes. No error is handled here.
/// 3. **Nothing is written to a descriptor that is not ours.** The kernel gives the number of a closed descriptor to the
///    next connection, so ``close()`` precedes everything else once the channel is closed or its output is shut down.
/// 4. **Back-pressure.** Bytes accepted by the kernel count nowhere; all others are in the channel, whose water marks see
///    them.
/// 5. **Plain text.** The socket must be the end of the pipeline: a handler in between (TLS) would be bypassed.
struct DirectWriter {
    /// What the channel holds of the bytes that it was given.
    private enum ChannelContent {
        case nothing
        /// Bytes that it was not asked to flush yet.
        case unflushed
        /// Perhaps bytes that the kernel has not accepted yet.
        case flushed
    }

    /// −1 when there is no socket: not yet, not any more, or the channel is of another kind.
    private var descriptor: Int32 = -1
    private var channelContent = ChannelContent.nothing
    private static let flags = Int32(MSG_DONTWAIT | MSG_NOSIGNAL)

    /// Whether the channel was given bytes since it was last flushed.
    var needsFlush: Bool { self.channelContent == .unflushed }

    /// The channel is active; −1 for one without a socket.
    mutating func open(descriptor: Int32) { self.descriptor = descriptor }

    /// Writes to the socket no more: everything is left to the channel.
    mutating func close() { self.descriptor = -1 }

    /// The channel was given bytes.
    mutating func wroteToChannel() { self.channelContent = .unflushed }

    /// The channel was flushed.
    mutating func flushedChannel() { self.channelContent = .flushed }

    /// Whether bytes may be written past the channel.
    /// - Parameter backlog: bytes that the channel holds; asked for only when it may hold any.
    mutating func channelIsEmpty(_ backlog: () -> Int) -> Bool {
        if self.channelContent == .flushed, backlog() == 0 { self.channelContent = .nothing }
        return self.channelContent == .nothing
    }

    /// Writes to the socket without blocking.
    /// - Returns: how many bytes the kernel accepted, the rest of which belongs into the channel next; `nil` when the
    ///   channel holds bytes that come before these.
    mutating func write(_ buffer: ByteBuffer, _ backlog: () -> Int) -> Int? {
        guard self.channelIsEmpty(backlog) else { return nil }
        guard self.descriptor >= 0 else { return 0 }
        let count = buffer.withUnsafeReadableBytes { bytes in
            send(self.descriptor, bytes.baseAddress, bytes.count, Self.flags)
        }
        return max(0, count)
    }
}
