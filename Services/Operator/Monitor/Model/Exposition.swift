/// One line of an exposition: a metric, its labels and its value.
struct ExpositionSample: Equatable, Sendable {
    struct Label: Equatable, Sendable {
        let name: String
        let value: String
    }

    let name: String
    var labels: [Label] = []
    /// Any double, infinities and NaN included.
    let value: Double

    /// The value of a label; nil when the sample lacks it.
    subscript(_ label: String) -> String? { self.labels.first { $0.name == label }?.value }
}

/// A text is not accepted as a Prometheus exposition.
struct ExpositionError: Error, Equatable, Sendable {
    /// The rule that it breaks, completing "line 3 of them".
    let rule: String
    /// The line, from 1.
    let line: Int
}

/// The text format of Prometheus, version 0.0.4 (prometheus.io/docs/instrumenting/exposition_formats).
///
///     # comment, HELP and TYPE lines: skipped
///     name{label="value",…} value [timestamp]
///
/// One pass, linear in the text's length. Stricter than the format where it is lax: the last line ends with a line feed,
/// so that a truncated text is an error, label values are UTF-8, and numbers have no hexadecimal form.
enum Exposition {
    /// The samples and the bytes of a line that a text may have. Who fetches it limits its bytes.
    static let maxSamples = 20_000
    static let maxLine = 8192
    /// The labels of a sample, and the bytes of a name and of a label's value.
    static let maxLabels = 16
    static let maxName = 128
    static let maxValue = 512

    /// All samples of a text, in their order.
    /// - Throws: an ``ExpositionError`` for any other text; each limit is checked before anything of that size is stored.
    static func samples(_ text: [UInt8]) throws(ExpositionError) -> [ExpositionSample] {
        var samples: [ExpositionSample] = []
        var (start, line) = (0, 0)
        while start < text.count {
            line += 1
            let limit = min(text.count, start + Self.maxLine + 1)
            guard let end = text[start..<limit].firstIndex(of: UInt8(ascii: "\n")) else {
                throw ExpositionError(rule: "is cut off, or too long", line: line)
            }
            do throws(ExpositionLine.Fault) {
                var reader = ExpositionLine(text[start..<end])
                if let sample = try reader.sample() { samples.append(sample) }
            } catch {
                throw ExpositionError(rule: error.rule, line: line)
            }
            guard samples.count <= Self.maxSamples else { throw ExpositionError(rule: "is one too many", line: line) }
            start = end + 1
        }
        return samples
    }
}

/// Reads one line from left to right.
private struct ExpositionLine {
    struct Fault: Error {
        let rule: String

        static let labels = Fault(rule: "has malformed labels")
        static let number = Fault(rule: "has no number as its value")
    }

    private let text: ArraySlice<UInt8>
    private var position: Int

    init(_ text: ArraySlice<UInt8>) {
        self.text = text
        self.position = text.startIndex
    }

    /// The line's sample; nil for an empty line and a comment.
    mutating func sample() throws(Fault) -> ExpositionSample? {
        self.skipSpaces()
        guard let first = self.next, first != UInt8(ascii: "#") else { return nil }
        let name = try self.name(mayHaveColons: true)
        let labels = try self.labels()
        let value = try self.number()
        try self.timestamp()
        return ExpositionSample(name: name, labels: labels, value: value)
    }

    private var next: UInt8? { self.position < self.text.endIndex ? self.text[self.position] : nil }

    private mutating func skipSpaces() {
        while let byte = self.next, byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") { self.position += 1 }
    }

    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard self.next == UInt8(ascii: character) else { return false }
        self.position += 1
        return true
    }

    /// The bytes from here on that belong together.
    private mutating func bytes(while belongs: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let start = self.position
        while let byte = self.next, belongs(byte) { self.position += 1 }
        return self.text[start..<self.position]
    }

    private mutating func name(mayHaveColons: Bool) throws(Fault) -> String {
        let name = self.bytes { Self.isNameByte($0) || (mayHaveColons && $0 == UInt8(ascii: ":")) }
        guard let first = name.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else {
            throw Fault(rule: "needs a name")
        }
        guard name.count <= Exposition.maxName else { throw Fault(rule: "has a name that is too long") }
        return String(decoding: name, as: UTF8.self)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    // MARK: Labels

    private mutating func labels() throws(Fault) -> [ExpositionSample.Label] {
        self.skipSpaces()
        guard self.skip("{") else { return [] }
        var labels: [ExpositionSample.Label] = []
        self.skipSpaces()
        while !self.skip("}") {
            guard labels.count < Exposition.maxLabels else { throw Fault(rule: "has too many labels") }
            labels.append(try self.label())
            self.skipSpaces()
            // A comma may follow the last label, too.
            guard self.skip(",") || self.next == UInt8(ascii: "}") else { throw .labels }
            self.skipSpaces()
        }
        return labels
    }

    private mutating func label() throws(Fault) -> ExpositionSample.Label {
        let name = try self.name(mayHaveColons: false)
        self.skipSpaces()
        guard self.skip("=") else { throw .labels }
        self.skipSpaces()
        guard self.skip("\"") else { throw .labels }
        return ExpositionSample.Label(name: name, value: try self.quoted())
    }

    private mutating func quoted() throws(Fault) -> String {
        var value: [UInt8] = []
        while !self.skip("\"") {
            guard var byte = self.next else { throw .labels }
            self.position += 1
            if byte == UInt8(ascii: "\\") { byte = try self.escaped() }
            guard value.count < Exposition.maxValue else { throw Fault(rule: "has a label that is too long") }
            value.append(byte)
        }
        guard let text = String(validating: value, as: UTF8.self) else { throw Fault(rule: "is not valid UTF-8") }
        return text
    }

    private mutating func escaped() throws(Fault) -> UInt8 {
        guard let byte = self.next else { throw .labels }
        self.position += 1
        switch byte {
        case UInt8(ascii: "n"): return UInt8(ascii: "\n")
        case UInt8(ascii: "\\"), UInt8(ascii: "\""): return byte
        default: throw .labels
        }
    }

    // MARK: Numbers

    private mutating func number() throws(Fault) -> Double {
        switch self.word() {
        case "+Inf": return .infinity
        case "-Inf": return -.infinity
        case "NaN": return .nan
        case let word:
            guard word.utf8.allSatisfy("0123456789+-.eE".utf8.contains), let value = Double(word) else { throw .number }
            return value
        }
    }

    private mutating func timestamp() throws(Fault) {
        let word = self.word()
        self.skipSpaces()
        guard word.isEmpty || Int64(word) != nil, self.next == nil else {
            throw Fault(rule: "has a malformed timestamp")
        }
    }

    /// The bytes up to the next space; no number is longer than 32.
    private mutating func word() -> String {
        self.skipSpaces()
        let word = self.bytes { $0 > 0x20 }
        return word.count > 32 ? "?" : String(decoding: word, as: UTF8.self)
    }
}
