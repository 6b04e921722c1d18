/// The bound parameters of one request, in one reusable buffer.
///
/// Values are sent in PostgreSQL's binary format; nothing is ever spliced into SQL. A value must have exactly the type
/// of the statement's parameter.
package struct Parameters: Sendable {
    struct Entry: Sendable {
        var offset: Int
        /// -1 is NULL.
        var length: Int32
        var type: PostgresType
    }

    /// The maximum size of a field (a limit of the server), bytes.
    static let maximumLength = 1 << 30

    private(set) var entries: [Entry] = []
    // The buffer begins with one byte, so that an empty value has an address too.
    private(set) var bytes: [UInt8] = [0]
    /// Set when a value cannot be sent; the request is then rejected without reaching the server.
    private(set) var refusal: PostgresError?

    package init() {}

    package var count: Int { entries.count }

    /// The size of all values, bytes.
    package var byteCount: Int { bytes.count - 1 }

    /// Removes the parameters and keeps the storage.
    package mutating func removeAll() {
        entries.removeAll(keepingCapacity: true)
        bytes.removeSubrange(1...)
        refusal = nil
    }

    package mutating func append(int2 value: Int16?) {
        append(integer: value, .int2)
    }

    package mutating func append(int4 value: Int32?) {
        append(integer: value, .int4)
    }

    package mutating func append(int8 value: Int64?) {
        append(integer: value, .int8)
    }

    /// text; the server rejects NUL (22021).
    package mutating func append(text value: String?) {
        append(value?.utf8, .text)
    }

    /// An array; it is copied, so the builder can be reused immediately.
    package mutating func append(array: BinaryArray) {
        let start = bytes.count
        array.write(into: &bytes)
        finish(from: start, .array(of: array.elementType))
        if array.isTooLarge { refuseSize() }
    }

    private mutating func appendNull(_ type: PostgresType) {
        entries.append(Entry(offset: 0, length: -1, type: type))
    }

    private mutating func append<Value: FixedWidthInteger>(integer value: Value?, _ type: PostgresType) {
        guard let value else { return appendNull(type) }
        let start = bytes.count
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
        finish(from: start, type)
    }

    mutating func append(_ value: (some Collection<UInt8>)?, _ type: PostgresType) {
        guard let value else { return appendNull(type) }
        let start = bytes.count
        if value.count < Self.maximumLength { bytes.append(contentsOf: value) } else { refuseSize() }
        finish(from: start, type)
    }

    private mutating func finish(from start: Int, _ type: PostgresType) {
        let length = bytes.count - start
        if length >= Self.maximumLength { refuseSize() }
        entries.append(Entry(offset: start, length: Int32(clamping: length), type: type))
    }

    private mutating func refuseSize() {
        refusal = PostgresError(.limitExceeded, "a parameter is larger than 1 GiB", outcome: .notExecuted)
    }
}
