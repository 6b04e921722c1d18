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

/// The first frame of every message between two links: one byte.
package enum FrameKind: UInt8 {
    /// A `Hello` follows: the dialling side sends it first, the bound side answers with its own.
    case hello = 0
    /// A heartbeat without frames, sent when nothing else was for a beat. Needs no answer: both sides beat.
    case beat = 1
    /// The hello had other versions; those of the refusing side follow (``VersionRefusal``). The connection is
    /// abandoned.
    case refusal = 2
    /// An orderly end, or the answer to an unknown peer; no frames.
    case goodbye = 3
    /// Frames of the link's user follow, at least one.
    case data = 4
    /// The bound side's beat while it rests, without frames; also sent ahead of its hello, and immediately when it
    /// begins to rest. The next plain beat ends the rest.
    case rest = 5
}

/// Why a link went down.
package enum LinkLoss: Equatable, Sendable {
    /// The connection closed: the peer was killed, or the network reported an error.
    case disconnected
    /// Nothing was heard for too long: the peer is frozen, or the network is cut.
    case silent
    /// The peer ended in order, or it does not know us any more.
    case goodbye
    /// The two sides have different versions.
    case refused
    /// The same peer reconnected (at the bound side only).
    case replaced
    /// Its key may not be used for its name, or not any more.
    case forbidden
    /// Connected, but no hello arrived in time.
    case helloMissing
    case closed
}
