import JSONBytes
import Testing
import Wire

@Suite("Numbers")
struct NumberTests {
    @Test(
        arguments: [
            ("0", 0), ("-0", 0), ("-0.0", 0), ("0e999", 0), ("1", 1), ("-1", -1), ("1.0", 1), ("1e2", 100),
            ("1E+2", 100), ("1e-2", 0.01),
            ("12.5", 12.5), ("0.1", 0.1), ("0.30000000000000004", 0.1 + 0.2),
            ("12.345678901234567", 12.345678901234567), ("1e-999", 0),
            ("-1e-999", 0), ("5e-324", .leastNonzeroMagnitude), ("2e-324", 0),
            ("1.7976931348623157e308", .greatestFiniteMagnitude), ("1e22", 1e22), ("1e23", 1e23),
            ("9007199254740993", 9_007_199_254_740_992), ("9007199254740993.0000000000001", 9_007_199_254_740_994),
            ("123456789012345678901234567890", 123_456_789_012_345_677_877_719_597_056),
            ("0.1234567890123456789", 0.1234567890123456789), ("18446744073709551615", 18_446_744_073_709_551_616),
            ("18446744073709551616", 18_446_744_073_709_551_616),
            ("-99999999999999999999e-19", -9.9999999999999999999),
        ] as [(String, Double)])
    func value(_ text: String, _ value: Double) throws {
        let root = try parsed(text)
        #expect(root.double == value)
        #expect(root.double?.sign == value.sign)
    }

    @Test func whatIsNoDigitEndsANumberWhereverAmongTheDigitsItStands() throws {
        for byte in UInt8(1)..<128 where !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
            for place in 1...9 {
                let text = "1234567890".prefix(place) + String(Unicode.Scalar(byte)) + "00000001"
                if ".eE".utf8.contains(byte) {
                    #expect(try parsed(String(text)).double == Double(String(text)))
                } else {
                    #expect(refusal(String(text)) != nil, "\(text)")
                }
            }
        }
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func theValueIsTheOneThatTheStandardLibraryReadsToTheBit(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        for _ in 0..<10_000 {
            let digits = String(generator.next() >> UInt64.random(in: 0..<64, using: &generator))
            let text: String
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: text = digits
            case 1: text = digits + "e" + String(Int.random(in: -40...40, using: &generator))
            case 2:
                let point = Int.random(in: 0..<digits.count, using: &generator)
                text = point == 0 ? "0." + digits : String(digits.prefix(point)) + "." + digits.dropFirst(point)
            default:
                let double = Double(bitPattern: generator.next())
                guard double.isFinite else { continue }
                text = double.description
            }
            let read = try parsed(text).double
            let expected = try #require(Double(text))
            if read != expected { Issue.record("seed \(seed): \(text) read as \(String(describing: read))") }
        }
    }

    @Test("Fractions of 17 to 19 digits round to the nearest double", arguments: [4, 5] as [UInt64])
    func longFractions(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        var document = JSONDocument()
        for _ in 0..<20_000 {
            // One in some thousand of these lies so near to the middle of two doubles that only the remainder of the
            // division tells which one is nearer.
            let digits = String(UInt64.random(in: 1 << 56..<1 << 63, using: &generator))
            let point = Int.random(in: 1..<digits.count, using: &generator)
            let text = String(digits.prefix(point)) + "." + digits.dropFirst(point)
            try document.parse(text.utf8)
            if document.root.double != Double(text) { Issue.record("seed \(seed): \(text)") }
        }
    }

    @Test("Whole numbers below 2^53 are integers in any spelling, beyond it without fraction and exponent, exactly")
    func integers() throws {
        let cases: [(String, Int64?)] = [
            ("0", 0), ("-0", 0), ("1", 1), ("-17", -17), ("9007199254740993", 9_007_199_254_740_993),
            ("9223372036854775807", .max),
            ("-9223372036854775808", .min), ("9223372036854775808", nil), ("-9223372036854775809", nil),
            ("99999999999999999999999999", nil), ("1.0", 1), ("1e2", 100), ("1E0", 1), ("10.00", 10),
            ("-3.0", -3), ("-0.0", 0), ("1250e-2", nil), ("1200e-2", 12), ("1.5", nil), ("0.1", nil), ("1e-1", nil),
            ("9007199254740991.0", 9_007_199_254_740_991), ("9007199254740992.0", nil), ("1e16", nil), ("1e300", nil),
            ("\"1\"", nil), ("true", nil), ("null", nil),
        ]
        for (text, integer) in cases { #expect(try parsed(text).integer == integer, "\(text)") }
    }

    @Test func nothingButANumberIsANumberNothingButABoolIsABool() throws {
        for text in ["\"1\"", "true", "null", "[]", "{}", "[1]", "{\"a\":1}"] {
            #expect(try parsed(text).double == nil)
            #expect(try parsed(text).integer == nil)
        }
        for text in ["1", "0", "\"true\"", "null", "[]", "{}"] { #expect(try parsed(text).bool == nil) }
        for text in ["1", "true", "null", "[]", "{}"] { #expect(try parsed(text).string == nil) }
        for text in ["0", "false", "\"\"", "[]", "{}"] { #expect(try !parsed(text).isNull) }
    }
}
