/// A single-pass scanner: validates a text completely and writes the tape. No recursion, no allocation but the tape's
/// growth. It keeps the rules of containers and keys; those of tokens are the lexer's.
struct JSONScanner {
    private var lexer: JSONLexer
    private let limits: JSONLimits
    private let seed = KeyHash.processSeed
    var nodes: [JSONNode] = []

    /// Index of the innermost open container, and whether it is an object.
    private var parent = JSONScanner.none
    private var parentIsObject = false
    private var depth = 0

    private static let none = UInt32.max

    /// A scanner of `count` bytes, with zeros behind them as ``JSONLexer`` needs them.
    init(text: UnsafeRawPointer, count: Int, limits: JSONLimits) {
        self.lexer = JSONLexer(text: text, count: count, limits: limits)
        self.limits = limits
    }

    /// Scans the whole document into `nodes`.
    mutating func document() throws(JSONError) {
        while true {
            self.lexer.skipWhitespace()
            // An opened container needs its first value; anything else is complete, and may complete its parents.
            if try self.value() { continue }
            guard try self.afterValue() else { break }
        }
        self.lexer.skipWhitespace()
        if self.lexer.position < self.lexer.count { throw self.lexer.failure(.trailingBytes) }
    }

    // MARK: Structure

    /// Scans a scalar or opens a container. True when a container was opened and its first value comes next. Inlined, like
    /// ``JSONLexer/number()``: each has one caller, and is called for every value.
    @inline(__always)
    private mutating func value() throws(JSONError) -> Bool {
        switch self.lexer.byte {
        case UInt8(ascii: "\""):
            let start = self.lexer.position
            let escaped = try self.lexer.string()
            self.append(.string, from: start, flag: escaped)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            let start = self.lexer.position
            let number = try self.lexer.number()
            self.append(.number, from: start, flag: number.isInteger, payload: number.value.bitPattern)
        case UInt8(ascii: "{"):
            return try self.open(.object)
        case UInt8(ascii: "["):
            return try self.open(.array)
        case UInt8(ascii: "t"):
            try self.literal("true", as: .bool, payload: 1)
        case UInt8(ascii: "f"):
            try self.literal("false", as: .bool, payload: 0)
        case UInt8(ascii: "n"):
            try self.literal("null", as: .null, payload: 0)
        default:
            throw self.lexer.failure(.unexpectedByte)
        }
        return false
    }

    private mutating func open(_ kind: JSONValue.Kind) throws(JSONError) -> Bool {
        guard self.depth < self.limits.depth else { throw self.lexer.failure(.tooDeep) }
        let start = self.lexer.position
        self.lexer.position += 1
        self.append(kind, from: start)
        let index = self.nodes.count - 1
        self.nodes[index].next = self.parent
        self.parent = UInt32(truncatingIfNeeded: index)
        self.parentIsObject = kind == .object
        self.depth += 1
        self.lexer.skipWhitespace()
        if self.parentIsObject {
            if self.lexer.byte == UInt8(ascii: "}") { return self.close() }
            try self.key()
        } else {
            if self.lexer.byte == UInt8(ascii: "]") { return self.close() }
            try self.countElement()
        }
        return true
    }

    /// Skips the closing bracket; the container is then a complete value. Always false.
    @discardableResult
    private mutating func close() -> Bool {
        self.lexer.position += 1
        let index = Int(self.parent)
        self.parent = self.nodes[index].next
        self.parentIsObject = self.parent != Self.none && self.nodes[Int(self.parent)].kind == .object
        self.nodes[index].next = UInt32(truncatingIfNeeded: self.nodes.count)
        self.nodes[index].end = UInt32(truncatingIfNeeded: self.lexer.position)
        self.depth -= 1
        return false
    }

    /// Closes the containers that end here. True when another value follows, false when the root is complete.
    private mutating func afterValue() throws(JSONError) -> Bool {
        while self.parent != Self.none {
            self.lexer.skipWhitespace()
            let byte = self.lexer.byte
            if byte == UInt8(ascii: ",") {
                self.lexer.position += 1
                if self.parentIsObject {
                    self.lexer.skipWhitespace()
                    try self.key()
                } else {
                    try self.countElement()
                }
                return true
            }
            let closing = self.parentIsObject ? UInt8(ascii: "}") : UInt8(ascii: "]")
            guard byte == closing else { throw self.lexer.failure(.unexpectedByte) }
            self.close()
        }
        return false
    }

