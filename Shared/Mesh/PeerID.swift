/// A peer of a `ServerLink`, from its `peerUp` to its `peerDown`. Never used again: a peer that comes back has another one.
package struct PeerID: Hashable, Sendable, CustomStringConvertible {
    let slot: UInt32
    let serial: UInt64
    /// For logs.
    package var description: String { "peer-\(self.serial)" }
}
