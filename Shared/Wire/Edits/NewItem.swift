public import Canvas
import JSONBytes

/// One element of an edit that creates.
///
///     id name │ generated u8 │ JSON blob
public struct NewItem: Equatable, Sendable {
    /// Its id: the app's, or one that the gateway made.
    public let id: Identifier
    /// True when the gateway made the id; such an id is no part of the body's identity.
    public let idIsGenerated: Bool
    /// What the app asked for, before any rule.
    public let fields: NewElement
    private let json: [UInt8]

    /// An element from its JSON text.
    /// - Parameter path: where it stands in the app's payload, such as `elements[3]`.
    /// - Throws: a refusal that names the field at fault.
    public init(id: Identifier, idIsGenerated: Bool, json: [UInt8], path: String = "element") throws(Refusal) {
        self.id = id
        self.idIsGenerated = idIsGenerated
        self.json = json
        self.fields = try PayloadField.parse(json, field: path) { value throws(FieldError) in
            try ElementInput.newElement(value, path: path)
        }
    }

    /// An element from an app's payload; one without an id gets one.
    init(_ element: JSONValue, path: String, reading: inout EditReading) throws(Refusal) {
        do { self.fields = try ElementInput.newElement(element, path: path) } catch { throw Refusal(error) }
        self.id = Identifier(self.fields.id ?? reading.ids.next())
        self.idIsGenerated = self.fields.id == nil
        self.json = Array(element.rawBytes)
    }

    /// Reads what ``encode(into:)`` wrote.
    init(from reader: inout ByteReader, path: String) throws(Refusal) {
        let id = reader.name()
        let idIsGenerated = reader.bool()
        try self.init(id: id, idIsGenerated: idIsGenerated, json: reader.blob(), path: path)
    }

    func encode(into writer: inout ByteWriter) {
        writer.name(self.id)
        writer.bool(self.idIsGenerated)
        writer.blob(self.json)
    }

    func identify(into hash: inout BodyHash) {
        hash.text(self.idIsGenerated ? nil : self.id.text)
        hash.newElement(self.fields)
    }
}
