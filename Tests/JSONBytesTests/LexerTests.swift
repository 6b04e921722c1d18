import Testing

@testable import JSONBytes

/// Tokens one after the other, without the containers around them.
@Suite struct LexerTests {
    /// Reads from a text, and tells where that ended: the position, or the fault.
    private static func read<Token>(
        _ text: String, limits: JSONLimits = .default, _ read: (inout JSONLexer) throws(JSONError) -> Token
    ) -> (token: Token?, position: Int, fault: JSONError?) {
        let padded = Array(text.utf8) + [UInt8](repeating: 0, count: 8)
        return padded.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return (nil, 0, nil) }
            var lexer = JSONLexer(text: start, count: text.utf8.count, limits: limits)
            do throws(JSONError) {
                let token = try read(&lexer)
                return (token, lexer.position, nil)
            } catch {
                return (nil, lexer.position, error)
            }
        }
    }

    @Test(arguments: [
        ("7,", 7.0, true), ("-0]", 0, true), ("1.50e2 ", 150, false), ("12345678901}", 12_345_678_901, true),
    ])
    func aNumberEndsWhereItsDigitsDo(text: String, value: Double, isInteger: Bool) throws {
        let read = Self.read(text) { lexer throws(JSONError) in try lexer.number() }
        let number = try #require(read.token)
        #expect(number.value == value && number.isInteger == isInteger)
        #expect(read.position == text.utf8.count - 1)
    }

    @Test func aStringTellsWhetherItsTextIsItsContent() {
        let plain = Self.read(#""a longer string" :"#) { lexer throws(JSONError) in try lexer.string() }
        #expect(plain.token == false && plain.position == 17)
        let escaped = Self.read(#""é\n","#) { lexer throws(JSONError) in try lexer.string() }
        #expect(escaped.token == true && escaped.position == 6)
    }

    @Test func decodedContentHasNoEscapes() {
        let text = #""a\u00e4\"""#
        let read = Self.read(text) { lexer in Array(lexer.decoded(from: 1, to: text.utf8.count - 1)) }
        #expect(read.token == Array("aä\"".utf8))
    }

    @Test func theEndOfTheTextIsNoPartOfAToken() {
        for text in [#""open"#, #""open\"#, "-", "1.", "1e", "tru"] {
            let read = Self.read(text) { lexer throws(JSONError) in
                switch lexer.byte {
                case UInt8(ascii: "\""): _ = try lexer.string()
                case UInt8(ascii: "t"): try lexer.literal("true")
                default: _ = try lexer.number()
                }
            }
            #expect(read.fault == JSONError(reason: .unexpectedEnd, offset: text.utf8.count), "\(text)")
        }
    }

    @Test func whiteSpaceIsSpacesTabsAndLineEnds() {
        let read = Self.read(" \t\r\n\u{C}1") { lexer in lexer.skipWhitespace() }
        #expect(read.position == 4)
    }

    @Test func limitsOfTokensAreTheDocuments() {
        var limits = JSONLimits()
        limits.numberLength = 3
        let number = Self.read("1234", limits: limits) { lexer throws(JSONError) in try lexer.number() }
        #expect(number.fault == JSONError(reason: .numberTooLong, offset: 0))
        limits.allowsFaults = true
        for (text, value) in [
            ("1234,", Double.greatestFiniteMagnitude), ("-1e9999]", .greatestFiniteMagnitude), ("123}", 123),
        ] {
            let read = Self.read(text, limits: limits) { lexer throws(JSONError) in try lexer.number() }
            #expect(read.token?.value == value && read.position == text.utf8.count - 1)
        }
        let string = Self.read(#""\u0000""#, limits: limits) { lexer throws(JSONError) in try lexer.string() }
        #expect(string.token == true)
    }
}
