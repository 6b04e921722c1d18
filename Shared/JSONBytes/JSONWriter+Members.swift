/// A value that has one JSON text.
public protocol JSONEncodable {
    func encode(into writer: inout JSONWriter)
}

extension JSONEncodable {
    public var jsonText: [UInt8] {
        var writer = JSONWriter()
        self.encode(into: &writer)
        return writer.bytes
    }
}

extension String: JSONEncodable {
    public func encode(into writer: inout JSONWriter) { writer.value(self) }
}

extension Bool: JSONEncodable {
    public func encode(into writer: inout JSONWriter) { writer.value(self) }
}

extension Int: JSONEncodable {
    public func encode(into writer: inout JSONWriter) { writer.value(self) }
}

extension Int64: JSONEncodable {
    public func encode(into writer: inout JSONWriter) { writer.value(self) }
}

extension UInt64: JSONEncodable {
    public func encode(into writer: inout JSONWriter) { writer.value(self) }
}

extension Double: JSONEncodable {
    public func encode(into writer: inout JSONWriter) { writer.value(self) }
}

/// Nil is `null`.
extension Optional: JSONEncodable where Wrapped: JSONEncodable {
    @inlinable
    public func encode(into writer: inout JSONWriter) {
        if let value = self { value.encode(into: &writer) } else { writer.null() }
    }
}

extension Array: JSONEncodable where Element: JSONEncodable {
    public func encode(into writer: inout JSONWriter) {
        writer.beginArray()
        for value in self { value.encode(into: &writer) }
        writer.endArray()
    }
}

/// Members of the open object; their names need no escaping.
extension JSONWriter {
    /// Writes a member.
    @inlinable
    public mutating func member(_ name: StaticString, _ value: some JSONEncodable) {
        self.key(name)
        value.encode(into: &self)
    }

    /// Writes a member, or nothing when the value is nil.
    @inlinable
    public mutating func member(_ name: StaticString, ifPresent value: (some JSONEncodable)?) {
        if let value { self.member(name, value) }
    }

    /// Writes a member whose value is JSON text already, unchecked; an empty text is null.
    @inlinable
    public mutating func member(_ name: StaticString, raw json: some Collection<UInt8>) {
        self.key(name)
        if json.isEmpty { self.null() } else { self.raw(json) }
    }

    /// Writes a member that is an object.
    public mutating func object(_ name: StaticString, _ members: (inout JSONWriter) -> Void) {
        self.key(name)
        self.object(members)
    }

    /// Writes a member that is an array with an object for each item.
    public mutating func objects<Item>(
        _ name: StaticString, _ items: some Sequence<Item>, _ members: (Item, inout JSONWriter) -> Void
    ) {
        self.key(name)
        self.beginArray()
        for item in items { self.object { members(item, &$0) } }
        self.endArray()
    }

    /// The text of one object.
    /// - Parameter capacity: about how many bytes it will have.
    public static func text(reserving capacity: Int = 256, _ members: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter(reserving: capacity)
        writer.object(members)
        return writer.bytes
    }

    /// The text of one object, and a line feed.
    package static func line(_ members: (inout JSONWriter) -> Void) -> String {
        String(decoding: self.text(members), as: UTF8.self) + "\n"
    }

    /// Writes an object.
    public mutating func object(_ members: (inout JSONWriter) -> Void) {
        self.beginObject()
        members(&self)
        self.endObject()
    }
}
