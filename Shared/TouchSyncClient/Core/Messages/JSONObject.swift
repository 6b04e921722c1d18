import Canvas
public import JSONBytes

/// A JSON object: its text, and its members at hand.
public struct JSONObject: CustomStringConvertible, Sendable {
    package let value: JSONValue

    /// The object without members.
    public static let empty = JSONObject { _ in }

    /// A value of a document where an object is expected: `empty` if it is something else, or missing.
    public init(_ value: JSONValue?) {
        if let value, value.kind == .object { self.value = value } else { self = .empty }
    }

    /// An object of the members that are written; their names must be unique.
    public init(_ members: (inout JSONWriter) -> Void) {
        self.value = JSONValue(clientText: JSONWriter.text(members)) ?? Self.empty.value
    }

    /// The object with this text; nil if the text is anything else.
    public init?(text: [UInt8]) {
        guard let value = JSONValue(clientText: text), value.kind == .object else { return nil }
        self.value = value
    }

    /// A member's value; nil if there is none of that name.
    public subscript(_ name: String) -> JSONValue? { self.value[name] }

    /// The members in the order of the text.
    public var members: JSONValue.Members { self.value.members }

    /// The text, UTF-8.
    public var text: ArraySlice<UInt8> { self.value.rawBytes }
    public var description: String { String(decoding: self.text, as: UTF8.self) }

    /// Writes the members into the open object, except some names.
    func encodeMembers(into writer: inout JSONWriter, except names: [String] = []) {
        for (key, value) in self.members where !names.contains(where: { key.isString($0) }) {
            writer.key(string: key.string ?? "")
            writer.raw(value.rawBytes)
        }
    }
}

extension JSONObject: Equatable {
    /// Compares the texts bytewise.
    public static func == (left: JSONObject, right: JSONObject) -> Bool { left.text == right.text }
}

extension JSONObject: JSONEncodable {
    /// Writes the text.
    public func encode(into writer: inout JSONWriter) { writer.raw(self.text) }
}

extension JSONValue {
    /// The value of a text from the server or the app; nil if it is no JSON.
    package init?(clientText text: some Collection<UInt8>) {
        var document = JSONDocument()
        do { try document.parse(text, limits: .client) } catch { return nil }
        self = document.root
    }

    /// The objects of an array, without what is something else.
    package var objects: [JSONValue] { self.elements.filter { $0.kind == .object } }

    /// The strings of an array, without what is something else.
    package var strings: [String] { self.elements.compactMap(\.string) }

    /// A time or span, ms: not negative, and small enough to be added to another one.
    var milliseconds: Int64? {
        guard let number = self.double, number >= 0 else { return nil }
        return Int64(min(number, 1e15).rounded(.up))
    }

    /// `{x, y}`; nil if a coordinate is missing.
    var point: Point? {
        guard let x = self["x"]?.double, let y = self["y"]?.double else { return nil }
        return Point(x: x, y: y)
    }
}

extension JSONLimits {
    /// What the server sends is as large as it chooses; only the nesting is limited, which is recursion.
    static let client: JSONLimits = {
        var limits = JSONLimits.wellFormed
        // What one app may send, inside the answer to another one's join.
        limits.depth = 64
        return limits
    }()
}
