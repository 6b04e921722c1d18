package import Mesh
package import Timing
package import Wire

/// How long previews wait for each other, from not at all to as long as they may.
///
///     level                0 ────────── half ────────── full
///     gateways' pause      none ─rises─► longest ────────►
///     coalescers' window   none ────────► none ─rises─► longest
///
/// First a gateway's previews gather between two envelopes, those of all rooms together: that saves the wake-ups on the
/// way, which are most of what previews cost while there are few. Then the publishers of a room wait for each other, which
/// saves writes to its members as well, and costs far more age.
package struct GatheringLevel: Sendable, Equatable, Comparable {
    /// Nothing waits.
    package static let none = Self(0)
    /// Previews wait as long as they may.
    package static let full = Self(GatheringNotice.fullLevel)
    /// Where envelopes are as far apart as they may be, and rooms begin to wait.
    static let half = Self(GatheringNotice.fullLevel / 2)

    /// Thousandths, as in a ``GatheringNotice``.
    package let thousandths: UInt16

    /// A level; above ``full`` it counts as that.
    package init(_ thousandths: UInt16) {
        self.thousandths = min(thousandths, GatheringNotice.fullLevel)
    }

    package static func < (one: Self, other: Self) -> Bool { one.thousandths < other.thousandths }

    /// The pause between two envelopes of previews at a gateway.
    package func pause(upTo longest: Nanoseconds) -> Nanoseconds {
        Self.share(min(self, .half).thousandths, of: longest)
    }

    /// The window in which the publishers of a room wait for each other at a coalescer.
    package func window(upTo longest: Nanoseconds) -> Nanoseconds {
        Self.share(max(self, .half).thousandths - Self.half.thousandths, of: longest)
    }

    private static func share(_ thousandths: UInt16, of longest: Nanoseconds) -> Nanoseconds {
        longest * UInt64(thousandths) / UInt64(Self.half.thousandths)
    }
}

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
