/// One parsed and fully validated document. It owns a copy of the text and a flat tape of its values, so that views
/// into it stay valid as long as they are kept.
///
/// Parse again to reuse the storage: then nothing is allocated, unless a view of the previous document is still alive
/// (it retains its storage). Parsing is a single pass; for given limits its time is linear in the text's length for any
/// text. Storage grows to the largest document parsed; drop the value to free it.
public struct JSONDocument: Sendable {
    /// The number of zero bytes after the text, see `JSONLexer`.
    private static let padding = 8

    private var bytes: [UInt8] = []
    private var nodes: [JSONNode] = []

    /// A document whose root is null until something is parsed.
    public init() {}

    /// Parses exactly one JSON value (RFC 8259) with white space around it. After an error the root is null.
    ///
    /// Stricter than the RFC where that leaves a choice: no byte order mark and, unless `limits` says otherwise, no
    /// duplicate keys, no number outside the range of a double, no lone surrogates, no `\u0000`.
    public mutating func parse(_ text: UnsafeRawBufferPointer, limits: JSONLimits = .default) throws(JSONError) {
        self.nodes.removeAll(keepingCapacity: true)
        guard text.count < Int(UInt32.max) - Self.padding else { throw JSONError(reason: .tooLong, offset: 0) }
        self.bytes.removeAll(keepingCapacity: true)
        self.bytes.reserveCapacity(text.count + Self.padding)
        self.bytes.append(contentsOf: text)
        self.bytes.append(contentsOf: repeatElement(0, count: Self.padding))
        let failure = Self.scan(self.bytes, count: text.count, limits: limits, into: &self.nodes)
        if failure != nil { self.nodes.removeAll(keepingCapacity: true) }
        if let failure { throw failure }
    }

    /// Parses any other bytes (an array, a slice, a string's UTF-8 view), see `parse(_:limits:)`.
    public mutating func parse(_ text: some Collection<UInt8>, limits: JSONLimits = .default) throws(JSONError) {
        let outcome = text.withContiguousStorageIfAvailable { bytes -> Result<Void, JSONError> in
            Result { () throws(JSONError) in try self.parse(UnsafeRawBufferPointer(bytes), limits: limits) }
        }
        if let outcome { return try outcome.get() }
        try Array(text).withUnsafeBytes { bytes -> Result<Void, JSONError> in
            Result { () throws(JSONError) in try self.parse(bytes, limits: limits) }
        }.get()
    }

    /// Parses a text that may break rules beyond those of JSON: if it is well-formed, but exceeds one of the `limits` or
    /// contains what these do not allow, it is parsed without these rules, so that an answer can name what it asks for, and
    /// the place of the fault (``JSONValue/path(toByte:from:)``). Of a key that is given twice the first one is found.
    /// - Returns: the first such fault, nil if there is none.
    /// - Throws: an error of any other kind.
    public mutating func parseWellFormed(
        _ text: [UInt8], limits: JSONLimits = .default
    ) throws(JSONError) -> JSONError? {
        do throws(JSONError) {
            try self.parse(text, limits: limits)
            return nil
        } catch {
            guard error.reason.isOfWellFormedText else { throw error }
            try self.parse(text, limits: limits.wellFormed)
            return error
        }
    }

    /// The document's value; null before the first successful parse and after a failed one.
    public var root: JSONValue { JSONValue(bytes: self.bytes, nodes: self.nodes, index: 0) }

    private static func scan(_ bytes: [UInt8], count: Int, limits: JSONLimits, into nodes: inout [JSONNode])
        -> JSONError?
    {
        bytes.withUnsafeBytes { padded -> JSONError? in
            guard let text = padded.baseAddress else { return JSONError(reason: .unexpectedEnd, offset: 0) }
            var scanner = JSONScanner(text: text, count: count, limits: limits)
            // The tape is moved into the scanner and back, so that it is never shared and never copied.
            swap(&scanner.nodes, &nodes)
            defer { swap(&scanner.nodes, &nodes) }
            do throws(JSONError) {
                try scanner.document()
                return nil
            } catch {
                return error
            }
        }
    }
}

extension JSONValue {
    /// The value of a text that is parsed for it alone, see ``JSONDocument/parse(_:limits:)``.
    package init(parsing text: some Collection<UInt8>, limits: JSONLimits = .default) throws(JSONError) {
        var document = JSONDocument()
        try document.parse(text, limits: limits)
        self = document.root
    }
}

/// One value on the tape. A container is followed by its children, an object's children are key, value, key, value.
struct JSONNode {
    var kind: JSONValue.Kind
    /// Set for a string with at least one backslash, and for a number without fraction and exponent.
    var flag: Bool
    /// The first byte of the value's text, including quotes, braces and brackets.
    var start: UInt32
    /// One past the last byte of the value's text.
    var end: UInt32
    /// The index of the first node after this value and its children. While a container is open: its parent.
    var next: UInt32
    /// A container's count, a number's bit pattern, a bool's 0 or 1, a key's signature.
    var payload: UInt64

    /// The node of a missing value.
    static let missing = JSONNode(kind: .null, flag: false, start: 0, end: 0, next: 1, payload: 0)
}
