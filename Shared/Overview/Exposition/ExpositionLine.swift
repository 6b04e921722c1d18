/// Reads one line of an exposition from left to right.
struct ExpositionLine {
    /// A rule that the line breaks.
    struct Fault: Error {
        let rule: ExpositionError.Rule
    }

    private let text: ArraySlice<UInt8>
    private let limits: ExpositionLimits
    private var position: Int

    init(_ text: ArraySlice<UInt8>, limits: ExpositionLimits) {
        self.text = text
        self.limits = limits
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
        return ExpositionSample(name, labels, value)
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

    private mutating func name(mayHaveColons: Bool) throws(Fault) -> String {
        let start = self.position
        while let byte = self.next, Self.isNameByte(byte, isFirst: self.position == start, mayHaveColons) {
            self.position += 1
        }
        let name = self.text[start..<self.position]
        guard !name.isEmpty else { throw Fault(rule: .badName) }
        guard name.count <= self.limits.name else { throw Fault(rule: .nameTooLong) }
        return String(decoding: name, as: UTF8.self)
    }

    private static func isNameByte(_ byte: UInt8, isFirst: Bool, _ mayHaveColons: Bool) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): !isFirst
        case UInt8(ascii: ":"): mayHaveColons
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
            guard labels.count < self.limits.labels else { throw Fault(rule: .tooManyLabels) }
            labels.append(try self.label())
            self.skipSpaces()
            // A comma may follow the last label, too.
            guard self.skip(",") || self.next == UInt8(ascii: "}") else { throw Fault(rule: .badLabels) }
            self.skipSpaces()
        }
        return labels
    }

    private mutating func label() throws(Fault) -> ExpositionSample.Label {
        let name = try self.name(mayHaveColons: false)
        self.skipSpaces()
        guard self.skip("=") else { throw Fault(rule: .badLabels) }
        self.skipSpaces()
        guard self.skip("\"") else { throw Fault(rule: .badLabels) }
        return ExpositionSample.Label(name, try self.quoted())
    }

    private mutating func quoted() throws(Fault) -> String {
        var value: [UInt8] = []
        while !self.skip("\"") {
            guard var byte = self.next else { throw Fault(rule: .badLabels) }
            self.position += 1
            if byte == UInt8(ascii: "\\") { byte = try self.escaped() }
            guard value.count < self.limits.value else { throw Fault(rule: .valueTooLong) }
            value.append(byte)
        }
        guard let text = String(validating: value, as: UTF8.self) else { throw Fault(rule: .badText) }
        return text
    }

    private mutating func escaped() throws(Fault) -> UInt8 {
        guard let byte = self.next else { throw Fault(rule: .badLabels) }
        self.position += 1
        switch byte {
        case UInt8(ascii: "n"): return UInt8(ascii: "\n")
        case UInt8(ascii: "\\"), UInt8(ascii: "\""): return byte
        default: throw Fault(rule: .badLabels)
        }
    }

    // MARK: Numbers

    private mutating func number() throws(Fault) -> Double {
        self.skipSpaces()
        switch self.word() {
        case "": throw Fault(rule: .badNumber)
        case "+Inf": return .infinity
        case "-Inf": return -.infinity
        case "NaN": return .nan
        case let word:
            guard word.utf8.allSatisfy(Self.isNumberByte), let value = Double(word) else {
                throw Fault(rule: .badNumber)
            }
            return value
        }
    }

    private mutating func timestamp() throws(Fault) {
        self.skipSpaces()
        let word = self.word()
        guard word.isEmpty || Int64(word) != nil else { throw Fault(rule: .badTimestamp) }
        self.skipSpaces()
        guard self.next == nil else { throw Fault(rule: .badTimestamp) }
    }

    /// The bytes up to the next space; no number is longer than 32.
    private mutating func word() -> String {
        let start = self.position
        while let byte = self.next, byte > 0x20 { self.position += 1 }
        let word = self.text[start..<self.position]
        return word.count > 32 ? "?" : String(decoding: word, as: UTF8.self)
    }

    private static func isNumberByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "e"), UInt8(ascii: "E"):
            true
        default: false
        }
    }
}
