public import Canvas
import JSONBytes

// The fields of elements that only the app understands, each with a name and a value that is JSON. `content` is the text of
// a note in the server's own pages.

extension Element {
    /// The text of a note; nil if there is none.
    public var content: String? { self["content", as: String.self] }

    /// A field of the app's own; nil if there is none, or it is not of this type.
    public subscript<Value: Decodable>(name: String, as type: Value.Type) -> Value? { self.extra.value(name) }
}

extension NewElement {
    /// The text of a note.
    public var content: String? {
        get { self["content", as: String.self] }
        set { self["content", as: String.self] = newValue }
    }

    /// A field of the app's own. An edit whose value cannot be encoded, such as a number that is not finite, is refused.
    public subscript<Value: Codable>(name: String, as type: Value.Type) -> Value? {
        get { self.extra.value(name) }
        set { self.extra.replace(name, newValue.map { ExtraField(name, $0) }) }
    }
}

extension ElementChanges {
    /// The text of a note.
    public var content: FieldChange<String>? {
        get { self["content", as: String.self] }
        set { self["content", as: String.self] = newValue }
    }

    /// What the update does with a field of the app's own; nil: it leaves it as it is.
    public subscript<Value: Codable & Equatable & Sendable>(name: String, as type: Value.Type) -> FieldChange<Value>? {
        get {
            guard let field = self.extra.last(named: name) else { return nil }
            if field == .removal(of: name) { return .remove }
            return self.extra.value(name).map(FieldChange.set)
        }
        set {
            switch newValue {
            case .set(let value): self.extra.replace(name, ExtraField(name, value))
            case .remove: self.extra.replace(name, .removal(of: name))
            case nil: self.extra.replace(name, nil)
            }
        }
    }
}

extension ExtraField {
    /// A field with a value. An edit whose value cannot be encoded is refused.
    public init(_ name: String, _ value: some Encodable) {
        self.init(name: name, json: ClientJSON.encode(value) ?? [])
    }
}

extension [ExtraField] {
    fileprivate func last(named name: String) -> ExtraField? { self.last { isSameText($0.name, name) } }

    fileprivate func value<Value: Decodable>(_ name: String) -> Value? {
        self.last(named: name).flatMap { ClientJSON.decode($0.json) }
    }

    fileprivate mutating func replace(_ name: String, _ field: ExtraField?) {
        self.removeAll { isSameText($0.name, name) }
        if let field { self.append(field) }
    }
}
