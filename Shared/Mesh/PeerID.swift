/// A peer of a `ServerLink`, from its `peerUp` to its `peerDown`. Never used again: a peer that comes back has another one.
package struct PeerID: Hashable, Sendable, CustomStringConvertible {
    /// The place that it has among the link's peers; used again by others after it.
    package let slot: UInt32
    /// Its number among all peers of the link, never used again.
    package let serial: UInt64

    /// The peer of these numbers.
    package init(slot: UInt32, serial: UInt64) {
        self.slot = slot
        self.serial = serial
    }

    /// For logs.
    package var description: String { "peer-\(self.serial)" }
}
