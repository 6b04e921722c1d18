import Testing

@testable import Overview

@Suite struct ExpositionTests {
    private let text = """
        # HELP touchsync_x_total Things.
        # TYPE touchsync_x_total counter
        touchsync_x_total{reason="a \\"b\\" \\\\ \\n c",other="é"} 12

        touchsync_seconds_bucket{le="+Inf",} 3 1700000000000
          name:with_colon	-1.5e-3
        a NaN
        b +Inf
        c -Inf

        """

    private func parse(_ text: String) -> Result<[ExpositionSample], ExpositionError> {
        Result { () throws(ExpositionError) in try ExpositionParser().samples(Array(text.utf8)) }
    }

    private func rule(of text: String, limits: ExpositionLimits = ExpositionLimits()) -> ExpositionError? {
        do throws(ExpositionError) {
            _ = try ExpositionParser(limits: limits).samples(Array(text.utf8))
            return nil
        } catch {
            return error
        }
    }

    @Test func samplesKeepNamesLabelsAndValues() throws {
        let samples = try parse(text).get()
        #expect(
            samples.prefix(3) == [
                ExpositionSample(
                    "touchsync_x_total", [.init("reason", "a \"b\" \\ \n c"), .init("other", "é")], 12),
                ExpositionSample("touchsync_seconds_bucket", [.init("le", "+Inf")], 3),
                ExpositionSample("name:with_colon", [], -0.0015),
            ])
        #expect(samples[3].value.isNaN)
        #expect(samples[4].value == .infinity)
        #expect(samples[5].value == -.infinity)
        #expect(samples.count == 6)
    }

    @Test func truncatedTextIsAnErrorOrWhole() throws {
        let bytes = Array(text.utf8)
        let whole = try parse(text).get().count
        for end in bytes.indices {
            let part = Array(bytes[..<end])
            do throws(ExpositionError) {
                let samples = try ExpositionParser().samples(part)
                #expect(part.isEmpty || part.last == UInt8(ascii: "\n"))
                #expect(samples.count <= whole)
            } catch {
                #expect(part.last != UInt8(ascii: "\n"))
            }
        }
    }

    @Test func everyFlippedBitIsAnErrorOrASample() {
        var bytes = Array(text.utf8)
        for index in bytes.indices {
            for bit in 0..<8 {
                bytes[index] ^= 1 << bit
                _ = try? ExpositionParser().samples(bytes)
                bytes[index] ^= 1 << bit
            }
        }
    }

    @Test(arguments: [
        ("1a 2\n", ExpositionError.Rule.badName), ("a\n", .badNumber), ("a 0x10\n", .badNumber),
        ("a inf\n", .badNumber),
        ("a 1 2 3\n", .badTimestamp), ("a 1 x\n", .badTimestamp), ("a{b=\"c\" 1\n", .badLabels),
        ("a{b=c} 1\n", .badLabels), ("a{b=\"\\x\"} 1\n", .badLabels), ("a{b=\"c} 1\n", .badLabels),
        ("a{b:c=\"d\"} 1\n", .badLabels), ("a 1", .noLineEnd),
    ])
    func malformedLinesAreRefused(_ text: String, _ expected: ExpositionError.Rule) {
        #expect(rule(of: text)?.rule == expected)
    }

    @Test func labelsAreUTF8() {
        let text = Array("a{b=\"".utf8) + [0xC3, 0x28] + Array("\"} 1\n".utf8)
        #expect(throws: ExpositionError(rule: .badText, line: 1)) { try ExpositionParser().samples(text) }
    }

    @Test func theErrorNamesTheLine() {
        #expect(rule(of: "a 1\n\nb ?\n") == ExpositionError(rule: .badNumber, line: 3))
        #expect(rule(of: "a 1\n\nb ?\n")?.text == "Line 3 has no number as its value.")
    }

    @Test func eachLimitIsChecked() {
        var limits = ExpositionLimits()
        limits.bytes = 100
        limits.samples = 2
        limits.line = 40
        limits.labels = 1
        limits.name = 5
        limits.value = 3
        let samples = "a{b=\"ccc\"} 1\nabcde 2\n"
        #expect(rule(of: samples, limits: limits) == nil)
        #expect(rule(of: samples + "c 3\n", limits: limits)?.rule == .tooManySamples)
        #expect(rule(of: String(repeating: "a 1\n", count: 26), limits: limits)?.rule == .tooManyBytes)
        #expect(rule(of: "#" + String(repeating: "x", count: 40) + "\n", limits: limits)?.rule == .lineTooLong)
        #expect(rule(of: "a{b=\"\",c=\"\"} 1\n", limits: limits)?.rule == .tooManyLabels)
        #expect(rule(of: "abcdef 1\n", limits: limits)?.rule == .nameTooLong)
        #expect(rule(of: "a{b=\"cccc\"} 1\n", limits: limits)?.rule == .valueTooLong)
    }
}
