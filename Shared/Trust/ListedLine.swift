/// A line of a file that is neither empty nor a comment, split at spaces and tabs.
struct ListedLine {
    /// From 1.
    let number: Int
    let words: [String]

    /// The lines of a file. A comment begins with `#` and has a line of its own: `#` is also a character of keys.
    static func lines(of bytes: [UInt8]) -> [ListedLine] {
        var lines: [ListedLine] = []
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            let words = line.split { [UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r")].contains($0) }
            guard let first = words.first, first.first != UInt8(ascii: "#") else { continue }
            lines.append(ListedLine(number: index + 1, words: words.map { String(decoding: $0, as: UTF8.self) }))
        }
        return lines
    }
}
