/// The decoded bytes of a validated JSON string's content, one at a time and without storage. A lone surrogate yields
/// three bytes of its own, which are not UTF-8.
struct EscapedBytes: Sequence, IteratorProtocol {
    private let text: UnsafeRawBufferPointer
    private var position: Int
    private let end: Int
    /// Outstanding UTF-8 bytes of a `\u` escape, lowest byte first.
    private var pending: UInt32 = 0

    /// `text` must outlive the iterator; `start..<end` is the range of a validated content without the quotes.
    init(text: UnsafeRawBufferPointer, start: Int, end: Int) {
        self.text = text
        self.position = start
        self.end = end
    }

    mutating func next() -> UInt8? {
        if self.pending != 0 {
            let byte = UInt8(truncatingIfNeeded: self.pending)
            self.pending >>= 8
            return byte
        }
        guard self.position < self.end else { return nil }
        let byte = self.text[self.position]
        self.position += 1
        guard byte == UInt8(ascii: "\\"), self.position < self.end else { return byte }
        let escape = self.text[self.position]
        self.position += 1
        switch escape {
        case UInt8(ascii: "b"): return 0x08
        case UInt8(ascii: "f"): return 0x0C
        case UInt8(ascii: "n"): return 0x0A
        case UInt8(ascii: "r"): return 0x0D
        case UInt8(ascii: "t"): return 0x09
        case UInt8(ascii: "u"): return self.unicode()
        default: return escape
        }
    }

    /// The first byte of the scalar whose four (or, as a pair, twelve) characters follow `\u`.
    private mutating func unicode() -> UInt8 {
        var scalar = self.hex4()
        if scalar & 0xFC00 == 0xD800, let low = self.lowSurrogate() {
            scalar = 0x10000 + (scalar & 0x3FF) << 10 + low & 0x3FF
        }
        switch scalar {
        case ..<0x80:
            return UInt8(truncatingIfNeeded: scalar)
        case ..<0x800:
            self.pending = 0x80 | scalar & 0x3F
            return UInt8(truncatingIfNeeded: 0xC0 | scalar >> 6)
        case ..<0x10000:
            self.pending = (0x80 | scalar >> 6 & 0x3F) | (0x80 | scalar & 0x3F) << 8
            return UInt8(truncatingIfNeeded: 0xE0 | scalar >> 12)
        default:
            self.pending =
                (0x80 | scalar >> 12 & 0x3F) | (0x80 | scalar >> 6 & 0x3F) << 8 | (0x80 | scalar & 0x3F) << 16
            return UInt8(truncatingIfNeeded: 0xF0 | scalar >> 18)
        }
    }

    /// Skips the second half of a pair; nil, and nothing is skipped, if none follows.
    private mutating func lowSurrogate() -> UInt32? {
        let start = self.position
        guard self.end - start >= 6, self.text[start] == UInt8(ascii: "\\"), self.text[start + 1] == UInt8(ascii: "u")
        else { return nil }
        self.position += 2
        let unit = self.hex4()
        if unit & 0xFC00 == 0xDC00 { return unit }
        self.position = start
        return nil
    }

    private mutating func hex4() -> UInt32 {
        var value: UInt32 = 0
        var left = 4
        while left > 0, self.position < self.end {
            value = value << 4 | UInt32(hexDigit(self.text[self.position]) & 0xF)
            self.position += 1
            left -= 1
        }
        return value
    }
}

/// The value of a hexadecimal digit, 0xFF for any other byte.
@inline(__always)
package func hexDigit(_ byte: UInt8) -> UInt8 {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte &- UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte &- UInt8(ascii: "a") &+ 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte &- UInt8(ascii: "A") &+ 10
    default: 0xFF
    }
}
