/// The bound parameters of one request, in one reusable buffer.
///
/// Values are sent in PostgreSQL's binary format (`append(int8:)` and so on) or as text (`append(textFormat:type:)`);
/// nothing is ever spliced into SQL. A value must have exactly the type of the statement's parameter.
package struct Parameters: Sendable {
    struct Entry: Sendable {
        var offset: Int
        /// -1 is NULL.
        var length: Int32
        var isBinary: Bool
        var type: PostgresType
    }

    /// Microseconds from 1970 to 2000, PostgreSQL's epoch.
    static let epochShift: Int64 = 946_684_800_000_000
    /// The maximum size of a field (a limit of the server), bytes.
    static let maximumLength = 1 << 30

    private(set) var entries: [Entry] = []
    // The buffer begins with one byte, so that an empty value has an address too.
    private(set) var bytes: [UInt8] = [0]
    /// Set when a value cannot be sent; the request is then rejected without reaching the server.
    private(set) var refusal: PostgresError?

    /// No parameters.
    package init() {}

    /// The number of parameters.
    package var count: Int { entries.count }

    /// The size of all values, bytes.
    package var byteCount: Int { bytes.count - 1 }

    /// Removes the parameters and keeps the storage.
    package mutating func removeAll() {
        entries.removeAll(keepingCapacity: true)
        bytes.removeSubrange(1...)
        refusal = nil
    }

    /// smallint
    package mutating func append(int2 value: Int16?) {
        append(integer: value, .int2)
    }

    /// integer
    package mutating func append(int4 value: Int32?) {
        append(integer: value, .int4)
    }

    /// bigint
    package mutating func append(int8 value: Int64?) {
        append(integer: value, .int8)
    }

    /// double precision; NaN and infinities are preserved.
    package mutating func append(float8 value: Double?) {
        append(integer: value?.bitPattern, .float8)
    }

    /// boolean
    package mutating func append(bool value: Bool?) {
        append(integer: value.map { $0 ? 1 as UInt8 : 0 }, .bool)
    }

    /// text; the server rejects NUL (22021).
    package mutating func append(text value: String?) {
        append(value?.utf8, .text)
    }

    /// text from bytes that should be UTF-8; the server rejects others (22021).
    package mutating func append(text value: some Collection<UInt8>) {
        append(value, .text)
    }

    /// bytea
    package mutating func append(bytea value: [UInt8]?) {
        append(value, .bytea)
    }

    /// json: its text, stored unchanged.
    package mutating func append(json value: [UInt8]?) {
        append(value, .json)
    }

    /// jsonb: its text, parsed by the server.
    package mutating func append(jsonb value: [UInt8]?) {
        guard let value else { return appendNull(.jsonb) }
        bytes.append(1)  // The version of the format.
        append(value, .jsonb)
        entries[entries.count - 1].offset -= 1
        entries[entries.count - 1].length += 1
    }

    /// timestamp with time zone, in microseconds since 1970-01-01 UTC.
    package mutating func append(timestamptz value: Int64?) {
        guard let value else { return appendNull(.timestamptz) }
        let (shifted, overflow) = value.subtractingReportingOverflow(Self.epochShift)
        if overflow { refusal = PostgresError(.numericOutOfRange, "timestamp out of range", outcome: .notExecuted) }
        append(integer: shifted, .timestamptz)
    }

    /// An array; it is copied, so the builder can be reused immediately.
    package mutating func append(array: BinaryArray) {
        let start = bytes.count
        array.write(into: &bytes)
        finish(from: start, .array(of: array.elementType))
        if array.isTooLarge { refuseSize() }
    }

    /// A value in text format, for types without their own method; one that contains NUL is rejected (22021).
    package mutating func append(textFormat value: String?, type: PostgresType = .unspecified) {
        guard let value else { return appendNull(type) }
        append(value.utf8, type)
        entries[entries.count - 1].isBinary = false
        bytes.append(0)  // libpq reads text up to its NUL.
        if value.utf8.contains(0) {
            refusal = PostgresError(.invalidByteSequence, "NUL in a text parameter", outcome: .notExecuted)
        }
    }

    /// NULL
    package mutating func appendNull(_ type: PostgresType = .unspecified) {
        entries.append(Entry(offset: 0, length: -1, isBinary: true, type: type))
    }

    private mutating func append<Value: FixedWidthInteger>(integer value: Value?, _ type: PostgresType) {
        guard let value else { return appendNull(type) }
        let start = bytes.count
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
        finish(from: start, type)
    }

    private mutating func append(_ value: (some Collection<UInt8>)?, _ type: PostgresType) {
        guard let value else { return appendNull(type) }
        let start = bytes.count
        if value.count < Self.maximumLength { bytes.append(contentsOf: value) } else { refuseSize() }
        finish(from: start, type)
    }

    private mutating func finish(from start: Int, _ type: PostgresType) {
        let length = bytes.count - start
        if length >= Self.maximumLength { refuseSize() }
        entries.append(Entry(offset: start, length: Int32(clamping: length), isBinary: true, type: type))
    }

    private mutating func refuseSize() {
        refusal = PostgresError(.limitExceeded, "a parameter is larger than 1 GiB", outcome: .notExecuted)
    }
}
