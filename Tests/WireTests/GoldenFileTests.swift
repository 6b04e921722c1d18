import Foundation
import Testing
import Wire

/// The bytes of each wire version that releases have written, one file for each version, one line for each record: the
/// kind's number and the fields. Lines are added, never changed or removed: what a release has written is read for as long
/// as its version is spoken.
@Suite struct GoldenFileTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Golden")
        .standardized

    private struct Line {
        let text: String
        let kind: UInt8
        let fields: [UInt8]
    }

    private static func lines(of version: UInt8) throws -> [Line] {
        let text = try String(contentsOf: Self.folder.appending(path: "wire-\(version).txt"), encoding: .utf8)
        return try text.split(separator: "\n").map { line in
            let bytes = bytes(String(line))
            return Line(text: String(line), kind: try #require(bytes.first), fields: Array(bytes.dropFirst()))
        }
    }

    @Test func everyVersionSpokenHasItsFiles() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path).sorted()
        let names = WireVersions.spoken.flatMap { ["greeting-\($0).txt", "wire-\($0).txt"] }
        #expect(files == names.sorted())
    }

    /// Whatever an earlier release wrote is understood: nothing of it is lost when the record is written again.
    @Test(arguments: WireVersions.spoken)
    func recordsOfEarlierReleasesAreRead(version: UInt8) throws {
        for line in try Self.lines(of: version) {
            let header: [UInt8] = [0x54, 0x53, version, 0, 1, 0, 0, 0, line.kind]
            let length = withUnsafeBytes(of: UInt32(line.fields.count).littleEndian) { Array($0) }
            let records = try read(header + length + line.fields)
            try #require(records.count == 1, "\(line.text)")
            let sample = try #require(Samples.all.first { $0.recordKind == records[0].kind })
            #expect(try rewritten(line.fields, as: sample).starts(with: line.fields), "\(line.text)")
        }
    }

    @Test func everyRecordHasItsLine() throws {
        let lines = try Self.lines(of: EnvelopeWriter.version)
        let known = Set(lines.map(\.text))
        for record in Samples.all {
            let line = "\(hex([record.recordKind.rawValue])) \(hex(encode(record)))"
            #expect(known.contains(line), "MISSING LINE: \(line)")
        }
        #expect(Set(lines.map(\.kind)) == Set(RecordKind.allCases.map(\.rawValue)))
    }

    @Test func releasedLinesNeverChange() throws {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in try Self.lines(of: 2).prefix(50).map(\.text).joined(separator: "\n").utf8 {
            hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
        }
        #expect(hash == 0x5a15_7efd_2530_d474, "add another line")
    }
}

private func rewritten<Record: WireRecord>(_ fields: [UInt8], as _: Record) throws(EnvelopeError) -> [UInt8] {
    encode(try decode(Record.self, fields))
}
