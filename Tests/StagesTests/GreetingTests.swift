import Mesh
import PipelineTestKit
import Stages
import Testing
import Wire

/// The greetings of links, as a release of each wire version sends them: a gateway's, and a committer's with its credit.
@Suite struct GreetingTests {
    private static func golden(_ version: UInt8) throws -> [[UInt8]] {
        try GoldenFile.lines("greeting-\(version).txt").map { line in
            line.split(separator: " ").compactMap { UInt8($0, radix: 16) }
        }
    }

    @Test(arguments: WireVersions.spoken)
    func greetingsOfEarlierReleasesAreRead(version: UInt8) throws {
        let hellos = try Self.golden(version).map { bytes in try bytes.withUnsafeBytes { try Hello($0) } }
        #expect(hellos.map(\.name) == ["gateway-1", "committer-1"])
        #expect(hellos.map(\.incarnation) == [9, 0])
        #expect(hellos.allSatisfy { LinkIdentity(daemon: "x").versions.newest(with: $0.versions) == UInt16(version) })
        #expect(CommitCredit(greeting: hellos[0].greeting) == nil)
        #expect(CommitCredit(greeting: hellos[1].greeting) == CommitCredit(commits: 4096, bytes: 8 << 20))
    }

    @Test func thisReleaseGreetsAsItsGoldenBytesSay() throws {
        let credit = CommitCredit(commits: 4096, bytes: 8 << 20)
        let hellos = [
            Hello(LinkIdentity(daemon: "gateway-1"), instance: 0x0102_0304_0506_0708, incarnation: 9),
            Hello(LinkIdentity(daemon: "committer-1", credit: credit), instance: 0x1112_1314_1516_1718, incarnation: 0),
        ]
        #expect(try hellos.map { $0.encoded() } == Self.golden(WireVersions.spoken.upperBound))
    }
}
