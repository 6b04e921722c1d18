import Mesh
import Stages
import Testing
import Wire

/// Whom a coalescer follows.
@Suite struct GatheringLevelsTests {
    private let one = PeerID(slot: 0, serial: 1)
    private let two = PeerID(slot: 1, serial: 2)

    @Test func theBusiestGatewayDecides() {
        var levels = GatheringLevels()
        #expect(levels.highest == .none)
        levels.peerUp(self.one)
        levels.peerUp(self.two)
        // One of a release before stays there.
        #expect(levels.highest == .full)
        levels.noticeReceived(GatheringNotice(level: 0), from: self.one)
        levels.noticeReceived(GatheringNotice(level: 300), from: self.two)
        #expect(levels.highest == GatheringLevel(300))
        levels.noticeReceived(GatheringNotice(level: 500), from: self.one)
        #expect(levels.highest == GatheringLevel(500))
        levels.peerDown(self.one)
        #expect(levels.highest == GatheringLevel(300))
        levels.peerDown(self.two)
        #expect(levels.highest == .none)
    }
}
