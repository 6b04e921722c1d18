internal import Glibc
internal import NIOCore

/// Writes to a connection's socket past its channel, which may be done as long as nothing waits in the channel.
///
/// A channel's write is a place in a queue, a promise, a flush and a look at the water marks; for what the kernel takes
/// at once, and that is nearly everything, it costs a third as much as the kernel's own part.
struct DirectWriter {
    /// −1 when there is no socket: not yet, not any more, or the channel is of another kind.
    private var descriptor: Int32 = -1
    private static let flags = Int32(MSG_DONTWAIT | MSG_NOSIGNAL)

    /// Takes the socket of an active channel.
    mutating func open(_ channel: any Channel) {
        let operations = channel.pipeline.syncOperations
        let descriptor = try? operations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { $0 }
        self.descriptor = descriptor ?? -1
    }

    /// Writes nothing more. To be called before the loop does anything else once the channel is closed: the kernel
    /// gives the number of a closed descriptor to the next connection.
    mutating func close() { self.descriptor = -1 }

    /// Offers bytes to the kernel.
    /// - Returns: how many it took. Fewer than all of them is no error here: the channel, given the rest, finds out why.
    func write(_ buffer: ByteBuffer) -> Int {
        guard self.descriptor >= 0 else { return 0 }
        let count = buffer.withUnsafeReadableBytes { bytes in
            send(self.descriptor, bytes.baseAddress, bytes.count, Self.flags)
        }
        return max(0, count)
    }
}
