import JSONBytes

extension ClientError {
    /// The kinds of refusals, of the server and of the client itself.
    public enum Code: RawRepresentable, Hashable, Sendable {
        /// A field is missing, of the wrong type or malformed.
        case invalid
        /// This user has no right, or the element is locked.
        case forbidden
        /// There is no such element.
        case notFound
        /// The element is deleted.
        case gone
        /// The id is in use, or others' work forbids an undo.
        case conflict
        /// Larger than one of the server's limits.
        case tooLarge
        /// The server does not know the event.
        case unknownEvent
        /// A number was skipped.
        case gap
        /// Too often; the client tries again.
        case rateLimited
        /// Too much at this moment; the client tries again.
        case busy
        /// The server cannot say it now; the client tries again.
        case unavailable
        /// The token has expired, or the session has ended.
        case sessionExpired
        /// Too many edits wait.
        case queueFull
        /// It is not known whether the edit was applied.
        case forgotten
        /// The room was left.
        case left
        /// The client was closed.
        case closed
        /// A code of a newer server; empty if there was none.
        case other(String)

        private static let known: [Code] = [
            .invalid, .forbidden, .notFound, .gone, .conflict, .tooLarge, .unknownEvent, .gap, .rateLimited, .busy,
            .unavailable, .sessionExpired, .queueFull, .forgotten, .left, .closed,
        ]

        /// The code with this text.
        public init(rawValue: String) {
            self = Self.known.first { $0.rawValue == rawValue } ?? .other(rawValue)
        }

        /// The text, such as `not_found`.
        public var rawValue: String {
            switch self {
            case .invalid: "invalid"
            case .forbidden: "forbidden"
            case .notFound: "not_found"
            case .gone: "gone"
            case .conflict: "conflict"
            case .tooLarge: "too_large"
            case .unknownEvent: "unknown_event"
            case .gap: "gap"
            case .rateLimited: "rate_limited"
            case .busy: "busy"
            case .unavailable: "unavailable"
            case .sessionExpired: "session_expired"
            case .queueFull: "queue_full"
            case .forgotten: "forgotten"
            case .left: "left"
            case .closed: "closed"
            case .other(let text): text
            }
        }
    }
}

extension ClientError: CustomStringConvertible {
    /// The code, the field at fault and the message: `invalid, type: An element has a type.`
    public var description: String {
        let place = [self.code.rawValue, self.field ?? ""].filter { !$0.isEmpty }.joined(separator: ", ")
        return [place, self.details["message"]?.string ?? ""].filter { !$0.isEmpty }.joined(separator: ": ")
    }
}
