import PipelineTestKit
import Testing
import Wire

/// What a release has written, or others have kept by it, means the same in every later one.
@Suite struct GoldenTests {
    /// A record's kind and fields.
    private struct Line {
        let text: String
        let kind: UInt8
        let fields: [UInt8]

        init(_ text: String) throws {
            let bytes = bytes(text)
            self.text = text
            self.kind = try #require(bytes.first)
            self.fields = Array(bytes.dropFirst())
        }
    }

    private static func lines(of version: UInt8) throws -> [Line] {
        try GoldenFile.lines("wire-\(version).txt").map(Line.init)
    }

    @Test func everyVersionThatIsSpokenHasItsFiles() throws {
        let files = try GoldenFile.names().filter { $0.hasPrefix("wire-") || $0.hasPrefix("greeting-") }
        #expect(files == WireVersions.spoken.flatMap { ["greeting-\($0).txt", "wire-\($0).txt"] }.sorted())
    }

    /// Nothing of a record is lost when it is written again.
    @Test(arguments: WireVersions.spoken)
    func recordsOfEarlierReleasesAreRead(version: UInt8) throws {
        for line in try Self.lines(of: version) {
            let header: [UInt8] = [0x54, 0x53, version, 0, 1, 0, 0, 0, line.kind]
            let length = withUnsafeBytes(of: UInt32(line.fields.count).littleEndian) { Array($0) }
            let records = try read(header + length + line.fields)
            try #require(records.count == 1, "\(line.text)")
            let sample = try #require(Samples.all.first { type(of: $0).kind == records[0].kind })
            #expect(try rewritten(line.fields, as: sample).starts(with: line.fields), "\(line.text)")
        }
    }

    @Test func everyRecordHasItsLine() throws {
        let lines = try Self.lines(of: EnvelopeWriter.version)
        let known = Set(lines.map(\.text))
        for record in try Samples.all + EditTests.commits() {
            let line = hex([type(of: record).kind.rawValue] + encode(record))
            #expect(known.contains(line), "MISSING LINE: \(line)")
        }
        #expect(Set(lines.map(\.kind)) == Set(RecordKind.allCases.map(\.rawValue)))
    }

    /// The log keeps the hashes: an app may send a commit again to a later release.
    @Test func bodiesKeepTheirHashes() throws {
        let known = try GoldenFile.lines("bodies.txt")
        for commit in try EditTests.commits() {
            let event = allEdits.kind(ofTag: commit.edit.tag)?.traits.event ?? ""
            let line = "\(event) \(String(commit.edit.bodyHash, radix: 16))"
            #expect(known.contains(line), "MISSING LINE: \(line)")
        }
    }
}

private func rewritten<Record: WireRecord>(_ fields: [UInt8], as _: Record) throws(EnvelopeError) -> [UInt8] {
    encode(try decode(Record.self, fields))
}
