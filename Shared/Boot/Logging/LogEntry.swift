internal import JSONBytes

/// A line of a daemon's log, as ``LogLine`` wrote it in either format.
///
/// In the text format nothing marks where the message ends: its first word with an equals sign is taken for a field. Log
/// messages have none.
package struct LogEntry: Equatable, Sendable {
    /// RFC 3339, UTC.
    package let time: String
    /// The instance's name.
    package let origin: String
    package let message: String
    package let fields: [String: String]

    /// Reads a line, without its newline.
    /// - Returns: nil when no daemon logged it.
    package init?(_ line: [UInt8]) {
        if line.first == UInt8(ascii: "{") { self.init(json: line) } else { self.init(text: line[...]) }
    }

    private init?(json line: [UInt8]) {
        var document = JSONDocument()
        guard (try? document.parse(line)) != nil, let time = document.root["time"]?.string,
            let origin = document.root["name"]?.string, let message = document.root["message"]?.string
        else { return nil }
        self.time = time
        self.origin = origin
        self.message = message
        var fields: [String: String] = [:]
        if let members = document.root["fields"]?.members {
            for (key, value) in members { fields[key.string ?? ""] = value.string ?? "" }
        }
        self.fields = fields
    }

    private init?(text line: ArraySlice<UInt8>) {
        let words = line.split(separator: UInt8(ascii: " "), maxSplits: 3, omittingEmptySubsequences: false)
        guard words.count == 4 else { return nil }
        self.time = String(decoding: words[0], as: UTF8.self)
        self.origin = String(decoding: words[2], as: UTF8.self)
        var text = LogText(words[3])
        self.message = text.message()
        var fields: [String: String] = [:]
        while let (key, value) = text.field() { fields[key] = value }
        self.fields = fields
    }
}

extension LogEntry {
    /// The time in microseconds since 1970; nil when it is no time of a log.
    package var microseconds: Int64? { LogTime.microseconds(self.time) }
}

/// Reads the message and the fields of a line in the text format.
private struct LogText {
    private var rest: ArraySlice<UInt8>

    init(_ text: ArraySlice<UInt8>) {
        self.rest = text
    }

    /// All words before the first field.
    mutating func message() -> String {
        var end = self.rest.startIndex
        for word in self.rest.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false) {
            if word.contains(UInt8(ascii: "=")) { break }
            end = word.endIndex
        }
        defer { self.rest = self.rest[end...].dropFirst() }
        return Self.unescaped(self.rest[..<end])
    }

    /// The next field: `key=value`, or `key="value with spaces"`.
    mutating func field() -> (key: String, value: String)? {
        guard let equals = self.rest.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        let key = Self.unescaped(self.rest[..<equals])
        self.rest = self.rest[(equals + 1)...]
        guard self.rest.first == UInt8(ascii: "\"") else {
            let end = self.rest.firstIndex(of: UInt8(ascii: " ")) ?? self.rest.endIndex
            defer { self.rest = self.rest[end...].dropFirst() }
            return (key, Self.unescaped(self.rest[..<end]))
        }
        self.rest.removeFirst()
        let end = self.closingQuote
        defer { self.rest = self.rest[end...].dropFirst(2) }
        return (key, Self.unescaped(self.rest[..<end]))
    }

    private var closingQuote: Int {
        var index = self.rest.startIndex
        while index < self.rest.endIndex, self.rest[index] != UInt8(ascii: "\"") {
            index += self.rest[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(index, self.rest.endIndex)
    }

    private static func unescaped(_ bytes: ArraySlice<UInt8>) -> String {
        let text = String(decoding: bytes, as: UTF8.self)
        guard bytes.contains(UInt8(ascii: "\\")) else { return text }
        var scalars = text.unicodeScalars.makeIterator()
        var plain = ""
        while let scalar = scalars.next() {
            guard scalar == "\\" else {
                plain.unicodeScalars.append(scalar)
                continue
            }
            switch scalars.next() {
            case "n": plain += "\n"
            case "r": plain += "\r"
            case "t": plain += "\t"
            case "u": plain.unicodeScalars.append(Self.codePoint(&scalars))
            case let other?: plain.unicodeScalars.append(other)
            case nil: break
            }
        }
        return plain
    }

    /// The rest of `\u{…}`.
    private static func codePoint(_ scalars: inout String.UnicodeScalarView.Iterator) -> Unicode.Scalar {
        var digits = ""
        while let scalar = scalars.next(), scalar != "}" {
            if scalar != "{", digits.utf8.count < 8 { digits.unicodeScalars.append(scalar) }
        }
        return UInt32(digits, radix: 16).flatMap { Unicode.Scalar($0) } ?? "\u{FFFD}"
    }
}
