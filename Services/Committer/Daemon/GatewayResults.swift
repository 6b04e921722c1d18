package import Mesh
package import Stages
package import Wire

/// What is on its way to gateways: results, which are addressed by name, and the credit for further commits.
///
/// A result that cannot be sent is dropped: its gateway will retry the commit.
package struct GatewayResults {
    private struct Sender {
        let peer: PeerID
        let name: String
        var grant: CreditGrant
    }

    /// The outboxes of the gateways that are up.
    package var outboxes: Outboxes<PeerID>
    private let window: CommitCredit
    /// Gateways by their numbers in the core.
    private var senders: [UInt64: Sender] = [:]
    /// The newest peer of each name.
    private var peers: [String: PeerID] = [:]

    /// No gateways yet; each may have a `window` of unfinished commits.
    package init(window: CommitCredit, limits: OutboxLimits = .results) {
        self.window = window
        self.outboxes = Outboxes(limits)
    }

    /// A gateway's link came up.
    package mutating func linkUp(_ peer: PeerID, name: String) {
        self.outboxes.linkUp(peer)
        self.peers[name] = peer
        self.senders[peer.serial] = Sender(peer: peer, name: name, grant: CreditGrant(window: self.window))
    }

    /// The name of a gateway that is up.
    func name(of peer: PeerID) -> String? { self.senders[peer.serial]?.name }

    /// A gateway's link went down.
    package mutating func linkDown(_ peer: PeerID) {
        self.outboxes.linkDown(peer)
        for (name, known) in self.peers where known == peer { self.peers[name] = nil }
        self.senders[peer.serial] = nil
    }

    /// A gateway's link accepts envelopes again. If results for it were dropped, so was perhaps its credit.
    package mutating func writable(_ peer: PeerID) {
        guard self.outboxes.writable(peer), let credit = self.senders[peer.serial]?.grant.announce() else { return }
        self.outboxes.append(credit, to: peer)
    }

    /// Grants senders, by their numbers, credit for finished commits.
    package mutating func finish(_ finished: [UInt64: CommitLoad]) {
        for (number, load) in finished {
            self.senders[number]?.grant.finish(load)
            guard let due = self.senders[number]?.grant.takeDue() else { continue }
            self.outboxes.append(due, to: self.senders[number]?.peer)
        }
    }

    /// Adds a result.
    package mutating func append(_ result: CommitResult, to gateway: Identifier) {
        self.outboxes.append(result, to: self.peers[gateway.text])
    }
}
