/// The elements of an array in the first row of a result, in the binary format that ``BinaryArray`` writes.
///
/// Every accessor returns nil for NULL, for another type, and for an element that does not exist.
package struct ResultArray: Sendable {
    /// The number of elements, including NULLs.
    package var count: Int { places.count }

    private let rows: ResultRows
    private let column: Int
    private let elementType: PostgresType
    /// The elements' places in the field; nil: NULL.
    private let places: [Range<Int>?]

    /// The array of this name; one without elements for NULL.
    /// - Throws: 42703 naming the column when the result does not have it, 08P01 when its value is no array of one dimension.
    package init(_ name: String, of rows: ResultRows) throws(PostgresError) {
        self.rows = rows
        column = try rows.column(name)
        var header: (type: PostgresType, places: [Range<Int>?])? = (.unspecified, [])
        if !rows.isNull(0, column) { header = rows.withBytes(0, column, Self.places) ?? nil }
        guard let header else { throw PostgresError(.protocolViolation, "\(name) is no array of one dimension") }
        (elementType, places) = header
    }

    private static func places(_ bytes: UnsafeRawBufferPointer) -> (PostgresType, [Range<Int>?])? {
        func integer(_ offset: Int) -> Int {
            Int(Int32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self)))
        }
        guard bytes.count >= 12 else { return nil }
        let type = PostgresType(oid: UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt32.self)))
        let dimensions = integer(0)
        if dimensions == 0 { return (type, []) }
        guard dimensions == 1, bytes.count >= 20 else { return nil }
        let size = integer(12)
        // Each element has a length.
        guard size >= 0, size <= (bytes.count - 20) / 4 else { return nil }
        var (places, offset): ([Range<Int>?], Int) = ([], 20)
        places.reserveCapacity(size)
        for _ in 0..<size {
            guard offset + 4 <= bytes.count else { return nil }
            let length = integer(offset)
            offset += 4
            guard length >= 0 else {
                places.append(nil)
                continue
            }
            guard length <= bytes.count - offset else { return nil }
            places.append(offset..<offset + length)
            offset += length
        }
        return (type, places)
    }

    /// bigint, integer or smallint
    package func int8(_ index: Int) -> Int64? { decode(index, FieldDecoding.integer) }

    /// text, varchar, char, name, json
    package func text(_ index: Int) -> String? { decode(index, FieldDecoding.text) }

    /// The raw bytes of any type.
    package func bytes(_ index: Int) -> [UInt8]? { withBytes(index) { [UInt8]($0) } }

    /// The raw bytes of an element without a copy, only valid inside `body`; nil for NULL.
    package func withBytes<Value, Failure: Error>(
        _ index: Int, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value? {
        guard places.indices.contains(index), let place = places[index] else { return nil }
        return try rows.withBytes(0, column) { bytes throws(Failure) in
            try body(UnsafeRawBufferPointer(rebasing: bytes[place]))
        }
    }

    private func decode<Value>(_ index: Int, _ read: (UnsafeRawBufferPointer, PostgresType) -> Value?) -> Value? {
        withBytes(index) { read($0, elementType) } ?? nil
    }
}
