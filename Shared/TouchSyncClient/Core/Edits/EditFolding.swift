import JSONBytes

extension ClientEdit {
    /// Merges a later edit into this one, field by field, if both set absolute values of one element, this one was never
    /// sent, they are undone alike, and neither has a motion. The result is that of both.
    /// - Returns: whether they were merged.
    mutating func fold(_ later: ClientEdit) -> Bool {
        guard self.isFoldable, later.isFoldable, self.isUndone(like: later) else { return false }
        let (earlier, transforms) = (self.body, ["transform"])
        self.body = JSONObject { writer in
            let replaced = later.body.members.compactMap { $0.key.string }
            earlier.encodeMembers(into: &writer, except: replaced + transforms)
            later.body.encodeMembers(into: &writer, except: transforms)
            writer.key("transform")
            Self.merge(earlier["transform"], later.body["transform"], into: &writer)
        }
        self.ids += later.ids
        return true
    }

    private var isFoldable: Bool {
        self.event == "element:transform" && self.number == nil && self.doubt == nil && !self.isMoving
    }

    private func isUndone(like other: ClientEdit) -> Bool {
        ["undoGroup", "undoable"].allSatisfy { self.body[$0]?.rawBytes == other.body[$0]?.rawBytes }
    }

    /// Writes one object with the members of both; the later one's win.
    private static func merge(_ earlier: JSONValue?, _ later: JSONValue?, into writer: inout JSONWriter) {
        let later = JSONObject(later)
        writer.beginObject()
        JSONObject(earlier).encodeMembers(into: &writer, except: later.members.compactMap { $0.key.string })
        later.encodeMembers(into: &writer)
        writer.endObject()
    }
}
