/// Why a text was rejected, and where.
public struct JSONError: Error, Equatable, Sendable {
    /// The closed list of reasons. None contains text: a message is only created when it is logged.
    public enum Reason: String, Equatable, Sendable {
        /// The text ended inside a value (or was empty).
        case unexpectedEnd
        /// A byte that the grammar does not allow here: trailing commas, comments, a byte order mark, `NaN`.
        case unexpectedByte
        /// Something other than white space after the root value.
        case trailingBytes
        /// Malformed, overlong, surrogate or out-of-range UTF-8.
        case invalidUTF8
        /// A raw control character (below U+0020) inside a string.
        case controlCharacter
        /// A backslash not followed by one of the escapes of RFC 8259 section 7.
        case invalidEscape
        /// `\ud800`–`\udfff` that is not part of a pair: legal JSON, but no Unicode text.
        case loneSurrogate
        /// `\u0000`: legal JSON, but PostgreSQL's text type cannot hold it.
        case escapedNull
        /// A number outside the grammar of RFC 8259 section 6.
        case invalidNumber
        /// A number longer than the limit.
        case numberTooLong
        /// A number beyond the range of a double.
        case numberNotFinite
        /// A key that occurs twice in one object, compared after unescaping.
        case duplicateKey
        /// Nesting beyond the limit.
        case tooDeep
        /// An object with more members than the limit.
        case tooManyKeys
        /// A key longer than the limit.
        case keyTooLong
        /// An array with more elements than the limit.
        case tooManyElements
        /// A text that 32-bit offsets cannot address.
        case tooLong

        /// Whether the text may be well-formed JSON all the same: what it has is over a limit, or readers of JSON differ
        /// about it.
        public var isOfWellFormedText: Bool {
            switch self {
            case .loneSurrogate, .escapedNull, .numberTooLong, .numberNotFinite, .duplicateKey, .tooDeep, .tooManyKeys,
                .keyTooLong, .tooManyElements:
                true
            default: false
            }
        }
    }

    public let reason: Reason
    /// The offset of the error in the text, bytes; of a container that exceeds a limit, its bracket;
    /// of a key that is too long, its quote.
    public let offset: Int

    public init(reason: Reason, offset: Int) {
        self.reason = reason
        self.offset = offset
    }
}

extension [UInt8] {
    /// The line of a text that contains a byte, from 1.
    package func line(at offset: Int) -> Int { 1 + self.prefix(offset).count { $0 == UInt8(ascii: "\n") } }
}
