import JSONBytes

/// The result of an edit: applied as a change of the room, or refused for good.
public struct EditAnswer: Equatable, Sendable {
    /// All of it, as the server sent it: `ok`, and `seq`, `element`, `adjusted` … or `error`.
    public let details: JSONObject

    init(_ details: JSONObject) {
        self.details = details
    }

    init(refusal: ClientError) {
        self.details = JSONObject { writer in
            writer.member("ok", false)
            writer.member("error", refusal.details)
        }
    }

    /// Nothing was to change.
    init(unchangedAt seq: Int64) {
        self.details = JSONObject { writer in
            writer.member("ok", true)
            writer.member("seq", seq)
            writer.member("adjusted", [String]())
        }
    }

    /// Applied, as the room's history has it. `elements` are those that it changed, after the change.
    init(foundAt seq: Int64, elements: [JSONObject]) {
        self.details = JSONObject { writer in
            writer.member("ok", true)
            writer.member("seq", seq)
            writer.member("duplicate", true)
            writer.member("adjusted", [String]())
            writer.member("elements", elements)
            writer.member("element", ifPresent: elements.first)
        }
    }

    /// Whether it was applied.
    public var isApplied: Bool { self.details["ok"]?.bool == true }
    /// Whether an undo or a redo found nothing. An answer that is repeated, or from the history, may not say what it found.
    package var foundNothing: Bool {
        self.details["undone"] == nil && self.details["elements"]?.objects.isEmpty == true
            && self.details["duplicate"]?.bool != true
    }
    /// Its number in the room, if it was applied.
    public var seq: Int64? { self.details["seq"]?.integer }
    /// Why it was refused; nil if it was applied.
    public var error: ClientError? { self.isApplied ? nil : ClientError(JSONObject(self.details["error"])) }
}