    private mutating func countElement() throws(JSONError) {
        let index = Int(self.parent)
        guard self.nodes[index].payload < UInt64(clamping: self.limits.elementsPerArray) else {
            throw self.failure(.tooManyElements, ofContainer: index)
        }
        self.nodes[index].payload += 1
    }

    // MARK: Keys

    /// Scans `"key":` and checks that the open object has no such key yet, unless it may.
    private mutating func key() throws(JSONError) {
        guard self.lexer.byte == UInt8(ascii: "\"") else { throw self.lexer.failure(.unexpectedByte) }
        let object = Int(self.parent)
        let keys = self.nodes[object].payload
        // The count is checked first: it bounds the pairwise comparison of signatures, and with it the time for any input.
        guard keys < UInt64(clamping: self.limits.keysPerObject) else {
            throw self.failure(.tooManyKeys, ofContainer: object)
        }
        let start = self.lexer.position
        let escaped = try self.lexer.string()
        guard self.lexer.position - start - 2 <= self.limits.keyLength else {
            throw JSONError(reason: .keyTooLong, offset: start)
        }
        var signature: UInt64 = 0
        if !self.limits.allowsFaults {
            signature = self.signature(from: start + 1, to: self.lexer.position - 1, escaped: escaped)
            let isTaken = self.nodes.withUnsafeBufferPointer { nodes in
                var other = object + 1
                for _ in 0..<keys {
                    if nodes[other].payload == signature,
                        self.isSameKey(nodes[other], start: start, end: self.lexer.position, escaped: escaped)
                    {
                        return true
                    }
                    other = Int(nodes[other + 1].next)
                }
                return false
            }
            if isTaken { throw JSONError(reason: .duplicateKey, offset: start) }
        }
        self.nodes[object].payload = keys + 1
        self.append(.string, from: start, flag: escaped, payload: signature)
        self.lexer.skipWhitespace()
        guard self.lexer.byte == UInt8(ascii: ":") else { throw self.lexer.failure(.unexpectedByte) }
        self.lexer.position += 1
    }

    /// A hash of the decoded key, which a sender cannot foresee: keys made to collide would make every comparison below
    /// read whole keys.
    @inline(__always)
    private func signature(from start: Int, to end: Int, escaped: Bool) -> UInt64 {
        var hash = KeyHash(seed: self.seed)
        if escaped {
            var decoded = self.lexer.decoded(from: start, to: end)
            while let byte = decoded.next() { hash.append(byte) }
            return hash.finalize()
        }
        var position = start
        while end - position >= 8 {
            hash.append(word: self.lexer.word(position))
            position += 8
        }
        return hash.finalize(tail: self.lexer.word(position), byteCount: end - position)
    }

    private func isSameKey(_ node: JSONNode, start: Int, end: Int, escaped: Bool) -> Bool {
        if !node.flag, !escaped {
            let length = end - start
            guard Int(node.end - node.start) == length else { return false }
            let mine = UnsafeRawBufferPointer(start: self.lexer.text + start, count: length)
            return mine.elementsEqual(UnsafeRawBufferPointer(start: self.lexer.text + Int(node.start), count: length))
        }
        return self.lexer.decoded(from: Int(node.start) + 1, to: Int(node.end) - 1)
            .elementsEqual(self.lexer.decoded(from: start + 1, to: end - 1))
    }

    // MARK: The tape

    private mutating func literal(_ name: StaticString, as kind: JSONValue.Kind, payload: UInt64) throws(JSONError) {
        let start = self.lexer.position
        try self.lexer.literal(name)
        self.append(kind, from: start, payload: payload)
    }

    /// Appends the value that began at `start` and ends at the position.
    @inline(__always)
    private mutating func append(_ kind: JSONValue.Kind, from start: Int, flag: Bool = false, payload: UInt64 = 0) {
        self.nodes.append(
            JSONNode(
                kind: kind, flag: flag, start: UInt32(truncatingIfNeeded: start),
                end: UInt32(truncatingIfNeeded: self.lexer.position),
                next: UInt32(truncatingIfNeeded: self.nodes.count + 1), payload: payload))
    }

    /// An error of an open container, at its bracket.
    @inline(never)
    private func failure(_ reason: JSONError.Reason, ofContainer index: Int) -> JSONError {
        JSONError(reason: reason, offset: Int(self.nodes[index].start))
    }
}
