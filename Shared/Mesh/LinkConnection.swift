/// The open socket of a link, and what libzmq reports about its connections.
final class LinkConnection {
    let monitor: SocketMonitor
    let socket: Socket

    init(_ socket: consuming Socket, _ monitor: consuming SocketMonitor) {
        self.monitor = monitor
        self.socket = socket
    }

    /// Sends a message's kind; `more` announces its frames.
    func send(_ kind: FrameKind, more: Bool = false) -> SendResult {
        withUnsafeBytes(of: kind.rawValue) { self.socket.send($0, more: more) }
    }
}
