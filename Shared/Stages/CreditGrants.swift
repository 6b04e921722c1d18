package import Mesh
package import Wire

/// The credit of all senders on a bound link.
package struct CreditGrants {
    private let window: CommitCredit
    private var grants: [PeerID: CreditGrant] = [:]

    /// No sender yet; each may have a `window` of unfinished commits, which the link's greeting says.
    package init(window: CommitCredit) {
        self.window = window
    }

    /// A sender came up: its counting starts over.
    package mutating func peerUp(_ peer: PeerID) {
        self.grants[peer] = CreditGrant(window: self.window)
    }

    /// A sender went away.
    package mutating func peerDown(_ peer: PeerID) {
        self.grants[peer] = nil
    }

    /// Counts commits of a sender that need no memory here any more, and announces the credit if enough came back.
    package mutating func finish(_ load: CommitLoad, of peer: PeerID, _ send: ([UInt8], PeerID) -> SendResult) {
        self.grants[peer]?.finish(load)
        self.announce(to: peer, send)
    }

    /// Announces a sender's credit if it is due. When the link accepts nothing, it stays due until this is called for
    /// `writable`.
    package mutating func announce(to peer: PeerID, _ send: ([UInt8], PeerID) -> SendResult) {
        guard let due = self.grants[peer]?.due else { return }
        var envelope = EnvelopeWriter()
        envelope.append(due)
        if send(envelope.bytes, peer) == .sent { self.grants[peer]?.announce() }
    }
}
