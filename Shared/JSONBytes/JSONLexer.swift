/// Validates the tokens of a text one after the other, whatever stands around them: the token at the position is of the
/// kind that the caller has seen there, and the position moves past it.
///
/// `text` points at `count` bytes followed by at least eight zero bytes. The zeros are the sentinel: no rule of the
/// grammar accepts NUL, so every loop stops there without counting, and eight bytes may be loaded at any position up to
/// `count`. The unchecked loads of this type rely on this alone.
struct JSONLexer {
    let text: UnsafeRawPointer
    let count: Int
    /// See ``JSONLimits``.
    let numberLength: Int
    /// See ``JSONLimits``.
    let allowsFaults: Bool
    var position = 0

    init(text: UnsafeRawPointer, count: Int, limits: JSONLimits) {
        self.text = text
        self.count = count
        self.numberLength = limits.numberLength
        self.allowsFaults = limits.allowsFaults
    }

    // MARK: Tokens

    mutating func literal(_ name: StaticString) throws(JSONError) {
        for offset in 0..<name.utf8CodeUnitCount {
            guard self.byte == name.utf8Start[offset] else { throw self.failure(.unexpectedByte) }
            self.position += 1
        }
    }

    /// Moves past spaces, tabs and line ends (RFC 8259 section 2).
    @inline(__always)
    mutating func skipWhitespace() {
        while true {
            let byte = self.byte
            guard byte <= 0x20, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return }
            self.position += 1
        }
    }

    // MARK: Bytes

    /// The byte at the position; NUL at the end of the text.
    @inline(__always)
    var byte: UInt8 { self.byte(self.position) }

    /// The byte at a position of 0…count; NUL at count.
    @inline(__always)
    func byte(_ position: Int) -> UInt8 {
        self.text.load(fromByteOffset: position, as: UInt8.self)
    }

    /// Eight bytes from a position of 0…count, the first in the lowest byte.
    @inline(__always)
    func word(_ position: Int) -> UInt64 {
        UInt64(littleEndian: self.text.loadUnaligned(fromByteOffset: position, as: UInt64.self))
    }

    /// The decoded content of a string that was validated, between its quotes.
    func decoded(from start: Int, to end: Int) -> EscapedBytes {
        EscapedBytes(text: UnsafeRawBufferPointer(start: self.text, count: self.count), start: start, end: end)
    }

    /// An error at the position; at the end of the text the reason is ``JSONError/Reason/unexpectedEnd``.
    func failure(_ reason: JSONError.Reason) -> JSONError {
        JSONError(
            reason: self.position >= self.count ? .unexpectedEnd : reason, offset: min(self.position, self.count))
    }
}
