/// A one-dimensional array parameter, built element by element in PostgreSQL's binary format.
///
///     int32  dimensions   1, or 0 when empty (then the next two fields end the value)
///     int32  flags        1 when an element is NULL
///     int32  element type object id
///     int32  size
///     int32  lower bound  1
///     then for each element:  int32 length (-1 = NULL)   bytes
///
/// All integers are big-endian (PostgreSQL source, arrayfuncs.c `array_send`). The `append` used must match the element
/// type: a mismatch is a programming error and traps.
package struct BinaryArray: Sendable {
    package private(set) var elementType: PostgresType
    /// The number of elements, including NULLs.
    package private(set) var count = 0
    private(set) var isTooLarge = false
    private var hasNull = false
    private var body: [UInt8] = []

    package init(of elementType: PostgresType) {
        self.elementType = elementType
    }

    /// Removes the elements and keeps the storage, for elements of another type.
    package mutating func removeAll(for elementType: PostgresType) {
        self.elementType = elementType
        removeAll()
    }

    /// Removes the elements and keeps the storage.
    package mutating func removeAll() {
        count = 0
        isTooLarge = false
        hasNull = false
        body.removeAll(keepingCapacity: true)
    }

    package mutating func append(int4 value: Int32?) {
        append(integer: value, .int4)
    }

    package mutating func append(int8 value: Int64?) {
        append(integer: value, .int8)
    }

    package mutating func append(float8 value: Double?) {
        append(integer: value?.bitPattern, .float8)
    }

    package mutating func append(bool value: Bool?) {
        append(integer: value.map { $0 ? 1 as UInt8 : 0 }, .bool)
    }

    package mutating func append(text value: String?) {
        precondition(elementType == .text)
        append(value?.utf8)
    }

    package mutating func append(json value: [UInt8]?) {
        precondition(elementType == .json)
        append(value)
    }

    /// json that `write` appends to the given bytes.
    package mutating func appendJSON(_ write: (inout [UInt8]) -> Void) {
        precondition(elementType == .json)
        let start = body.count
        appendLength(0)
        write(&body)
        let length = body.count - start - 4
        if length >= Parameters.maximumLength { isTooLarge = true }
        withUnsafeBytes(of: Int32(clamping: length).bigEndian) { body.replaceSubrange(start..<(start + 4), with: $0) }
        count += 1
    }

    package mutating func appendNull() {
        hasNull = true
        count += 1
        Self.write(Int32(-1), into: &body)
    }

    /// Appends the whole value to a buffer.
    package func write(into bytes: inout [UInt8]) {
        bytes.reserveCapacity(bytes.count + 20 + body.count)
        Self.write(count == 0 ? 0 : 1 as Int32, into: &bytes)
        Self.write(hasNull ? 1 : 0 as Int32, into: &bytes)
        Self.write(elementType.oid, into: &bytes)
        guard count > 0 else { return }
        Self.write(Int32(clamping: count), into: &bytes)
        Self.write(1 as Int32, into: &bytes)
        bytes.append(contentsOf: body)
    }

    private mutating func append<Value: FixedWidthInteger>(integer value: Value?, _ type: PostgresType) {
        precondition(elementType == type)
        guard let value else { return appendNull() }
        appendLength(MemoryLayout<Value>.size)
        Self.write(value, into: &body)
        count += 1
    }

    private mutating func append(_ value: (some Collection<UInt8>)?) {
        guard let value else { return appendNull() }
        guard value.count < Parameters.maximumLength else {
            isTooLarge = true
            return appendNull()
        }
        appendLength(value.count)
        body.append(contentsOf: value)
        count += 1
    }

    private mutating func appendLength(_ length: Int) {
        Self.write(Int32(clamping: length), into: &body)
    }

    private static func write(_ value: some FixedWidthInteger, into bytes: inout [UInt8]) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }
}
