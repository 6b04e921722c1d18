import JSONBytes
import Wire

/// What an app asks for with `room:join`.
struct JoinRequest {
    /// The secret of the session to go on with; empty for a new session.
    var session = ""
    /// From where on the app wants what it missed; nil for the whole room.
    var resume: Position?
    var options: StreamOptions
    /// True when a large room may come in parts.
    var wantsParts = false

    init(options: StreamOptions) { self.options = options }

    /// Reads the event's payload.
    /// - Parameter options: what the connection gets of any room.
    init(_ payload: JSONValue, options: StreamOptions) throws(Refusal) {
        self.options = options.and(previews: try payload.flag("previews"), motion: try payload.flag("motion"))
        if let value = payload["session"] {
            guard let text = value.string, (1...256).contains(text.utf8.count) else {
                throw Refusal(.invalid, "A session is a string of 1 to 256 bytes.", field: "session")
            }
            self.session = text
        }
        self.resume = try Self.resume(payload["resume"])
        self.wantsParts = try payload.flag("parts") ?? false
    }

    private static func resume(_ value: JSONValue?) throws(Refusal) -> Position? {
        guard let value else { return nil }
        guard value.kind == .object else {
            throw Refusal(.invalid, "resume is an object {epoch, seq}.", field: "resume")
        }
        guard let place = value["epoch"] else {
            throw Refusal(.invalid, "An epoch is required.", field: "resume.epoch")
        }
        guard let epoch = place.string, epoch.utf8.count <= 128 else {
            throw Refusal(.invalid, "An epoch is a string of at most 128 bytes.", field: "resume.epoch")
        }
        guard let number = value["seq"] else {
            throw Refusal(.invalid, "A sequence number is required.", field: "resume.seq")
        }
        guard let seq = number.integer, seq >= 0 else {
            throw Refusal(.invalid, "A sequence number is a whole number from 0 on.", field: "resume.seq")
        }
        return Position(epoch: Identifier(epoch), seq: UInt64(seq))
    }
}

/// The numbers of joins and HTTP requests, by which their answers find back. A gateway that was started again gives others
/// than before: a fan-out may still answer what the former process asked.
struct RequestNumbers {
    private var last: UInt64

    /// - Parameter seed: random at each start.
    init(seed: UInt64) {
        // Far from the largest number that a record can have.
        self.last = seed >> 2
    }

    mutating func next() -> UInt64 {
        self.last += 1
        return self.last
    }
}
