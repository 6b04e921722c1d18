internal import NIOCore
internal import SocketIO

/// One bare WebSocket. Used on the loop only.
public final class WebSocketPeer {
    private weak var handler: PeerHandler?

    /// The request that opened it.
    public let handshake: Handshake
    /// The application's own.
    public var userInfo: AnyObject?

    init(_ handler: PeerHandler, _ handshake: Handshake) {
        self.handler = handler
        self.handshake = handshake
    }

    /// Sends one message; flushed when the read is dealt with.
    public func send(_ message: UnsafeRawBufferPointer, isText: Bool) {
        guard let handler = self.handler, case .bare = handler.role else { return }
        handler.sendFrame(isText ? .text : .binary, message)
    }

    /// Closes with a code.
    public func close(code: UInt16, reason: StaticString = "") {
        guard let handler = self.handler, case .bare(_, let application) = handler.role else { return }
        handler.closeWebSocket(code: code, reason: reason)
        application.closed(self)
    }

    /// Whether little enough waits to be sent; while false, nothing more is read from the peer.
    public var isWritable: Bool { self.handler?.isWritable ?? false }
}
