extension JSONLexer {
    /// Validates the string whose opening quote is at the position and moves past its closing quote. True when it
    /// contains an escape, so that its text is not its content.
    mutating func string() throws(JSONError) -> Bool {
        var escaped = false
        self.position += 1
        while true {
            let special = Self.specialBytes(self.word(self.position))
            if special == 0 {
                self.position += 8
                continue
            }
            self.position += special.trailingZeroBitCount >> 3
            let byte = self.byte
            switch byte {
            case UInt8(ascii: "\""):
                self.position += 1
                return escaped
            case UInt8(ascii: "\\"):
                escaped = true
                try self.escape()
            case 0x80...:
                try self.multibyte(byte)
            default:
                throw self.failure(.controlCharacter)
            }
        }
    }

    /// The top bit of every byte that is a quote, a backslash, a control character or not ASCII. Bits above the
    /// lowest may be false (a borrow runs upwards); the lowest is always true, and only that one is used.
    @inline(__always)
    static func specialBytes(_ word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let quote = word ^ (ones &* 0x22)
        let backslash = word ^ (ones &* 0x5C)
        let hits =
            (quote &- ones) & ~quote | (backslash &- ones) & ~backslash | (word &- ones &* 0x20) & ~word | word
        return hits & (ones &* 0x80)
    }

    /// Skips the escape whose backslash is at the position.
    private mutating func escape() throws(JSONError) {
        self.position += 1
        switch self.byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            self.position += 1
        case UInt8(ascii: "u"):
            try self.unicodeEscape()
        default:
            throw self.failure(.invalidEscape)
        }
    }

    /// Skips `uXXXX`, or `uXXXX\uXXXX` when it is a pair; the position is at the first `u`. Not inlined: such escapes are
    /// rare, and every other string would pay for its registers.
    @inline(never)
    private mutating func unicodeEscape() throws(JSONError) {
        let start = self.position - 1
        self.position += 1
        let unit = try self.hex4()
        if unit == 0, !self.allowsFaults { throw JSONError(reason: .escapedNull, offset: start) }
        guard unit & 0xF800 == 0xD800 else { return }
        let end = self.position
        if unit < 0xDC00, self.byte(end) == UInt8(ascii: "\\"), self.byte(end + 1) == UInt8(ascii: "u") {
            self.position += 2
            if try self.hex4() & 0xFC00 == 0xDC00 { return }
            self.position = end
        }
        guard self.allowsFaults else { throw JSONError(reason: .loneSurrogate, offset: start) }
    }

    private mutating func hex4() throws(JSONError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            let digit = hexDigit(self.byte)
            guard digit < 16 else { throw self.failure(.invalidEscape) }
            value = value << 4 | UInt32(digit)
            self.position += 1
        }
        return value
    }

    /// Skips one well-formed UTF-8 sequence of two to four bytes (Unicode, table 3-7).
    private mutating func multibyte(_ lead: UInt8) throws(JSONError) {
        // The range of the second byte excludes overlong forms, surrogates and everything above U+10FFFF.
        let second: ClosedRange<UInt8>
        let length: Int
        switch lead {
        case 0xC2...0xDF: (second, length) = (0x80...0xBF, 2)
        case 0xE0: (second, length) = (0xA0...0xBF, 3)
        case 0xE1...0xEC, 0xEE...0xEF: (second, length) = (0x80...0xBF, 3)
        case 0xED: (second, length) = (0x80...0x9F, 3)
        case 0xF0: (second, length) = (0x90...0xBF, 4)
        case 0xF1...0xF3: (second, length) = (0x80...0xBF, 4)
        case 0xF4: (second, length) = (0x80...0x8F, 4)
        default: throw self.failure(.invalidUTF8)
        }
        guard second.contains(self.byte(self.position + 1)) else { throw self.failure(.invalidUTF8) }
        for offset in 2..<length {
            // A sequence truncated by the text's end meets the sentinel, which is not a continuation byte.
            guard self.byte(self.position + offset) & 0xC0 == 0x80 else { throw self.failure(.invalidUTF8) }
        }
        self.position += length
    }
}
