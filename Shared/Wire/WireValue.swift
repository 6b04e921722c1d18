public import Canvas

/// A value that is written in one way wherever it stands. Records that are not frequent name their fields once for writing
/// and once for reading.
protocol WireValue {
    init(from reader: inout ByteReader)
    func encode(into writer: inout ByteWriter)
    static func list(from reader: inout ByteReader) -> [Self]
    static func encode(_ list: [Self], into writer: inout ByteWriter)
}

extension WireValue {
    static func list(from reader: inout ByteReader) -> [Self] { reader.list { Self(from: &$0) } }
    static func encode(_ list: [Self], into writer: inout ByteWriter) { writer.list(list) { $0.encode(into: &$1) } }
}

extension ByteWriter {
    /// Appends fields, one after the other.
    mutating func fields<each Value: WireValue>(_ values: repeat each Value) {
        repeat (each values).encode(into: &self)
    }
}

extension ByteReader {
    /// Reads what ``ByteWriter/fields(_:)`` wrote.
    mutating func fields<each Value: WireValue>() -> (repeat each Value) {
        (repeat (each Value)(from: &self))
    }

    /// Fails unless these are positions in an order, see ``ordinal()``.
    mutating func check(ordinals values: UInt64...) {
        if values.contains(where: { $0 > UInt64(Int64.max) }) { self.fail() }
    }
}

extension WireValue where Self: FixedWidthInteger {
    init(from reader: inout ByteReader) { self = reader.integer() }
    func encode(into writer: inout ByteWriter) { writer.integer(self) }
}

extension UInt16: WireValue {}
extension UInt32: WireValue {}
extension UInt64: WireValue {}

/// Bytes are a blob.
extension UInt8: WireValue {
    static func list(from reader: inout ByteReader) -> [UInt8] { reader.blob() }
    static func encode(_ list: [UInt8], into writer: inout ByteWriter) { writer.blob(list) }
}

extension Bool: WireValue {
    init(from reader: inout ByteReader) { self = reader.bool() }
    func encode(into writer: inout ByteWriter) { writer.bool(self) }
}

extension String: WireValue {
    init(from reader: inout ByteReader) { self = reader.text() }
    func encode(into writer: inout ByteWriter) { writer.text(self) }
}

extension Identifier: WireValue {
    init(from reader: inout ByteReader) { self = reader.name() }
    func encode(into writer: inout ByteWriter) { writer.name(self) }
}

extension Point: WireValue {
    init(from reader: inout ByteReader) { self = reader.point() }
    func encode(into writer: inout ByteWriter) { writer.point(self) }
}

extension Array: WireValue where Element: WireValue {
    init(from reader: inout ByteReader) { self = Element.list(from: &reader) }
    func encode(into writer: inout ByteWriter) { Element.encode(self, into: &writer) }
}

/// Whether there is a value u8, the value if so.
extension Optional: WireValue where Wrapped: WireValue {
    init(from reader: inout ByteReader) { self = reader.bool() ? Wrapped(from: &reader) : nil }

    func encode(into writer: inout ByteWriter) {
        writer.bool(self != nil)
        self?.encode(into: &writer)
    }
}

/// Whether it was refused u8, then the refusal or the value.
extension Result: WireValue where Success: WireValue, Failure == Refusal {
    init(from reader: inout ByteReader) {
        self = reader.bool() ? .failure(reader.refusal()) : .success(Success(from: &reader))
    }

    func encode(into writer: inout ByteWriter) {
        switch self {
        case .failure(let refusal):
            writer.bool(true)
            writer.refusal(refusal)
        case .success(let value):
            writer.bool(false)
            value.encode(into: &writer)
        }
    }
}
