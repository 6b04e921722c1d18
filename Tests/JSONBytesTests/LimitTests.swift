import JSONBytes
import Testing

@Suite("Limits")
struct LimitTests {
    private func repeated(_ text: String, _ times: Int) -> String { String(repeating: text, count: times) }

    @Test("Depth 32 is accepted, 33 refused, 100,000 refused at once")
    func depth() {
        #expect(refusal(repeated("[", 32) + repeated("]", 32)) == nil)
        #expect(refusal(repeated("[", 33) + repeated("]", 33)) == .tooDeep)
        #expect(refusal(repeated("{\"a\":", 32) + "1" + repeated("}", 32)) == nil)
        #expect(refusal(repeated("{\"a\":", 33) + "1" + repeated("}", 33)) == .tooDeep)
        #expect(refusal(repeated("[", 100_000)) == .tooDeep)
        #expect(refusal(repeated("[[],", 31) + "[" + repeated("]", 32)) == nil)
        var limits = JSONLimits()
        limits.depth = 0
        #expect(refusal("1", limits: limits) == nil)
        #expect(refusal("[]", limits: limits) == .tooDeep)
    }

    @Test("A depth limit of 100,000 needs no stack")
    func noRecursion() {
        var limits = JSONLimits()
        limits.depth = 100_000
        #expect(refusal(repeated("[", 100_000) + repeated("]", 100_000), limits: limits) == nil)
    }

    @Test("64 keys are accepted, 65 refused, nested objects count by themselves")
    func keys() {
        func object(_ count: Int) -> String {
            "{" + (0..<count).map { "\"k\($0)\":{\"k\($0)\":1}" }.joined(separator: ",") + "}"
        }
        #expect(refusal(object(64)) == nil)
        #expect(refusal(object(65)) == .tooManyKeys)
        #expect(refusal(object(20_000)) == .tooManyKeys)
    }

    @Test("Keys of 256 bytes are accepted, longer ones refused at their quote, before and after others")
    func keyLength() throws {
        #expect(refusal("{\"\(repeated("k", 256))\":1}") == nil)
        #expect(refusal("{\"\(repeated("k", 257))\":1}") == .keyTooLong)
        #expect(refusal("{\"a\":{\"\(repeated("\\u006b", 43))\":1}}") == .keyTooLong)
        var document = JSONDocument()
        let fault = try document.parseWellFormed(Array("{\"a\":1,\"\(repeated("k", 300))\":1}".utf8))
        #expect(fault == JSONError(reason: .keyTooLong, offset: 7))
    }

    @Test("Keys of every length are told apart, and found again however they are written")
    func keysDiffer() {
        for length in 0..<40 {
            let key = repeated("k", length)
            let escaped = repeated("\\u006b", length)
            #expect(refusal("{\"\(key)\":1,\"\(escaped)\":1}") == .duplicateKey, "\(length)")
            #expect(refusal("{\"\(key)\":1,\"\(escaped)\\u0000\":1}") == .escapedNull, "\(length)")
            #expect(refusal("{\"\(key)\":1,\"\(escaped)k\":1,\"\(key)kk\":1}") == nil, "\(length)")
        }
    }

    @Test("1000 elements are accepted, 1001 refused")
    func elements() {
        func array(_ count: Int) -> String { "[" + Array(repeating: "1", count: count).joined(separator: ",") + "]" }
        #expect(refusal(array(1000)) == nil)
        #expect(refusal(array(1001)) == .tooManyElements)
    }

    @Test("32 bytes of number are accepted, 33 refused, whatever they say")
    func numberLength() {
        #expect(refusal("1" + repeated("0", 31)) == nil)
        #expect(refusal("-1" + repeated("0", 31)) == .numberTooLong)
        #expect(refusal("0." + repeated("1", 30)) == nil)
        #expect(refusal("0." + repeated("1", 31)) == .numberTooLong)
        #expect(refusal("1e" + repeated("0", 31)) == .numberTooLong)
        #expect(refusal(repeated("9", 400)) == .numberTooLong)
        #expect(refusal("0." + repeated("3", 60_000)) == .numberTooLong)
    }

    @Test("Hostile texts of 256 KiB take linear time")
    func linearTime() {
        let size = 256 * 1024
        var limits = JSONLimits()
        limits.keyLength = .max
        let keys = (0..<64).map { "\"" + repeated("k", 4000) + "\($0 + 10)\":1" }.joined(separator: ",")
        let samePrefixAndSuffix = (0..<64).map { "\"" + repeated("k", 4000) + "\($0 + 10)kkkkkkkk\":1" }.joined(
            separator: ",")
        let escaped = (0..<64).map { "\"" + repeated("\\u006b", 600) + "\($0 + 10)\\u006b\":1" }.joined(separator: ",")
        let texts = [
            "{\(escaped)}",
            repeated("[", size), repeated("{\"a\":", size / 5), "\"" + repeated("\\", size),
            "\"" + repeated("\\u0041", size / 6) + "\"",
            "\"" + repeated("é", size / 2) + "\"", repeated(" ", size), repeated("1", size),
            "[" + repeated("[],", 999) + "[]]",
            "{\(keys)}", "{\(samePrefixAndSuffix)}", "0." + repeated("0", size) + "1", "1e" + repeated("9", size),
        ]
        let clock = ContinuousClock()
        for text in texts {
            let bytes = Array(text.utf8)
            // Generous: a debug build with a sanitizer on a busy machine. Anything quadratic takes minutes.
            #expect(clock.measure { _ = refusal(bytes, limits: limits) } < .seconds(20), "\(text.prefix(20))…")
        }
    }
}
