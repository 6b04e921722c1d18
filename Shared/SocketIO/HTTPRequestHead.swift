internal import JSONBytes

/// The head of one HTTP/1.1 request: one copy of its bytes, and the ranges of its parts.
///
/// Stored this way because only two or three fields of most requests are read; strings are created on demand.
public struct HTTPRequestHead: Sendable {
    struct Field: Sendable {
        var name: Range<Int>
        var value: Range<Int>

        /// Reads the line of a field, without its end; `nil` if it is malformed.
        init?(line: ArraySlice<UInt8>) {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
                line[..<colon].allSatisfy(HTTPGrammar.isToken)
            else { return nil }
            let value = HTTPRequestHead.trim(line[(colon + 1)...])
            guard value.allSatisfy(HTTPGrammar.isFieldContent) else { return nil }
            self.name = line.startIndex..<colon
            self.value = value.startIndex..<value.endIndex
        }
    }

    let bytes: [UInt8]
    let methodRange: Range<Int>
    let pathRange: Range<Int>
    let queryRange: Range<Int>
    let fields: [Field]
    /// Whether the client speaks HTTP/1.1 (else 1.0).
    public let isHTTP11: Bool
    /// Bytes of body announced by Content-Length; 0 if none.
    public internal(set) var contentLength = 0
    public internal(set) var isChunked = false

    /// The method as sent, such as "GET".
    public var method: String { self.text(self.methodRange) }
    /// The path as sent, still percent-encoded, without the query.
    public var path: String { self.text(self.pathRange) }
    public var pathBytes: ArraySlice<UInt8> { self.bytes[self.pathRange] }
    /// The size of the head, bytes.
    public var byteCount: Int { self.bytes.count }
    public var hasBody: Bool { self.isChunked || self.contentLength > 0 }

    public func isMethod(_ name: StaticString) -> Bool {
        Self.equal(self.bytes[self.methodRange], name, ignoringCase: false)
    }

    /// The value of the first field called `name` (case-insensitive).
    public func header(_ name: StaticString) -> String? {
        self.headerBytes(name).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The bytes of the value of the first field called `name`.
    public func headerBytes(_ name: StaticString) -> ArraySlice<UInt8>? {
        for field in self.fields where Self.equal(self.bytes[field.name], name, ignoringCase: true) {
            return self.bytes[field.value]
        }
        return nil
    }

    func headers(named name: StaticString) -> [String] {
        self.fields.filter { Self.equal(self.bytes[$0.name], name, ignoringCase: true) }.map { self.text($0.value) }
    }

    public func headerCount(_ name: StaticString) -> Int {
        self.fields.count { Self.equal(self.bytes[$0.name], name, ignoringCase: true) }
    }

    /// Whether any field called `name` lists `token` between commas (case-insensitive).
    public func header(_ name: StaticString, lists token: StaticString) -> Bool {
        self.fields.contains { field in
            Self.equal(self.bytes[field.name], name, ignoringCase: true)
                && self.bytes[field.value].split(separator: UInt8(ascii: ",")).contains {
                    Self.equal(Self.trim($0), token, ignoringCase: true)
                }
        }
    }

    /// The percent-decoded value of the first query parameter `name`; `nil` if absent. Invalid UTF-8 is repaired, so
    /// compare it only with ASCII.
    public func queryValue(_ name: StaticString) -> String? {
        self.queryValueBytes(name).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The percent-decoded bytes of the first query parameter `name`.
    public func queryValueBytes(_ name: StaticString) -> [UInt8]? {
        for item in self.bytes[self.queryRange].split(separator: UInt8(ascii: "&")) {
            let cut = item.firstIndex(of: UInt8(ascii: "=")) ?? item.endIndex
            guard Self.isEncoded(item[..<cut], name) else { continue }
            return cut == item.endIndex ? [] : PercentCoding.decode(item[(cut + 1)...], isForm: true)
        }
        return nil
    }

    /// Whether a name, which may be percent-encoded, is `name`.
    private static func isEncoded(_ text: ArraySlice<UInt8>, _ name: StaticString) -> Bool {
        if self.equal(text, name, ignoringCase: false) { return true }
        guard text.count > name.utf8CodeUnitCount else { return false }
        return self.equal(PercentCoding.decode(text, isForm: true)[...], name, ignoringCase: false)
    }

    /// Whether the connection stays open after the response (RFC 9112 section 9.3).
    public var keepsAlive: Bool {
        if self.header("connection", lists: "close") { return false }
        return self.isHTTP11 || self.header("connection", lists: "keep-alive")
    }

    private func text(_ range: Range<Int>) -> String { String(decoding: self.bytes[range], as: UTF8.self) }

    static func equal(_ bytes: ArraySlice<UInt8>, _ text: StaticString, ignoringCase: Bool) -> Bool {
        guard bytes.count == text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { expected in
            zip(bytes, expected).allSatisfy { left, right in
                left == right || (ignoringCase && Self.lowercased(left) == Self.lowercased(right))
            }
        }
    }

    static func equalIgnoringCase(_ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>) -> Bool {
        left.count == right.count && zip(left, right).allSatisfy { Self.lowercased($0) == Self.lowercased($1) }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 { byte &- 65 < 26 ? byte | 0x20 : byte }

    static func trim(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var bytes = bytes
        while let first = bytes.first, first == 0x20 || first == 0x09 { bytes.removeFirst() }
        while let last = bytes.last, last == 0x20 || last == 0x09 { bytes.removeLast() }
        return bytes
    }
}
