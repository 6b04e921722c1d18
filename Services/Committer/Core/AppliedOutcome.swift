import Canvas
import JSONBytes
import Wire

/// What an applied commit is answered with: now from the decision, later from the log.
struct AppliedOutcome: Equatable, Sendable {
    /// A value that was stored otherwise than sent, and of which element when there are several.
    struct Adjusted: Equatable, Sendable {
        var element: String?
        var adjustment: Adjustment
    }

    /// The room's number that it got.
    var seq: UInt64
    /// What it did.
    var event: UpdateEvent
    /// The elements afterwards; the deleted ones, without JSON, for a deletion.
    var elements: [UpdatedElement]
    /// What was stored otherwise than sent.
    var adjusted: [Adjusted]

    /// The acknowledgement as the app gets it.
    func acknowledgement(isDuplicate: Bool) -> [UInt8] {
        var writer = JSONWriter(reserving: 96 + self.elements.reduce(0) { $0 + $1.json.count + 2 })
        writer.beginObject()
        writer.key("ok")
        writer.value(true)
        writer.key("seq")
        writer.value(self.seq)
        switch self.event {
        case .transformed, .created, .updated:
            writer.key("element")
            writer.raw(self.elements.first?.json ?? Array("null".utf8))
            self.writeAdjusted(&writer)
        case .createdMany:
            writer.key("elements")
            writer.beginArray()
            for element in self.elements { writer.raw(element.json) }
            writer.endArray()
            self.writeAdjusted(&writer)
        case .deleted:
            writer.key("elementId")
            writer.value(self.elements.first?.id.text ?? "")
            writer.key("elementIds")
            writer.beginArray()
            for element in self.elements { writer.value(element.id.text) }
            writer.endArray()
        }
        if isDuplicate {
            writer.key("duplicate")
            writer.value(true)
        }
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
    /// The outcome of an earlier commit, from its log row and the body that was sent again. The rules give the same
    /// adjustments on the same state; only a rules file changed in between makes them differ.
    ///
    /// Nil when the row is not one of ours.
    init?(
        seq: UInt64, event: UpdateEvent, before: [UInt8], after: [UInt8], command: PreparedCommand, user: Identifier,
        rules: RulesTable
    ) {
        var document = JSONDocument()
        func parse(_ json: [UInt8]) -> JSONValue? {
            do { try document.parse(json, limits: Element.jsonLimits) } catch { return nil }
            return document.root
        }
        switch event {
        case .transformed, .updated, .created:
            guard let element = parse(after).flatMap(Element.init(json:)) else { return nil }
            let previous = event == .created ? nil : parse(before).flatMap(Element.init(json:))
            self.init(
                seq: seq, event: event, elements: [UpdatedElement(id: Identifier(element.id), json: after)],
                adjusted: Self.adjustments(command, to: previous, stored: [], by: user, rules))
        case .createdMany:
            guard let array = parse(after), array.kind == .array else { return nil }
            var elements: [UpdatedElement] = []
            for value in array.elements {
                guard let id = value["id"]?.string else { return nil }
                elements.append(UpdatedElement(id: Identifier(id), json: Array(value.rawBytes)))
            }
            self.init(
                seq: seq, event: event, elements: elements,
                adjusted: Self.adjustments(command, stored: elements, by: user, rules))
        case .deleted:
            guard let array = parse(before), array.kind == .array else { return nil }
            let ids = array.elements.compactMap { $0["id"]?.string }
            self.init(
                seq: seq, event: event, elements: ids.map { UpdatedElement(id: Identifier($0), json: []) },
                adjusted: [])
        }
    }

    private static func adjustments(
        _ command: PreparedCommand, to previous: Element? = nil, stored: [UpdatedElement], by user: Identifier,
        _ rules: RulesTable
    ) -> [Adjusted] {
        switch command {
        case .transform(_, let fields):
            guard var element = previous else { return [] }
            return rules.apply(fields, to: &element).map { Adjusted(adjustment: $0) }
        case .update(_, let changes):
            guard var element = previous else { return [] }
            return rules.apply(changes, to: &element).map { Adjusted(adjustment: $0) }
        case .create(let elements, let single):
            // A generated id is another one when the commit comes again: the stored one counts.
            return elements.enumerated().flatMap { index, new in
                let id = single ? nil : index < stored.count ? stored[index].id.text : new.id.text
                return rules.create(new.fields, id: new.id.text, by: user.text).1
                    .map { Adjusted(element: id, adjustment: $0) }
            }
        case .delete, .refuse: return []
        }
    }
}

extension LiveElement {
    /// An element with its JSON text.
    init(_ element: Element, children: [Identifier]?) {
        var writer = JSONWriter(reserving: 384)
        element.encode(into: &writer)
        self.init(element: element, json: writer.bytes, children: children)
    }
}
