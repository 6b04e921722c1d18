public import Canvas
import JSONBytes
public import TouchSyncClientCore

extension JSONObject: Codable {
    /// Reads any object, from JSON or another format that has names, lists, texts, numbers and truth values.
    public init(from decoder: any Decoder) throws {
        var writer = JSONWriter()
        try writer.copy(decoder)
        guard let object = JSONObject(text: writer.bytes) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "A JSON object is required."))
        }
        self = object
    }

    /// Writes the members.
    public func encode(to encoder: any Encoder) throws { try self.value.copy(to: encoder) }
}

extension Element: Codable {
    /// Reads an element as the API has it. Fields that are absent have their defaults; an id is required.
    public init(from decoder: any Decoder) throws {
        guard let element = Element(server: try JSONObject(from: decoder).value) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "An element has an id."))
        }
        self = element
    }

    /// Writes the element as the API has it.
    public func encode(to encoder: any Encoder) throws {
        guard let object = JSONObject(text: self.jsonText) else {
            throw EncodingError.invalidValue(
                self, .init(codingPath: encoder.codingPath, debugDescription: "One of its fields is no JSON."))
        }
        try object.encode(to: encoder)
    }
}

/// A name in an object.
private struct MemberName: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }

    init?(intValue: Int) { nil }
}

extension JSONValue {
    fileprivate func copy(to encoder: any Encoder) throws {
        switch self.kind {
        case .object:
            var container = encoder.container(keyedBy: MemberName.self)
            for (key, value) in self.members {
                try value.copy(to: container.superEncoder(forKey: MemberName(stringValue: key.string ?? "")))
            }
        case .array:
            var container = encoder.unkeyedContainer()
            for element in self.elements { try element.copy(to: container.superEncoder()) }
        default: try self.copyLeaf(to: encoder)
        }
    }

    private func copyLeaf(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let text = self.string {
            try container.encode(text)
        } else if let bool = self.bool {
            try container.encode(bool)
        } else if let integer = self.integer {
            try container.encode(integer)
        } else if let number = self.double {
            try container.encode(number)
        } else {
            try container.encodeNil()
        }
    }
}

extension JSONWriter {
    fileprivate mutating func copy(_ decoder: any Decoder) throws {
        if let container = try? decoder.container(keyedBy: MemberName.self) {
            self.beginObject()
            // Decoders have no order of names: with one, equal objects are equal texts.
            for key in container.allKeys.sorted(by: { $0.stringValue < $1.stringValue }) {
                self.key(string: key.stringValue)
                try self.copy(container.superDecoder(forKey: key))
            }
            self.endObject()
        } else if var container = try? decoder.unkeyedContainer() {
            self.beginArray()
            while !container.isAtEnd { try self.copy(container.superDecoder()) }
            self.endArray()
        } else {
            try self.copyLeaf(decoder)
        }
    }

    private mutating func copyLeaf(_ decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self.null()
        } else if let bool = try? container.decode(Bool.self) {
            self.value(bool)
        } else if let integer = try? container.decode(Int64.self) {
            self.value(integer)
        } else if let number = try? container.decode(Double.self) {
            self.value(number)
        } else {
            self.value(try container.decode(String.self))
        }
    }
}
