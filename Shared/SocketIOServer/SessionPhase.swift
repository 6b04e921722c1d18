/// The lifecycle of a session towards its application, which is called once, when the session is no longer open.
enum SessionPhase {
    case open
    /// The client sent a close packet while no poll was held. The packet may have overtaken the last poll, which is
    /// waited for. The exchange is the POST of the packet, answered at the end.
    case leaving(HTTPExchange?)
    /// The server closes, and waits for the poll that fetches the last packets.
    /// - isGoingAway: the client must reconnect elsewhere.
    case closing(isGoingAway: Bool)
    case ended(SessionEnding)

    var isOpen: Bool { if case .open = self { true } else { false } }
    var isLeaving: Bool { if case .leaving = self { true } else { false } }
    var isGoingAway: Bool { if case .closing(isGoingAway: true) = self { true } else { false } }
    /// Whether what the client still posts is processed.
    var takesPackets: Bool { !self.isLeaving && !self.hasEnded }
    var hasEnded: Bool { if case .ended = self { true } else { false } }

    /// Whether it ended because the client violated a rule.
    var isViolation: Bool { if case .ended(let ending) = self { ending.isViolation } else { false } }
}
