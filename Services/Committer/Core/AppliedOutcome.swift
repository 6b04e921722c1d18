import JSONBytes
package import Wire

/// The answer to an applied commit: now from the decision, later from the log.
package struct AppliedOutcome: Equatable, Sendable {
    var seq: UInt64
    var event: UpdateEvent
    /// The elements after the commit; for a deletion the deleted ones, without JSON.
    var elements: [UpdatedElement]
    /// JSON text: the values that were stored differently from what was sent; nil: there are none.
    var adjusted: [UInt8]?
    /// The entry that an undo or a redo was made from; nil for an edit.
    var undone: UndoneEntry?

    /// The acknowledgement in the form that the app gets.
    func acknowledgement(isDuplicate: Bool) -> [UInt8] {
        var writer = JSONWriter(reserving: 96 + self.elements.reduce(0) { $0 + $1.json.count + 2 })
        writer.beginObject()
        writer.member("ok", true)
        writer.member("seq", self.seq)
        if let undone = self.undone {
            self.write(undone, to: &writer)
        } else {
            self.writeElements(to: &writer)
        }
        if isDuplicate { writer.member("duplicate", true) }
        writer.endObject()
        return writer.bytes
    }

    private func writeElements(to writer: inout JSONWriter) {
        switch self.event.shape {
        case .element, .flatElement:
            writer.key("element")
            writer.raw(self.elements.first?.json ?? Array("null".utf8))
            self.writeAdjusted(&writer)
        case .elements, .geometries, .animations, .changes:
            self.writeList(&writer)
            self.writeAdjusted(&writer)
        case .deletion:
            writer.member("elementId", self.elements.first?.id.text ?? "")
            writer.member("elementIds", self.elements.map(\.id.text))
        }
    }

    /// The elements that exist afterwards.
    private func writeList(_ writer: inout JSONWriter) {
        writer.key("elements")
        writer.beginArray()
        for element in self.elements where !element.json.isEmpty { writer.raw(element.shown) }
        writer.endArray()
    }

    /// Whatever an undo did, its answer has one form: what exists afterwards, and what was done.
    private func write(_ undone: UndoneEntry, to writer: inout JSONWriter) {
        self.writeList(&writer)
        writer.key("undone")
        writer.beginObject()
        writer.member("seq", undone.seq)
        writer.member("event", undone.event.name)
        writer.member("elementIds", self.elements.map(\.id.text))
        writer.member("skipped", UInt64(undone.skipped))
        writer.endObject()
    }

    /// The acknowledgement of an undo or a redo for which nothing was left.
    /// - Parameter seq: the room's number at the time.
    static func unchanged(seq: UInt64, isDuplicate: Bool) -> [UInt8] {
        var writer = JSONWriter(reserving: 64)
        writer.beginObject()
        writer.member("ok", true)
        writer.member("seq", seq)
        writer.key("elements")
        writer.beginArray()
        writer.endArray()
        if isDuplicate { writer.member("duplicate", true) }
        writer.endObject()
        return writer.bytes
    }

    private func writeAdjusted(_ writer: inout JSONWriter) {
        writer.key("adjusted")
        writer.raw(self.adjusted ?? Array("[]".utf8))
    }
}

extension AppliedOutcome {
    /// The outcome of an earlier commit, from its row in the log; nil when that was not written by a committer.
    package init?(
        seq: UInt64, event: UpdateEvent, before: [UInt8], after: [UInt8], undone: UndoneEntry?, adjusted: [UInt8]?
    ) {
        var document = JSONDocument()
        guard let elements = event.shape.elements(before: before, after: after, with: &document) else { return nil }
        self.init(seq: seq, event: event, elements: elements, adjusted: adjusted, undone: undone)
    }
}
