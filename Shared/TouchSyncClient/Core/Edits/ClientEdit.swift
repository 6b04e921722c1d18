import Canvas
import JSONBytes

/// An edit of this user until its result is known and shown.
struct ClientEdit: Sendable {
    /// The app's names of it; several when edits were folded.
    var ids: [String]
    /// The protocol's event.
    let event: String
    var body: JSONObject
    var elementIds: [TextKey]
    /// Where it has elements stop that moved.
    var halted: [TextKey: TransformFields] = [:]
    /// What the queue calls it, the same as long as it is there.
    var key = 0
    /// Its number in the session, from the first time it was sent.
    var number: Int64?
    /// The room's number when it was first sent; what it became comes after that.
    var sentAfter: Int64 = 0
    var attempt = 0
    /// Whether it was sent over this connection, without an answer yet.
    var isUnderWay = false
    /// Whether what came from the server contains it, so that it is shown already.
    var isStored = false
    /// Its number in the room, once it is acknowledged.
    var seq: Int64?
    /// Set while it is unknown whether it was applied.
    var doubt: EditDoubt?

    init(ids: [String], event: String, body: JSONObject) {
        self.ids = ids
        self.event = event
        self.body = body
        self.elementIds = Self.elementIds(of: body)
    }

    var isOpen: Bool { self.seq == nil }

    /// Whether it is drawn on top of what the server confirmed.
    var isShown: Bool { !self.isStored && self.doubt == nil }

    /// Its number in the present session; nil if it has none, or one of an ended session.
    var presentNumber: Int64? { self.doubt == nil ? self.number : nil }

    /// Whether it has elements move to where it stores them.
    var isMoving: Bool { self.body["motion"] != nil }

    var isDeletion: Bool { self.event == "element:delete" || self.event == "elements:delete" }

    /// The ids that a payload names, by whichever of its fields.
    private static func elementIds(of body: JSONObject) -> [TextKey] {
        if let id = body["elementId"] { return [id].compactMap(\.string).map(TextKey.init) }
        if let element = body["element"] { return [element["id"]].compactMap { $0?.string }.map(TextKey.init) }
        if let elements = body["elements"] {
            return elements.elements.compactMap { ($0.string ?? $0["elementId"]?.string ?? $0["id"]?.string) }
                .map(TextKey.init)
        }
        return (body["elementIds"]?.strings ?? []).map(TextKey.init)
    }
}

/// An edit that was sent in a session that ended, without an answer.
struct EditDoubt: Sendable {
    let sid: TextKey
    /// Whether a later edit of that session was applied, so that this one was decided before it.
    var isDecided = false
}
