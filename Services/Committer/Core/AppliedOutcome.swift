import Canvas
import JSONBytes
import Wire

/// The answer to an applied commit: now from the decision, later from the log.
struct AppliedOutcome: Equatable, Sendable {
    /// The room's number assigned to it.
    var seq: UInt64
    /// The kind of its update.
    var event: UpdateEvent
    /// The elements after the commit; for a deletion the deleted ones, without JSON.
    var elements: [UpdatedElement]
    /// The values that were stored differently from what was sent.
    var adjusted: [Adjusted]
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
        case .elements, .geometries, .changes:
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
        for element in self.elements where !element.json.isEmpty {
            writer.raw(self.event.shape.appText(of: element))
        }
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
        writer.beginArray()
        for adjusted in self.adjusted {
            adjusted.adjustment.encode(into: &writer, elementId: adjusted.element)
        }
        writer.endArray()
    }
}

extension AppliedOutcome {
    /// The outcome of an earlier commit, from its log row and the repeated edit. The rules by which it was decided yield
    /// the same adjustments for the same state; if they are not known any more, those in force are used.
    ///
    /// Nil when the row was not written by a committer.
    init?(
        seq: UInt64, event: UpdateEvent, before: [UInt8], after: [UInt8], undone: UndoneEntry?,
        edit: any Decidable, user: Identifier, rules: RulesInForce
    ) {
        var document = JSONDocument()
        let shape = event.shape
        guard let elements = shape.elements(before: before, after: after, with: &document) else { return nil }
        let former = shape.logged(before, with: &document)
        let stored = shape.logged(after, with: &document)
        let decisive = rules.first { edit.reproduces(stored, from: former, by: user, $0) }
        self.init(
            seq: seq, event: event, elements: elements,
            adjusted: edit.adjustments(before: former, stored: elements, by: user, decisive), undone: undone)
    }
}

extension LiveElement {
    /// An element with its JSON text.
    convenience init(_ element: Element, children: [Identifier]?, authors: RecentAuthors) {
        var writer = JSONWriter(reserving: 384)
        element.encode(into: &writer)
        self.init(element: element, json: writer.bytes, children: children, authors: authors)
    }
}
