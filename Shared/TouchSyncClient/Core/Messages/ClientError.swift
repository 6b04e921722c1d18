import JSONBytes

/// Why something was refused, by the server or by the client itself.
public struct ClientError: Error, Equatable, Sendable {
    /// All that is known: `code`, `message`, and what else the server sent.
    public let details: JSONObject

    /// What the server sent.
    package init(_ details: JSONObject) {
        self.details = details
    }

    /// What this client refuses itself.
    package init(code: Code, message: String, field: String? = nil) {
        self.details = JSONObject { writer in
            writer.member("code", code.rawValue)
            writer.member("message", message)
            writer.member("field", ifPresent: field)
        }
    }

    /// What the server says about an event of this app that is no edit.
    init(event: String, message: JSONValue?, details: JSONObject) {
        self.details = JSONObject { writer in
            if details["event"] == nil { writer.member("event", event) }
            if details["message"] == nil, let message {
                writer.key("message")
                writer.raw(message.rawBytes)
            }
            details.encodeMembers(into: &writer)
        }
    }

    /// What kind of refusal it is.
    public var code: Code { Code(rawValue: self.details["code"]?.string ?? "") }
    /// A sentence for the app's developer.
    public var message: String { self.details["message"]?.string ?? self.code.rawValue }
    /// The field at fault.
    public var field: String? { self.details["field"]?.string }

    /// The user whose work an undo or a redo would delete.
    public var by: String? { self.details["by"]?.string }
    /// What an undo or a redo cannot take back now: asked again, it leaves this out.
    public var entry: BlockedChange? { self.details["entry"].flatMap(BlockedChange.init(json:)) }

    var isRetryable: Bool { [.busy, .rateLimited, .unavailable].contains(self.code) }
    /// Whether the server does not know any more what became of the edit that had this number, or another commit has the
    /// number, so that this one has no effect: the refusals are the same.
    var isAboutOldNumber: Bool { self.code == .conflict && self.field == "n" }
    /// How long the server asks to wait, ms.
    var retryAfter: Int64? { self.details["retryAfterMs"]?.milliseconds }
}

/// One of this user's changes of a room that cannot be taken back now.
public struct BlockedChange: Equatable, Sendable {
    /// Its number in the room.
    public let seq: Int64
    /// Its event, as members received it.
    public let event: String
    /// The elements that it changed.
    public let elementIds: [String]

    fileprivate init?(json: JSONValue) {
        guard let seq = json["seq"]?.integer else { return nil }
        self.seq = seq
        self.event = json["event"]?.string ?? ""
        self.elementIds = json["elementIds"]?.strings ?? []
    }
}

extension ClientError {
    static let forgotten = ClientError(
        code: .forgotten, message: "It is not known whether this edit was applied.")
    static let withoutEffect = ClientError(
        code: .forgotten, message: "It was refused, or changed nothing.")
    package static let left = ClientError(code: .left, message: "The room was left.")
    static let gestureOver = ClientError(code: .invalid, message: "The gesture is over.")
    static let queueFull = ClientError(code: .queueFull, message: "Too many edits wait.")

    static func tooLarge(limit: Int) -> ClientError {
        ClientError(code: .tooLarge, message: "An edit has at most \(limit) bytes.")
    }
}
