/// Decodes the binary format to Swift values. Nothing here traps: bytes of the wrong size or type return nil.
enum FieldDecoding {
    static func integer(_ bytes: UnsafeRawBufferPointer, _ type: PostgresType) -> Int64? {
        var rest = bytes
        switch (type, bytes.count) {
        case (.int2, 2): return (BinaryArrayReader.read(from: &rest) as Int16?).map(Int64.init)
        case (.int4, 4): return (BinaryArrayReader.read(from: &rest) as Int32?).map(Int64.init)
        case (.int8, 8): return BinaryArrayReader.read(from: &rest)
        default: return nil
        }
    }

    static func float8(_ bytes: UnsafeRawBufferPointer, _ type: PostgresType) -> Double? {
        guard type == .float8, bytes.count == 8 else { return nil }
        var rest = bytes
        return (BinaryArrayReader.read(from: &rest) as UInt64?).map(Double.init(bitPattern:))
    }

    static func bool(_ bytes: UnsafeRawBufferPointer, _ type: PostgresType) -> Bool? {
        guard type == .bool, bytes.count == 1 else { return nil }
        return bytes[0] != 0
    }

    /// UTF-8 only; the server converts from other database encodings.
    static func text(_ bytes: UnsafeRawBufferPointer, _ type: PostgresType) -> String? {
        switch type {
        case .text, .varchar, .name, .json, .bpchar, .unknown: String(validating: bytes, as: UTF8.self)
        case .jsonb: payload(bytes, type).flatMap { String(validating: $0, as: UTF8.self) }
        default: nil
        }
    }

    /// The bytes without jsonb's version byte; nil for an unknown version of jsonb.
    static func payload(_ bytes: UnsafeRawBufferPointer, _ type: PostgresType) -> UnsafeRawBufferPointer? {
        guard type == .jsonb else { return bytes }
        guard bytes.first == 1 else { return nil }
        return UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
    }

    static func timestamptz(_ bytes: UnsafeRawBufferPointer, _ type: PostgresType) -> Int64? {
        var rest = bytes
        // The extremes represent the infinities, and overflow here on one side; neither is a time.
        guard type == .timestamptz, bytes.count == 8, let value: Int64 = BinaryArrayReader.read(from: &rest),
            value != .min, value != .max
        else { return nil }
        let (shifted, overflow) = value.addingReportingOverflow(Parameters.epochShift)
        return overflow ? nil : shifted
    }
}

extension PostgresType {
    static let bpchar = PostgresType(oid: 1042)
    static let unknown = PostgresType(oid: 705)
}
