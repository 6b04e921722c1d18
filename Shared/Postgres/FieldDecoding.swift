/// Decodes the binary format to Swift values. Nothing here traps: bytes of the wrong size or type return nil.
enum FieldDecoding {
    static func integer(_ bytes: UnsafeRawBufferPointer, _ type: PostgresType) -> Int64? {
        switch (type, bytes.count) {
        case (.int2, 2): Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
        case (.int4, 4): Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
        case (.int8, 8): Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
        default: nil
        }
    }

    static func float8(_ bytes: UnsafeRawBufferPointer, _ type: PostgresType) -> Double? {
        guard type == .float8, bytes.count == 8 else { return nil }
        return Double(bitPattern: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)))
    }

    static func bool(_ bytes: UnsafeRawBufferPointer, _ type: PostgresType) -> Bool? {
        guard type == .bool, bytes.count == 1 else { return nil }
        return bytes[0] != 0
    }

    /// UTF-8 only; the server converts from other database encodings.
    static func text(_ bytes: UnsafeRawBufferPointer, _ type: PostgresType) -> String? {
        switch type {
        case .text, .varchar, .name, .json, .bpchar, .unknown: String(validating: bytes, as: UTF8.self)
        default: nil
        }
    }
}
