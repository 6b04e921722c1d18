public import JSONBytes

/// What has to survive the end of the app: the edits of a room that have no result yet, with the session and the numbers
/// under which they were sent. The shell keeps its JSON text.
public struct RoomRecord: Equatable, Sendable {
    /// An edit without a result.
    struct SavedEdit: Equatable, Sendable {
        let ids: [String]
        let event: String
        let body: JSONObject
        let number: Int64?
        let sentAfter: Int64
        /// The `sid` of an ended session under which it was sent, with unknown outcome.
        let doubt: String?
    }

    let session: String?
    let sid: String
    let nextNumber: Int64
    let gesture: Int64
    let edits: [SavedEdit]

    /// What `encode` wrote; nil for any other value.
    public init?(json: JSONValue) {
        guard let sid = json["sid"]?.string, let nextNumber = json["nextNumber"]?.integer,
            let gesture = json["gesture"]?.integer, let edits = json["edits"]
        else { return nil }
        self.session = json["session"]?.string
        self.sid = sid
        self.nextNumber = nextNumber
        self.gesture = gesture
        self.edits = edits.elements.compactMap(SavedEdit.init(json:))
    }

    /// What is to be kept of a room; nil when all edits have their results.
    init?(session: RoomSession, queue: EditQueue, lastGesture: Int64) {
        self.edits = queue.open.map(SavedEdit.init)
        guard !self.edits.isEmpty else { return nil }
        self.session = session.secret
        self.sid = session.sid.text
        self.nextNumber = queue.nextNumber
        self.gesture = lastGesture
    }
}

extension RoomRecord: JSONEncodable {
    /// Writes the text that `init(json:)` reads.
    public func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("session", ifPresent: self.session)
        writer.member("sid", self.sid)
        writer.member("nextNumber", self.nextNumber)
        writer.member("gesture", self.gesture)
        writer.objects("edits", self.edits) { edit, writer in edit.encodeMembers(into: &writer) }
        writer.endObject()
    }
}

extension RoomRecord.SavedEdit {
    init(_ edit: ClientEdit) {
        self.ids = edit.ids
        self.event = edit.event
        self.body = edit.body
        self.number = edit.number
        self.sentAfter = edit.sentAfter
        self.doubt = edit.doubt?.sid.text
    }

    init?(json: JSONValue) {
        guard let event = json["event"]?.string else { return nil }
        self.ids = json["ids"]?.strings ?? []
        self.event = event
        self.body = JSONObject(json["body"])
        self.number = json["n"]?.integer
        self.sentAfter = json["after"]?.integer ?? 0
        self.doubt = json["doubt"]?.string
    }

    /// The edit as it was, not under way any more.
    var edit: ClientEdit {
        var edit = ClientEdit(ids: self.ids, event: self.event, body: self.body)
        edit.number = self.number
        edit.sentAfter = self.sentAfter
        edit.doubt = self.doubt.map { EditDoubt(sid: TextKey($0)) }
        return edit
    }

    fileprivate func encodeMembers(into writer: inout JSONWriter) {
        writer.member("ids", self.ids)
        writer.member("event", self.event)
        writer.member("body", self.body)
        writer.member("n", ifPresent: self.number)
        writer.member("after", self.sentAfter)
        writer.member("doubt", ifPresent: self.doubt)
    }
}
