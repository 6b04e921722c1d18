package import Canvas
import JSONBytes
package import Wire

/// Edits as tests write them, ill-formed ones too.
extension EncodedEdit {
    /// `element:transform`.
    package static func transform(element: Identifier, fields: TransformFields) -> EncodedEdit {
        EncodedEdit(TransformElement(element: element, fields: fields))
    }

    /// `element:delete`.
    package static func delete(element: Identifier) -> EncodedEdit {
        EncodedEdit(DeleteElement(element: element))
    }

    /// `element:update` with any text as its `set`.
    package static func update(element: Identifier, set: [UInt8]) -> EncodedEdit {
        Self.edit(UpdateElement.traits.tag) { writer in
            writer.name(element)
            writer.blob(set)
        }
    }

    /// `element:create` with any text as its element.
    package static func create(_ item: SentItem) -> EncodedEdit {
        Self.edit(CreateElement.traits.tag) { Self.item(item, &$0) }
    }

    /// `elements:create` with any texts as its elements.
    package static func create(_ items: [SentItem]) -> EncodedEdit {
        Self.edit(CreateElements.traits.tag) { $0.list(items, Self.item) }
    }

    /// What an app sends by an event.
    package static func read(_ event: String, _ payload: String) throws -> EncodedEdit {
        var document = JSONDocument()
        try document.parse(Array("[\"\(event)\",\(payload)]".utf8))
        let parts = Array(document.root.elements)
        guard let kind = allEdits.kind(ofEvent: parts[0]) else { fatalError("there is no \(event)") }
        var reading = EditReading(largestGroup: 500, seed: 1)
        return try kind.read(parts[1], reading: &reading).edit
    }

    private static func edit(_ tag: UInt8, _ write: (inout ByteWriter) -> Void) -> EncodedEdit {
        var writer = ByteWriter()
        write(&writer)
        return EncodedEdit(tag: tag, fields: writer.bytes)
    }

    private static func item(_ item: SentItem, _ writer: inout ByteWriter) {
        writer.name(item.id)
        writer.bool(item.idIsGenerated)
        writer.blob(item.json)
    }
}

/// One element of an edit that creates, as a gateway sends it.
package struct SentItem: Sendable {
    package var id: Identifier
    package var idIsGenerated: Bool
    package var json: [UInt8]

    package init(id: Identifier, idIsGenerated: Bool = false, json: [UInt8]) {
        self.id = id
        self.idIsGenerated = idIsGenerated
        self.json = json
    }
}
