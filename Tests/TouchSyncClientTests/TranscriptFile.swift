import Foundation

/// The lines of a transcript, those that it includes in their places. Tests/ClientTranscripts/README.md has their form.
struct TranscriptFile {
    struct Line {
        let text: String
        /// File and number of the line.
        let location: String
    }

    static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../ClientTranscripts")
        .standardizedFileURL

    /// The names of all transcripts.
    static var all: [String] {
        let names = try? FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        return (names ?? []).filter { $0.hasSuffix(".txt") }.sorted()
    }

    let lines: [Line]

    init(_ name: String) throws {
        let text = try String(contentsOf: Self.folder.appending(path: name), encoding: .utf8)
        self.lines = try text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().flatMap {
            (index, line) in
            if line.hasPrefix("include ") { return try TranscriptFile(String(line.dropFirst(8))).lines }
            return [Line(text: String(line), location: "\(name):\(index + 1)")]
        }
    }
}
