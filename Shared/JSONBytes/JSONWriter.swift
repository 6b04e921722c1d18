/// Appends JSON text to an array of bytes. It inserts commas; the caller is responsible for keys in objects and for
/// matching brackets. Clear it to reuse the storage.
public struct JSONWriter: Sendable {
    /// The text so far.
    public var bytes: [UInt8]
    /// Whether a value precedes the position on the same level.
    @usableFromInline var needsComma = false

    /// An empty text with this capacity, bytes.
    public init(reserving capacity: Int = 256) {
        self.bytes = []
        self.bytes.reserveCapacity(capacity)
    }

    /// Removes the text and keeps the storage.
    public mutating func clear() {
        self.bytes.removeAll(keepingCapacity: true)
        self.needsComma = false
    }

    // MARK: Structure

    public mutating func beginObject() { self.begin(UInt8(ascii: "{")) }
    public mutating func endObject() { self.end(UInt8(ascii: "}")) }
    public mutating func beginArray() { self.begin(UInt8(ascii: "[")) }
    public mutating func endArray() { self.end(UInt8(ascii: "]")) }

    /// Writes a key that needs no escaping: the names of a protocol.
    public mutating func key(_ name: StaticString) {
        name.withUTF8Buffer { self.quote(UnsafeRawBufferPointer($0), isKey: true) }
        self.needsComma = false
    }

    /// Writes a key, escaped.
    public mutating func key(string name: String) {
        self.value(name)
        self.bytes.append(UInt8(ascii: ":"))
        self.needsComma = false
    }

    // MARK: Values

    /// Writes a string: quotes, backslashes and control characters escaped, everything else unchanged.
    public mutating func value(_ string: String) {
        withUTF8(string) { text in
            if Self.nextEscape(text, from: 0) == text.count { return self.quote(text, isKey: false) }
            self.separate()
            self.bytes.append(UInt8(ascii: "\""))
            self.appendEscaped(text)
            self.bytes.append(UInt8(ascii: "\""))
        }
        self.needsComma = true
    }

    public mutating func value(_ bool: Bool) {
        self.literal(bool ? "true" : "false")
    }

    public mutating func null() {
        self.literal("null")
    }

    /// Writes a value that is JSON text already, unchecked.
    @inlinable
    public mutating func raw(_ json: some Collection<UInt8>) {
        self.separate()
        self.append(json)
        self.needsComma = true
    }

    /// Splices members (`"a":1,"b":2`) into the open object, unchecked; nothing if there are none.
    @inlinable
    public mutating func rawMembers(_ text: some Collection<UInt8>) {
        if text.isEmpty { return }
        self.raw(text)
    }

    // MARK: -

    @inlinable
    @inline(__always)
    mutating func separate() {
        if self.needsComma { self.bytes.append(UInt8(ascii: ",")) }
    }

    @inlinable
    mutating func append(_ text: some Collection<UInt8>) {
        let done: Void? = text.withContiguousStorageIfAvailable { self.bytes.append(contentsOf: $0) }
        if done == nil { self.bytes.append(contentsOf: text) }
    }

    private mutating func begin(_ bracket: UInt8) {
        self.separate()
        self.bytes.append(bracket)
        self.needsComma = false
    }

    private mutating func end(_ bracket: UInt8) {
        self.bytes.append(bracket)
        self.needsComma = true
    }

    private mutating func literal(_ name: StaticString) {
        self.separate()
        name.withUTF8Buffer { self.bytes.append(contentsOf: $0) }
        self.needsComma = true
    }

    /// Appends a text that needs no escape in quotes, behind a comma if one is due and before a colon if it is a key. Appending
    /// byte by byte checks the array's capacity and uniqueness each time.
    private mutating func quote(_ text: UnsafeRawBufferPointer, isKey: Bool) {
        self.bytes.append(addingCapacity: text.count + 4) { output in
            output.withUnsafeMutableBufferPointer { buffer, count in
                if self.needsComma {
                    buffer[count] = UInt8(ascii: ",")
                    count += 1
                }
                buffer[count] = UInt8(ascii: "\"")
                let end = count + 1 + text.count
                UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[count + 1..<end])
                    .copyMemory(from: text)
                buffer[end] = UInt8(ascii: "\"")
                count = end + 1
                guard isKey else { return }
                buffer[count] = UInt8(ascii: ":")
                count += 1
            }
        }
    }

    /// Runs that need no escape are copied as a whole.
    private mutating func appendEscaped(_ text: UnsafeRawBufferPointer) {
        var run = 0
        while true {
            let index = Self.nextEscape(text, from: run)
            self.bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: text[run..<index]))
            guard index < text.count else { return }
            let byte = text[index]
            run = index + 1
            self.bytes.append(UInt8(ascii: "\\"))
            switch byte {
            case 0x08: self.bytes.append(UInt8(ascii: "b"))
            case 0x09: self.bytes.append(UInt8(ascii: "t"))
            case 0x0A: self.bytes.append(UInt8(ascii: "n"))
            case 0x0C: self.bytes.append(UInt8(ascii: "f"))
            case 0x0D: self.bytes.append(UInt8(ascii: "r"))
            case 0x20...: self.bytes.append(byte)
            default:
                for character in "u00".utf8 { self.bytes.append(character) }
                for nibble in [byte >> 4, byte & 0xF] {
                    self.bytes.append(nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + nibble - 10)
                }
            }
        }
    }

    /// The position of the next byte that needs an escape, or the end; checks eight bytes at a time.
    private static func nextEscape(_ text: UnsafeRawBufferPointer, from start: Int) -> Int {
        var index = start
        while index + 8 <= text.count {
            let word = UInt64(littleEndian: text.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            let special = JSONLexer.specialBytes(word)
            guard special != 0 else {
                index += 8
                continue
            }
            index += special.trailingZeroBitCount >> 3
            if Self.needsEscape(text[index]) { return index }
            index += 1
        }
        while index < text.count, !Self.needsEscape(text[index]) { index += 1 }
        return index
    }

    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }
}
