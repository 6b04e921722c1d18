internal import NIOCore

/// A response whose body goes on until one side ends it, such as Server-Sent Events. The connection's end is the body's, so
/// clients of HTTP/1.0 can read it, too. On the server's loop only.
///
///     opened by ``HTTPApplication/handle(_:respond:)`` ──► the head is sent ──► send … ──► end, or the client is gone
public final class ResponseStream {
    /// Called once when nothing more can be sent: the client is gone, or ``end()`` was called.
    public var ended: (() -> Void)?
    /// Called when the client has read most of what waited for it.
    public var writable: (() -> Void)?
    private weak var connection: PeerHandler?

    public init() {}

    /// The head of the response was sent over a connection.
    func attach(to connection: PeerHandler) { self.connection = connection }

    /// Sends a part of the body, together with what else is sent in this turn.
    public func send(_ bytes: [UInt8]) {
        self.connection?.output.encode { $0.writeBytes(bytes) }
    }

    /// Bytes that the client has not read, as far as the kernel does not hold them.
    public var bufferedBytes: Int { self.connection?.output.bufferedBytes ?? 0 }

    /// False while the client does not read.
    public var isWritable: Bool { self.connection?.output.isWritable ?? true }

    /// Ends the body behind what was sent.
    public func end() {
        self.connection?.linger()
        self.finish()
    }

    /// Closes the connection immediately, with what the client has not read.
    public func shed() {
        self.connection?.shed()
        self.finish()
    }

    /// Nothing more can be sent.
    func finish() {
        self.connection = nil
        self.writable = nil
        exchange(&self.ended, with: nil)?()
    }
}
