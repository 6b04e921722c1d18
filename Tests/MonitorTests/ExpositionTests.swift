import Testing

@testable import OperatorMonitor

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

    /// The line that is refused, and why; nil for a text that is accepted.
    private func refusal(of text: String) -> ExpositionError? {
        do throws(ExpositionError) {
            _ = try Exposition.samples(Array(text.utf8))
            return nil
        } catch {
            return error
        }
    }

    @Test func samplesKeepNamesLabelsAndValues() throws {
        let samples = try Exposition.samples(Array(text.utf8))
        #expect(
            samples.prefix(3) == [
                ExpositionSample(
                    name: "touchsync_x_total",
                    labels: [.init(name: "reason", value: "a \"b\" \\ \n c"), .init(name: "other", value: "é")],
                    value: 12),
                ExpositionSample(
                    name: "touchsync_seconds_bucket", labels: [.init(name: "le", value: "+Inf")], value: 3),
                ExpositionSample(name: "name:with_colon", value: -0.0015),
            ])
        #expect(samples[3].value.isNaN)
        #expect(samples[4].value == .infinity)
        #expect(samples[5].value == -.infinity)
        #expect(samples.count == 6)
    }

    @Test func truncatedTextIsAnErrorOrWhole() throws {
        let bytes = Array(text.utf8)
        let whole = try Exposition.samples(bytes).count
        for end in bytes.indices {
            let part = Array(bytes[..<end])
            do throws(ExpositionError) {
                let samples = try Exposition.samples(part)
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
                _ = try? Exposition.samples(bytes)
                bytes[index] ^= 1 << bit
            }
        }
    }

    @Test(arguments: [
        "1a 2", "a", "a 0x10", "a inf", "a 1 2 3", "a 1 x", "a{b=\"c\" 1", "a{b=c} 1", "a{b=\"\\x\"} 1", "a{b=\"c} 1",
        "a{b:c=\"d\"} 1",
    ])
    func malformedLinesAreRefused(_ line: String) {
        #expect(refusal(of: "a 1\n\n\(line)\n")?.line == 3)
    }

    @Test func labelsAreUTF8() {
        let text = Array("a{b=\"".utf8) + [0xC3, 0x28] + Array("\"} 1\n".utf8)
        #expect(throws: ExpositionError.self) { try Exposition.samples(text) }
    }

    @Test func eachLimitIsChecked() {
        func long(_ count: Int) -> String { String(repeating: "x", count: count) }
        func labels(_ count: Int) -> String { (0..<count).map { "l\($0)=\"\"" }.joined(separator: ",") }
        let lines: [(Int, (Int) -> String)] = [
            (Exposition.maxName, { "\(long($0)) 1" }), (Exposition.maxValue, { "a{b=\"\(long($0))\"} 1" }),
            (Exposition.maxLabels, { "a{\(labels($0))} 1" }), (Exposition.maxLine, { "#\(long($0 - 1))" }),
        ]
        for (limit, line) in lines {
            #expect(refusal(of: line(limit) + "\n") == nil)
            #expect(refusal(of: line(limit + 1) + "\n")?.line == 1)
        }
        let many = String(repeating: "a 1\n", count: Exposition.maxSamples)
        #expect(refusal(of: many) == nil)
        #expect(refusal(of: many + "a 1\n")?.line == Exposition.maxSamples + 1)
    }
}
