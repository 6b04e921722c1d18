/// The life of a session towards its application, which is called once, when the session is open no more.
enum SessionPhase {
    case open
    /// The client sent a close packet while no poll was held. Its last poll, which the packet may have overtaken, is
    /// waited for. The exchange is the POST of that packet, answered at the end.
    case leaving(HTTPExchange?)
    /// The server closes, and waits for the poll that fetches the last packets.
    /// - isGoingAway: the client is made to connect again, elsewhere.
    case closing(isGoingAway: Bool)
    case ended(DisconnectReason)

    var isOpen: Bool { if case .open = self { true } else { false } }
    var isLeaving: Bool { if case .leaving = self { true } else { false } }
    var isGoingAway: Bool { if case .closing(isGoingAway: true) = self { true } else { false } }
    var hasEnded: Bool { if case .ended = self { true } else { false } }

    /// Whether it ended because the client broke a rule.
    var isViolation: Bool {
        switch self {
        case .ended(.protocolError), .ended(.parseError), .ended(.payloadTooBig), .ended(.badPackets): true
        case .open, .leaving, .closing, .ended: false
        }
    }
}
