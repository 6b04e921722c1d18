import JSONBytes
import Testing

@Suite("What is no JSON is refused")
struct StrictnessTests {
    @Test(arguments: [
        "[1,]", "[,1]", "[1 2]", "[", "]", "{", "}", "{,}", "{\"a\":1,}", "{\"a\"}", "{\"a\":}", "{\"a\" 1}", "{a:1}",
        "{'a':1}",
        "{1:1}", "{\"a\":1 \"b\":2}", "{\"a\":1]", "[1}", "//x\n1", "/**/1", "1//", "#1", "tru", "True", "TRUE",
        "truex", "nul",
        "nulll", "undefined", "NaN", "Infinity", "-Infinity", "+1", ".5", "1.", "1.e1", "1e", "1e+", "1E-", "01", "-01",
        "00", "-",
        "--1", "-.5", "0x10", "1_000", "1 000", "٣", "１", "\"", "\"abc", "'a'", "\"\\", "\"\\x\"", "\"\\u12\"",
        "\"\\u12G4\"",
        "\"\\U0041\"", "\"\\'\"", "\"\\\n\"", "1 2", "1,", "{}x", "[]]", "\"a\"b", "\u{FEFF}1", "\u{A0}1", "\u{0B}1",
        "", " ", "\n\t\r ",
    ])
    func refused(_ text: String) {
        #expect(refusal(text) != nil)
    }

    @Test(arguments: [
        ("[1,]", JSONError.Reason.unexpectedByte), ("{\"a\":1,}", .unexpectedByte), ("", .unexpectedEnd),
        ("[1", .unexpectedEnd),
        ("{\"a\":tr", .unexpectedEnd), ("\"abc", .unexpectedEnd), ("1 2", .trailingBytes), ("01", .invalidNumber),
        ("1.", .unexpectedEnd), ("[1.]", .invalidNumber), ("[-]", .invalidNumber), ("1e999", .numberNotFinite),
        ("-1e999", .numberNotFinite), ("\"\\ud800\"", .loneSurrogate), ("\"\\ud800x\"", .loneSurrogate),
        ("\"\\ud800\\n\"", .loneSurrogate), ("\"\\ud800\\ud800\"", .loneSurrogate), ("\"\\udc00\"", .loneSurrogate),
        ("\"\\ud83d\\u0041\"", .loneSurrogate), ("\"\\u0000\"", .escapedNull), ("{\"a\\u0000\":1}", .escapedNull),
        ("\"\\q\"", .invalidEscape), ("\"a\tb\"", .controlCharacter), ("\"a\u{0}b\"", .controlCharacter),
        ("{\"x\":1,\"x\":2}", .duplicateKey), ("{\"x\":1,\"\\u0078\":2}", .duplicateKey),
        ("{\"\\u0078\":1,\"x\":2}", .duplicateKey),
        ("{\"\\u0078y\":1,\"\\u0078\\u0079\":2}", .duplicateKey), ("{\"\":1,\"\":2}", .duplicateKey),
        ("{\"position\\u0058\":1,\"a\":{\"positionX\":1},\"positionX\":2}", .duplicateKey),
        ("{\"😀\":1,\"\\ud83d\\ude00\":1}", .duplicateKey),
    ])
    func reason(_ text: String, _ reason: JSONError.Reason) {
        #expect(refusal(text) == reason)
    }

    @Test func keysThatOnlyLookAlikeAreDifferentKeys() throws {
        #expect(refusal("{\"é\":1,\"e\u{301}\":2}") == nil)
        #expect(refusal("{\"a\":1,\"A\":2,\"\":3,\" a\":4}") == nil)
        // Equal first and last eight bytes and length: the signature can not tell these apart, the bytes can.
        #expect(refusal("{\"abcdefghXijklmnop\":1,\"abcdefghYijklmnop\":2}") == nil)
        // Siblings behind nested objects with the same names.
        #expect(refusal("{\"a\":{\"a\":{\"a\":1}},\"b\":[{\"a\":1},{\"a\":1}],\"c\":1}") == nil)
    }

    @Test func controlCharactersAreRefusedRawAndAcceptedEscapedDELAndC1AreAccepted() {
        for byte in UInt8(0)..<0x20 {
            #expect(refusal([0x22, byte, 0x22]) == .controlCharacter)
            #expect(refusal([0x22] + Array("abcdefgh".utf8) + [byte, 0x22]) == .controlCharacter)
        }
        for byte in UInt8(1)..<0x20 {
            #expect(refusal("\"\\u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))\"") == nil)
        }
        #expect(refusal("\"\u{7F}\u{80}\u{9F}\"") == nil)
    }

    @Test func utf8IsAcceptedExactlyWhereTheStandardLibraryAcceptsIt() {
        var document = JSONDocument()
        let tails: [[UInt8]] = [[], [0x80], [0xC0], [0xBF, 0xBF], [0x80, 0x41], [0x80, 0x80, 0x80]]
        // Every lead byte with every kind of second byte, both sides of each boundary.
        for first in UInt8(0x80)...0xFF {
            for second in [0x20, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF] as [UInt8] {
                for tail in tails {
                    let content = [first, second] + tail
                    let isValid = String(validating: content, as: UTF8.self) != nil
                    let isAccepted = (try? document.parse([0x22] + content + [0x22])) != nil
                    if isAccepted != isValid {
                        Issue.record("\(content) should be \(isValid ? "accepted" : "refused")")
                    }
                }
            }
        }
    }

    @Test func offsetsNameTheByte() {
        func offset(_ text: String) -> Int? {
            var document = JSONDocument()
            do throws(JSONError) { try document.parse(text.utf8) } catch { return error.offset }
            return nil
        }
        #expect(offset("[1,]") == 3)
        #expect(offset("[1,2") == 4)
        #expect(offset("{\"a\":1,\"a\":2}") == 7)
        #expect(offset(" {} x") == 4)
        #expect(offset("[1e999]") == 1)
    }
}
