import Wire

/// The fields of a record alone, without the envelope.
func encode(_ record: some WireRecord) -> [UInt8] {
    var writer = ByteWriter()
    record.encode(into: &writer)
    return writer.bytes
}

/// Reads a record from its fields.
func decode<Record: WireRecord>(_ type: Record.Type, _ bytes: [UInt8]) throws(EnvelopeError) -> Record {
    let result = bytes.withUnsafeBytes { bytes in
        Result { () throws(EnvelopeError) in try EnvelopeReader.decode(type, ByteReader(bytes)) }
    }
    return try result.get()
}

/// True when the bytes read as a record like the given one.
func decodesTheSame<Record: WireRecord & Equatable>(_ record: Record, _ bytes: [UInt8]) -> Bool {
    (try? decode(Record.self, bytes)) == record
}

/// True when the bytes read as some record of the given one's kind.
func decodes<Record: WireRecord>(as record: Record, _ bytes: [UInt8]) -> Bool {
    (try? decode(Record.self, bytes)) != nil
}

/// A record of an envelope, still encoded.
struct RawRecord: Equatable {
    var kind: RecordKind
    var fields: [UInt8]
}

/// Walks over a whole envelope.
func read(_ bytes: [UInt8]) throws(EnvelopeError) -> [RawRecord] {
    let result = bytes.withUnsafeBytes { bytes in
        Result { () throws(EnvelopeError) in
            var records: [RawRecord] = []
            var reader = try EnvelopeReader(bytes)
            while let (kind, rest) = try reader.next() {
                var fields = rest
                let slice = fields.bytes(fields.remaining)
                records.append(RawRecord(kind: kind, fields: Array(slice ?? .init(start: nil, count: 0))))
            }
            return records
        }
    }
    return try result.get()
}

/// Lower-case hex with a space between bytes.
func hex(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef")
    return bytes.map { "\(digits[Int($0 >> 4)])\(digits[Int($0 & 15)])" }.joined(separator: " ")
}

/// The bytes that such hex stands for.
func bytes(_ hex: String) -> [UInt8] {
    hex.split(separator: " ").compactMap { UInt8($0, radix: 16) }
}
