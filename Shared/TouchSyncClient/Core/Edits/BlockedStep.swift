import JSONBytes

/// An undo or a redo that was refused because its entry cannot be taken back now. Asked again before anything else is
/// edited, it leaves the entry out.
struct BlockedStep: Sendable {
    /// Its event.
    let event: String
    /// The number of the entry.
    let seq: Int64

    /// The body of an edit that is made next; nil when it is another command, or says itself what it leaves out.
    func passed(by event: String, _ body: JSONObject) -> JSONObject? {
        guard event == self.event, body["past"] == nil else { return nil }
        return JSONObject { writer in
            writer.member("past", self.seq)
            body.encodeMembers(into: &writer)
        }
    }
}
