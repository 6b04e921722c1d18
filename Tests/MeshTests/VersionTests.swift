import Testing
import Timing

@testable import Mesh

@Suite struct VersionTests {
    @Test func theNewestVersionInCommonIsSpoken() {
        let range: ClosedRange<UInt16> = 2...4
        #expect(range.newest(with: 1...2) == 2 && range.newest(with: 3...3) == 3 && range.newest(with: 4...9) == 4)
        #expect(range.newest(with: 2...4) == 4 && range.newest(with: 0...9) == 4)
        #expect(range.newest(with: 0...1) == nil && range.newest(with: 5...9) == nil)
        let one: ClosedRange<UInt16> = 2...2
        #expect(range.text == "2 to 4" && one.text == "2")
    }

    @Test func aRefusalNamesTheVersions() throws {
        let refusal = VersionRefusal(7...9)
        let golden: [UInt8] = [0, 1, 0, 7, 0, 9]
        #expect(refusal.encoded == golden)
        #expect(self.decode(golden) == refusal && self.decode(golden + [1, 2, 3]) == refusal)
        #expect(try #require(self.decode([0, 2, 0, 7, 0, 7])).mesh == 2)
        for length in 0..<6 { #expect(self.decode(Array(golden.prefix(length))) == nil) }
        #expect(self.decode([0, 1, 0, 9, 0, 7]) == nil)
    }

    private func decode(_ bytes: [UInt8]) -> VersionRefusal? { bytes.withUnsafeBytes { VersionRefusal($0) } }

    @Test func incompatiblePeersAreListedWhileTheyTry() {
        var peers = IncompatiblePeers()
        let start = Instant.start
        #expect(peers.note(own: "2", at: start) == nil)
        let areLogged = [
            peers.refused("b", speaking: "3", at: start), peers.refused("a", speaking: "3 to 4", at: start),
        ]
        #expect(areLogged == [true, true])
        #expect(
            peers.note(own: "2", at: start) == "no version in common, this daemon speaks 2: a speaks 3 to 4, b speaks 3"
        )
        peers.cameUp("b")
        #expect(peers.note(own: "2", at: start) == "no version in common, this daemon speaks 2: a speaks 3 to 4")
        #expect(peers.note(own: "2", at: start + .seconds(9)) != nil)
        #expect(peers.note(own: "2", at: start + .seconds(10)) == nil)
    }

    @Test func incompatiblePeersAreLoggedAtIntervals() {
        var peers = IncompatiblePeers()
        let logged = (0...10).filter { peers.refused("a", speaking: "3", at: .start + .seconds(UInt64($0) * 2)) }
        #expect(logged == [0, 5, 10])
        let isLogged = peers.refused("a", speaking: "4", at: .start + .seconds(21))
        #expect(isLogged, "it was replaced by another one")
    }

    /// Names on links without keys are anybody's.
    @Test func aFloodOfNamesIsNeitherListedNorLogged() {
        var peers = IncompatiblePeers()
        let logged = (0..<1000).count { peers.refused("\($0)", speaking: "3", at: .start) }
        #expect(logged == IncompatiblePeers.capacity)
        let note = peers.note(own: "2", at: .start) ?? ""
        #expect(note.utf8.count < 1000 && note.split(separator: ",").count == IncompatiblePeers.capacity + 1)
        let isLogged = peers.refused("later", speaking: "3", at: .start + .seconds(10))
        #expect(isLogged)
    }
}
