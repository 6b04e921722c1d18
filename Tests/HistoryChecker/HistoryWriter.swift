import JSONBytes

extension HistoryRecord {
    /// The record as a line of a history, without its end.
    package var line: String {
        var writer = JSONWriter(reserving: 192)
        writer.beginObject()
        writer.key("kind")
        writer.value(self.kind.rawValue)
        for field in self.kind.required { self.write(field, into: &writer) }
        for field in self.kind.optional where self.has(field) { self.write(field, into: &writer) }
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private func has(_ field: HistoryField) -> Bool {
        switch field {
        case .element: !self.element.isEmpty
        case .body: !self.element.isEmpty || !self.body.isEmpty
        case .gesture: self.gesture > 0
        case .targets: !self.targets.isEmpty
        case .request: !self.request.isEmpty
        case .session, .n: self.number > 0
        case .elements: !self.elements.isEmpty
        case .geometry: !self.geometry.isEmpty
        case .parents: !self.parents.isEmpty
        case .parent: !self.parent.isEmpty
        case .edits: !self.edits.isEmpty
        case .chosen, .whole, .hidden: self.isFinal
        case .user: !self.user.isEmpty
        case .undo: !self.undo.isEmpty
        case .cause: !self.cause.isEmpty
        case .undone, .value: self.undone > 0
        case .unchanged: self.isUnchanged
        case .event: !self.event.isEmpty
        case .part, .parts: self.parts > 0
        case .at: self.at != nil
        case .to: self.to > 0
        case .box: self.box != nil
        case .cursors: !self.cursors.isEmpty
        case .selections: !self.selections.isEmpty
        default: true
        }
    }

    private func write(_ field: HistoryField, into writer: inout JSONWriter) {
        writer.key(string: field.rawValue)
        switch field {
        case .time: writer.value(self.time)
        case .at: writer.value(self.at ?? 0)
        case .client: writer.value(self.client)
        case .room: writer.value(self.room)
        case .session: writer.value(self.session)
        case .n: writer.value(self.number)
        case .event: writer.value(self.event)
        case .element: writer.value(self.element)
        case .gesture: writer.value(self.gesture)
        case .targets: self.targets.encode(into: &writer)
        case .edit: writer.value(self.edit)
        case .edits: self.edits.encode(into: &writer)
        case .request: Self.write(self.request, into: &writer)
        case .seq: writer.value(self.seq)
        case .body: writer.value(self.body)
        case .elements: Self.write(self.elements, into: &writer)
        case .geometry: Self.write(self.geometry, into: &writer)
        case .parents: Self.write(self.parents, into: &writer)
        case .parent: writer.value(self.parent)
        case .user: writer.value(self.user)
        case .undo: writer.value(self.undo)
        case .cause: writer.value(self.cause)
        case .undone: writer.value(self.undone)
        case .unchanged: writer.value(self.isUnchanged)
        case .code: writer.value(self.code)
        case .final, .chosen, .whole, .hidden: writer.value(self.isFinal)
        case .epoch: writer.value(self.epoch)
        case .from: writer.value(self.from)
        case .to: writer.value(self.to)
        case .sender: writer.value(self.sender)
        case .floor: writer.value(self.floor)
        case .shard: writer.value(self.shard)
        case .gseq: writer.value(self.gseq)
        case .name: writer.value(self.name)
        case .value: writer.value(self.value)
        case .part: writer.value(self.part)
        case .parts: writer.value(self.parts)
        case .box: self.box?.sides.encode(into: &writer)
        case .cursors: Self.write(self.cursors, into: &writer)
        case .selections: Self.write(self.selections, into: &writer)
        }
    }

    private static func write(_ texts: [String: String], into writer: inout JSONWriter) {
        writer.beginObject()
        for (id, text) in texts.sorted(by: { $0.key < $1.key }) {
            writer.key(string: id)
            writer.value(text)
        }
        writer.endObject()
    }
}
