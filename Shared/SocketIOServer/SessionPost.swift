internal import SocketIO

/// The POST that a session receives. Its packets are processed as they come, so no more than one is kept.
enum SessionPost {
    /// There is none, or the session ended before it was complete.
    case none
    case reading(EnginePayloadReader)
    /// One of its packets ended the session, or was a close packet: the rest is ignored.
    case over

    enum Refusal {
        /// Not packets of Engine.IO, or too many, or not what the session accepts: 400.
        case malformed
        /// A packet is larger than ``SocketIOServer/Configuration/maxPayload``: 413.
        case tooLarge
    }

    var heldBytes: Int { if case .reading(let reader) = self { reader.heldBytes } else { 0 } }

    mutating func sessionEnded() {
        if case .reading = self { self = .none }
    }
}
