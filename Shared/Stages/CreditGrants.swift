package import Mesh
package import Wire

/// The credit of all senders on a bound link.
package struct CreditGrants {
    private let window: CommitCredit
    private var grants: [PeerID: CreditGrant] = [:]

    /// Creates grants without senders; each sender may have a `window` of unfinished commits, as the link's greeting
    /// says.
    package init(window: CommitCredit) {
        self.window = window
    }

    /// Starts the counting for a sender whose link came up.
    package mutating func peerUp(_ peer: PeerID) {
        self.grants[peer] = CreditGrant(window: self.window)
    }

    /// Removes a sender whose link went down.
    package mutating func peerDown(_ peer: PeerID) {
        self.grants[peer] = nil
    }

    /// Counts finished commits of a sender and announces credit if enough has come back.
    package mutating func finish(_ load: CommitLoad, of peer: PeerID, _ send: ([UInt8], PeerID) -> SendResult) {
        self.grants[peer]?.finish(load)
        self.announce(to: peer, send)
    }

    /// Announces a sender's credit if it is due. If the link does not accept the message, the credit stays due; call
    /// this again on `writable`.
    package mutating func announce(to peer: PeerID, _ send: ([UInt8], PeerID) -> SendResult) {
        guard let due = self.grants[peer]?.due else { return }
        var envelope = EnvelopeWriter()
        envelope.append(due)
        if send(envelope.bytes, peer) == .sent { self.grants[peer]?.announce() }
    }
}
