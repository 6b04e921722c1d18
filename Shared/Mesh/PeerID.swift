/// A peer of a `ServerLink`, from its `peerUp` to its `peerDown`. Never reused: a peer that comes back gets another
/// one.
package struct PeerID: Hashable, Sendable, CustomStringConvertible {
    /// Its slot among the link's peers; reused by later peers.
    package let slot: UInt32
    /// Its number among all peers of the link; never reused.
    package let serial: UInt64

    package init(slot: UInt32, serial: UInt64) {
        self.slot = slot
        self.serial = serial
    }

    package var description: String { "peer-\(self.serial)" }
}
