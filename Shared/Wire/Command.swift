public import Canvas

/// What a commit asks for, after the gateway has checked its shape.
public enum Command: Equatable, Sendable {
    /// `element:transform`: absent fields stay as they are; width and height are hints.
    case transform(element: Identifier, fields: TransformFields)
    /// `element:create` or `elements:create` (all or nothing; then `single` is false).
    case create(elements: [CreateItem], single: Bool)
    /// `element:update`: `set` is the JSON text of the changes.
    case update(element: Identifier, set: [UInt8])
    /// `element:delete`.
    case delete(element: Identifier)
    /// A commit that the gateway found at fault for good: it consumes its number, and the refusal is remembered.
    /// `bodyHash` stands for the body, so that a repetition is told from a changed body.
    case refuse(Refusal, bodyHash: UInt64)
}

/// One element of a create command.
public struct CreateItem: Equatable, Sendable {
    /// Its id: the app's, or one that the gateway made.
    public var id: Identifier
    /// True when the gateway made the id; such an id is no part of the body's identity.
    public var idIsGenerated: Bool
    /// The element's JSON text as the app sent it, already found well-formed.
    public var json: [UInt8]

    /// One element to create.
    public init(id: Identifier, idIsGenerated: Bool, json: [UInt8]) {
        self.id = id
        self.idIsGenerated = idIsGenerated
        self.json = json
    }
}

extension ByteWriter {
    /// Appends a command: a tag u8, then its fields.
    ///
    ///     1 transform: element name │ fields
    ///     2 create:    single u8 │ list of (id name │ generated u8 │ JSON blob)
    ///     3 update:    element name │ JSON blob
    ///     4 delete:    element name
    ///     5 refuse:    refusal │ body hash u64
    public mutating func command(_ command: Command) {
        switch command {
        case .transform(let element, let fields):
            self.u8(1)
            self.name(element)
            self.transform(fields)
        case .create(let elements, let single):
            self.u8(2)
            self.bool(single)
            self.list(elements) { item, writer in
                writer.name(item.id)
                writer.bool(item.idIsGenerated)
                writer.blob(item.json)
            }
        case .update(let element, let set):
            self.u8(3)
            self.name(element)
            self.blob(set)
        case .delete(let element):
            self.u8(4)
            self.name(element)
        case .refuse(let refusal, let bodyHash):
            self.u8(5)
            self.refusal(refusal)
            self.integer(bodyHash)
        }
    }
}

extension ByteReader {
    /// Reads a command.
    public mutating func command() -> Command {
        switch self.u8() {
        case 1:
            let element = self.name()
            return .transform(element: element, fields: self.transform())
        case 2:
            let single = self.bool()
            let elements = self.list { reader in
                let id = reader.name()
                let isGenerated = reader.bool()
                return CreateItem(id: id, idIsGenerated: isGenerated, json: reader.blob())
            }
            return .create(elements: elements, single: single)
        case 3:
            let element = self.name()
            return .update(element: element, set: self.blob())
        case 4:
            return .delete(element: self.name())
        case 5:
            let refusal = self.refusal()
            return .refuse(refusal, bodyHash: self.integer())
        default:
            self.fail()
            return .delete(element: "")
        }
    }
}
