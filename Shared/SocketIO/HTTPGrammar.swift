internal import JSONBytes

/// The parts of HTTP/1.1's grammar that heads, chunks, trailers and answers share (RFC 9110 section 5.6).
enum HTTPGrammar {
    /// Whether a byte may be in a token, such as the name of a field.
    static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"),
            UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    /// Whether a byte may be in the value of a field: anything visible, spaces, tabs, and bytes from 0x80.
    static func isFieldContent(_ byte: UInt8) -> Bool { byte >= 0x20 && byte != 0x7F || byte == 0x09 }

    static let chunkSizeDigits = 8

    /// The size on the line of a chunk (RFC 9112 section 7.1); `nil` if it is malformed. Extensions must be well-formed
    /// and have no effect.
    static func chunkSize(_ line: [UInt8]) -> Int? {
        let digits = line.prefix { hexDigit($0) < 16 }
        guard (1...Self.chunkSizeDigits).contains(digits.count), Self.areChunkExtensions(line[digits.endIndex...])
        else { return nil }
        return digits.reduce(0) { $0 << 4 | Int(hexDigit($1)) }
    }

    /// `*( ";" name [ "=" ( token / quoted-string ) ] )`, with spaces and tabs around the separators.
    private static func areChunkExtensions(_ text: ArraySlice<UInt8>) -> Bool {
        var rest = text
        while !rest.isEmpty {
            Self.skipSpace(&rest)
            guard rest.popFirst() == UInt8(ascii: ";") else { return false }
            Self.skipSpace(&rest)
            guard Self.skipToken(&rest) else { return false }
            var value = rest
            Self.skipSpace(&value)
            guard value.popFirst() == UInt8(ascii: "=") else { continue }
            Self.skipSpace(&value)
            guard Self.skipToken(&value) || Self.skipQuotedString(&value) else { return false }
            rest = value
        }
        return true
    }

    private static func skipSpace(_ text: inout ArraySlice<UInt8>) {
        text = text.drop { $0 == 0x20 || $0 == 0x09 }
    }

    private static func skipToken(_ text: inout ArraySlice<UInt8>) -> Bool {
        let rest = text.drop(while: Self.isToken)
        defer { text = rest }
        return rest.startIndex > text.startIndex
    }

    private static func skipQuotedString(_ text: inout ArraySlice<UInt8>) -> Bool {
        guard text.popFirst() == UInt8(ascii: "\"") else { return false }
        while let byte = text.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return true
            case UInt8(ascii: "\\"):
                guard let escaped = text.popFirst(), Self.isFieldContent(escaped) else { return false }
            default: guard Self.isFieldContent(byte) else { return false }
            }
        }
        return false
    }
}
