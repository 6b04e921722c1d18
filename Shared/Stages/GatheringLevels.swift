package import Mesh
package import Wire

/// How long previews shall wait for each other at a coalescer: as long as the busiest of its gateways asks.
package struct GatheringLevels {
    private var levels: [PeerID: GatheringLevel] = [:]

    /// Levels without gateways.
    package init() {}

    /// The highest level of all gateways; none without gateways.
    package private(set) var highest = GatheringLevel.none

    /// A gateway's link came up. Until it sends a notice, as one of a release before never does, the longest wait is
    /// safe.
    package mutating func peerUp(_ peer: PeerID) { self.set(.full, of: peer) }

    /// A gateway's link went down.
    package mutating func peerDown(_ peer: PeerID) { self.set(nil, of: peer) }

    /// A gateway sent a notice.
    package mutating func noticeReceived(_ notice: GatheringNotice, from peer: PeerID) {
        self.set(GatheringLevel(notice.level), of: peer)
    }

    private mutating func set(_ level: GatheringLevel?, of peer: PeerID) {
        self.levels[peer] = level
        self.highest = self.levels.values.max() ?? .none
    }
}
