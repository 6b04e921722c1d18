internal import NIOCore
internal import SocketIO

/// One bare WebSocket. Used on the loop only.
public final class WebSocketPeer {
    private let link: WebSocketLink
    private let application: any WebSocketApplication
    private var isOpen = true

    public let handshake: Handshake
    init(_ link: WebSocketLink, _ handshake: Handshake, _ application: any WebSocketApplication) {
        self.link = link
        self.handshake = handshake
        self.application = application
    }

    /// Sends one message; flushed when the read is processed.
    public func send(_ message: UnsafeRawBufferPointer, isText: Bool) {
        guard self.isOpen else { return }
        self.link.send(isText ? .text : .binary, message)
    }

    func received(_ message: UnsafeRawBufferPointer, isText: Bool) {
        self.application.message(self, message, isText: isText)
    }

    func ended() {
        guard self.isOpen else { return }
        self.isOpen = false
        self.application.closed(self)
    }
}
