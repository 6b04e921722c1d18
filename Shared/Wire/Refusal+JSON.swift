public import JSONBytes

extension Refusal {
    /// Appends the refusal as apps get it in `error`:
    /// `{"code","message","field"?,"retryAfterMs"?,"expected"?,"by"?,"entry"?: {"seq","event","elementIds"}}`.
    public func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        self.encodeMembers(into: &writer)
        writer.endObject()
    }

    /// Appends the members of that object to an open one.
    public func encodeMembers(into writer: inout JSONWriter) {
        writer.member("code", self.code.name)
        writer.member("message", self.message)
        writer.member("field", ifPresent: self.field)
        writer.member("retryAfterMs", ifPresent: self.retryAfterMs.map(UInt64.init))
        writer.member("expected", ifPresent: self.expected)
        writer.member("by", ifPresent: self.by?.text)
        writer.member("entry", ifPresent: self.entry)
    }

    /// Appends the acknowledgement of a refused command: `{"ok":false,"error":{…}}`.
    public func encodeAcknowledgement(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("ok", false)
        writer.key("error")
        self.encode(into: &writer)
        writer.endObject()
    }

    /// The exact inverse of ``encode(into:)``; nil for anything else. For refusals that this code has written and
    /// stored.
    public init?(json: JSONValue) {
        guard let name = json["code"]?.string, let message = json["message"]?.string,
            let code = RefusalCode.allCases.first(where: { $0.name.utf8.elementsEqual(name.utf8) })
        else { return nil }
        self.init(
            code, message, field: json["field"]?.string,
            retryAfterMs: json["retryAfterMs"]?.integer.flatMap(UInt32.init(exactly:)),
            expected: json["expected"]?.integer.flatMap(UInt64.init(exactly:)),
            by: json["by"]?.string.map { Identifier($0) })
        self.entry = json["entry"].flatMap { BlockedEntry(json: $0) }
    }
}

extension BlockedEntry: JSONEncodable {
    public func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("seq", self.seq)
        writer.member("event", self.event.name)
        writer.member("elementIds", self.elements.map(\.text))
        writer.endObject()
    }

    /// The inverse of ``encode(into:)``.
    fileprivate init?(json: JSONValue) {
        guard let seq = json["seq"]?.integer.flatMap(UInt64.init(exactly:)),
            let event = json["event"]?.string.flatMap(UpdateEvent.init(name:)), let ids = json["elementIds"]
        else { return nil }
        self.init(seq: seq, event: event, elements: ids.elements.compactMap { $0.string.map { Identifier($0) } })
    }
}
