/// Parses the text format of Prometheus, version 0.0.4 (prometheus.io/docs/instrumenting/exposition_formats).
///
///     # comment, HELP and TYPE lines: skipped
///     name{label="value",…} value [timestamp]
///
/// One pass, linear in the text's length. Stricter than the format where it is lax: the last line ends with a line feed,
/// so that a truncated text is an error, label values are UTF-8, and numbers have no hexadecimal form.
package struct ExpositionParser: Sendable {
    private let limits: ExpositionLimits

    package init(limits: ExpositionLimits = ExpositionLimits()) {
        self.limits = limits
    }

    /// All samples of a text, in their order.
    /// - Throws: an ``ExpositionError`` for any other text.
    package func samples(_ text: [UInt8]) throws(ExpositionError) -> [ExpositionSample] {
        guard text.count <= self.limits.bytes else { throw ExpositionError(rule: .tooManyBytes, line: 0) }
        guard text.isEmpty || text.last == UInt8(ascii: "\n") else { throw ExpositionError(rule: .noLineEnd, line: 0) }
        var samples: [ExpositionSample] = []
        var start = 0
        var line = 0
        while start < text.count {
            line += 1
            let limit = min(text.count, start + self.limits.line + 1)
            guard let end = text[start..<limit].firstIndex(of: UInt8(ascii: "\n")) else {
                throw ExpositionError(rule: .lineTooLong, line: line)
            }
            do throws(ExpositionLine.Fault) {
                var reader = ExpositionLine(text[start..<end], limits: self.limits)
                if let sample = try reader.sample() {
                    guard samples.count < self.limits.samples else { throw .init(rule: .tooManySamples) }
                    samples.append(sample)
                }
            } catch {
                throw ExpositionError(rule: error.rule, line: line)
            }
            start = end + 1
        }
        return samples
    }
}
