public import JSONBytes

extension Refusal {
    /// Appends the refusal as apps get it: `{"code","message","field"?,"retryAfterMs"?,"expected"?}`.
    public func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        self.encodeMembers(into: &writer)
        writer.endObject()
    }

    /// Appends the members of that object into one that is open.
    public func encodeMembers(into writer: inout JSONWriter) {
        writer.key("code")
        writer.value(self.code.name)
        writer.key("message")
        writer.value(self.message)
        if let field = self.field {
            writer.key("field")
            writer.value(field)
        }
        if let retryAfterMs = self.retryAfterMs {
            writer.key("retryAfterMs")
            writer.value(UInt64(retryAfterMs))
        }
        if let expected = self.expected {
            writer.key("expected")
            writer.value(expected)
        }
    }
}
