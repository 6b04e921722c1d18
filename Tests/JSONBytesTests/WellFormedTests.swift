import JSONBytes
import Testing

private let array = "[" + Array(repeating: "0", count: 1001).joined(separator: ",") + "]"
private let object = "{" + (0..<65).map { "\"k\($0)\":0" }.joined(separator: ",") + "}"
private let digits = String(repeating: "7", count: 33)
private let deep = String(repeating: "[", count: 40) + String(repeating: "]", count: 40)

@Suite struct WellFormedTests {
    private func parsed(
        _ text: String, limits: JSONLimits = .default
    ) throws -> (fault: JSONError?, root: JSONValue) {
        var document = JSONDocument()
        let fault = try document.parseWellFormed(Array(text.utf8), limits: limits)
        return (fault, document.root)
    }

    @Test(
        arguments: [
            (#"{"a":1}"#, nil, nil), (#"{"a":"\u0000"}"#, .escapedNull, "a"),
            (#"{"a":"x\ud800"}"#, .loneSurrogate, "a"),
            (#"{"a":[1,{"b":"\udc00"}]}"#, .loneSurrogate, "a[1].b"),
            (#"{"a":{"x\u0000y":1}}"#, .escapedNull, "a.x\u{FFFD}y"), (#"[[],["\u0000"]]"#, .escapedNull, "[1][0]"),
            (#"{"a":1,"b":\#(array)}"#, .tooManyElements, "b"), (#"{"a":[\#(array)]}"#, .tooManyElements, "a[0]"),
            (#"{"a":{"b":\#(object)}}"#, .tooManyKeys, "a.b"), (object, .tooManyKeys, ""),
            (#"{"a":{"b":\#(deep)}}"#, .tooDeep, "a.b" + String(repeating: "[0]", count: 30)),
            (#""\u0000""#, .escapedNull, ""), (#"{"a":[0,{"b":\#(digits)}]}"#, .numberTooLong, "a[1].b"),
            (#"{"a":-0.\#(digits)}"#, .numberTooLong, "a"), (#"[1e400]"#, .numberNotFinite, "[0]"),
            (#"{"a":-1E+999}"#, .numberNotFinite, "a"), (#"{"a":1,"b":{"c":1,"c":2}}"#, .duplicateKey, "b.c"),
            (#"{"a":1,"\u0061":2}"#, .duplicateKey, "a"), (#"{"":1,"":1}"#, .duplicateKey, ""),
            ("1e400", .numberNotFinite, ""), (#"[{"k":0,"k":\#(digits)}]"#, .duplicateKey, "[0].k"),
        ] as [(String, JSONError.Reason?, String?)])
    func firstFaultIsReportedWithItsPath(text: String, reason: JSONError.Reason?, path: String?) throws {
        let (fault, root) = try self.parsed(text)
        #expect(fault?.reason == reason)
        #expect(fault.flatMap { root.path(toByte: $0.offset) } == path)
    }

    @Test func documentOfAFaultyTextIsComplete() throws {
        let (fault, root) = try self.parsed(
            #"{"a":\#(array),"s":"x\u0000\ud800\ud83d\ude00","n":7,"d":\#(deep)}"#)
        #expect(fault?.reason == .tooManyElements)
        #expect(root["a"]?.count == 1001)
        #expect(root["n"]?.integer == 7)
        #expect(root["s"]?.string?.hasPrefix("x\0") == true)
        #expect(root["s"]?.string?.hasSuffix("\u{FFFD}😀") == true)
        #expect(root["d"]?.kind == .array)
    }

    /// A document with such numbers may be asked for anything, and says nothing that is none.
    @Test func whatIsTooLargeReadsAsTheLargestDoubleAndOfEqualKeysTheFirstCounts() throws {
        let (fault, root) = try self.parsed(#"{"n":1e400,"m":-1\#(digits),"o":\#(digits)e-40,"k":1,"k":2,"z":3}"#)
        #expect(fault?.reason == .numberNotFinite)
        for name in ["n", "m", "o"] {
            #expect(root[name]?.double == .greatestFiniteMagnitude && root[name]?.integer == nil)
        }
        #expect(root["k"]?.integer == 1 && root["z"]?.integer == 3 && root.count == 6)
        #expect(root.members.map(\.key.string) == ["n", "m", "o", "k", "k", "z"])
        #expect(root["m"]?.rawBytes.elementsEqual("-1\(digits)".utf8) == true)
    }

    @Test(
        arguments: [
            (#"["\u0000""#, .unexpectedEnd), (#"["\u0000",]"#, .unexpectedByte), (#"["\ud800\u12"]"#, .invalidEscape),
            (#"["\u0000\x"]"#, .invalidEscape), ("[\(array),]", .unexpectedByte), ("\(array)x", .trailingBytes),
            (String(repeating: "[", count: 100_000), .unexpectedEnd), (#"{"a":1,"a":2,}"#, .unexpectedByte),
            (#"["\u0000",1e999"#, .unexpectedEnd), (#"{"a":"\u0000","a":NaN}"#, .unexpectedByte),
            ("[1e400,01]", .invalidNumber), ("[\(digits)x]", .unexpectedByte), ("[\(digits)e]", .invalidNumber),
            (#"{"a":1,"a":2} {}"#, .trailingBytes), (#"{"a":1,"a"}"#, .unexpectedByte),
        ] as [(String, JSONError.Reason)])
    func everyOtherErrorIsThrown(text: String, reason: JSONError.Reason) {
        let error = #expect(throws: JSONError.self) { try self.parsed(text) }
        #expect(error?.reason == reason)
    }

    @Test func surrogatesThatFormNoPairAreWellFormed() {
        for text in [#""\ud800\ud83d\ude00""#, #""\ud800\n""#, #""\ud800x""#, #""\ud83d""#, #""\udc00\ud800""#] {
            #expect(refusal(text, limits: .wellFormed) == nil, "\(text)")
        }
        #expect(refusal(#""\ud800\ug""#, limits: .wellFormed) == .invalidEscape)
    }

    @Test func longPathEndsEarlier() throws {
        let key = String(repeating: "k", count: 60)
        let (fault, root) = try self.parsed(#"{"\#(key)":{"\#(key)":{"\#(key)":"\u0000"}}}"#)
        let offset = try #require(fault?.offset)
        #expect(root.path(toByte: offset) == "\(key).\(key)")
        #expect(root.path(toByte: offset, from: "element") == "element.\(key)")
        #expect(root[key]?.path(toByte: 0) == nil)
    }

    @Test func faultyTextsTakeLinearTime() throws {
        let keys = "{" + (0..<32_000).map { "\"\($0)\":1" }.joined(separator: ",") + "}"
        let deep = String(repeating: "[", count: 128_000) + String(repeating: "]", count: 128_000)
        let equal = "{" + Array(repeating: #""k":1"#, count: 40_000).joined(separator: ",") + "}"
        let long = "[" + String(repeating: "9", count: 256_000) + "]"
        let large = "[" + Array(repeating: "1e9999999", count: 25_000).joined(separator: ",") + "]"
        for text in [keys, deep, equal, long, large] {
            let start = ContinuousClock.now
            let (fault, root) = try self.parsed(text)
            let offset = try #require(fault?.offset)
            #expect(root.path(toByte: offset) != nil)
            // Generous: a debug build on a busy machine. Comparing all keys with each other takes minutes.
            #expect(start.duration(to: .now) < .seconds(2), "\(text.prefix(20))…")
        }
    }
}
