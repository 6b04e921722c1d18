import JSONBytes
import Testing

private let array = "[" + Array(repeating: "0", count: 1001).joined(separator: ",") + "]"
private let object = "{" + (0..<65).map { "\"k\($0)\":0" }.joined(separator: ",") + "}"
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
            (#""\u0000""#, .escapedNull, ""),
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

    @Test(
        arguments: [
            (#"["\u0000""#, .unexpectedEnd), (#"["\u0000",]"#, .unexpectedByte), (#"["\ud800\u12"]"#, .invalidEscape),
            (#"["\u0000\x"]"#, .invalidEscape), ("[\(array),]", .unexpectedByte), ("\(array)x", .trailingBytes),
            (String(repeating: "[", count: 100_000), .unexpectedEnd), (#"{"a":1,"a":"\u0000"}"#, .duplicateKey),
            (#"["\u0000",1e999]"#, .numberNotFinite), (#"{"a":"\u0000","a":1}"#, .duplicateKey),
        ] as [(String, JSONError.Reason)])
    func everyOtherErrorIsThrown(text: String, reason: JSONError.Reason) {
        let error = #expect(throws: JSONError.self) { try self.parsed(text) }
        #expect(error?.reason == reason)
    }

    @Test func surrogatesThatFormNoPairAreKeptApart() throws {
        var limits = JSONLimits()
        limits.allowsUnstorableText = true
        #expect(refusal(#"{"\ud800":1,"\ud801":2}"#, limits: limits) == nil)
        #expect(refusal(#"{"\ud800":1,"\ud800":2}"#, limits: limits) == .duplicateKey)
        for text in [#""\ud800\ud83d\ude00""#, #""\ud800\n""#, #""\ud800x""#, #""\ud83d""#, #""\udc00\ud800""#] {
            #expect(refusal(text, limits: limits) == nil, "\(text)")
        }
        #expect(refusal(#""\ud800\ug""#, limits: limits) == .invalidEscape)
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
        for text in [keys, deep] {
            let start = ContinuousClock.now
            let (fault, root) = try self.parsed(text)
            let offset = try #require(fault?.offset)
            #expect(root.path(toByte: offset) != nil)
            // Generous: a debug build on a busy machine. Comparing all keys with each other takes minutes.
            #expect(start.duration(to: .now) < .seconds(2), "\(text.prefix(20))…")
        }
    }
}
