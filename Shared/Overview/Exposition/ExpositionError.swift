/// Why a text is not accepted as a Prometheus exposition.
package struct ExpositionError: Error, Equatable, Sendable {
    /// The rule that it breaks.
    package enum Rule: String, Sendable {
        case tooManyBytes = "exceeds the limit of bytes"
        case tooManySamples = "exceeds the limit of samples"
        case lineTooLong = "exceeds the limit of a line"
        case tooManyLabels = "exceeds the limit of labels"
        case nameTooLong = "has a name that exceeds the limit"
        case valueTooLong = "has a label value that exceeds the limit"
        case badName = "needs a metric name"
        case badLabels = "has malformed labels"
        case badText = "is not valid UTF-8"
        case badNumber = "has no number as its value"
        case badTimestamp = "has a malformed timestamp"
        case noLineEnd = "does not end with a line feed"
    }

    package let rule: Rule
    /// The line, from 1; 0 when the rule is about the whole text.
    package let line: Int

    /// A sentence for people.
    package var text: String {
        self.line == 0 ? "The exposition \(self.rule.rawValue)." : "Line \(self.line) \(self.rule.rawValue)."
    }
}

/// The limits of an exposition, each checked before anything of that size is stored.
package struct ExpositionLimits: Sendable {
    package var bytes = 1 << 20
    package var samples = 20_000
    /// Bytes of a line.
    package var line = 8192
    /// Labels of one sample.
    package var labels = 16
    /// Bytes of the name of a metric or label.
    package var name = 128
    /// Bytes of a label's value.
    package var value = 512

    /// The defaults above.
    package init() {}
}
