package import Mesh
internal import Stages
package import Wire

/// The gateways on the bound link, their credit, and the results for them, which are addressed by name.
///
/// A result that cannot be sent is dropped: its gateway will retry the commit.
package struct GatewayLane {
    private let outboxLimit: Int
    private var grants: CreditGrants
    /// Senders by their numbers in the core.
    private var senders: [UInt64: PeerID] = [:]
    /// The newest peer of each name.
    private var peers: [String: PeerID] = [:]
    private var outboxes: [PeerID: Outbox] = [:]
    /// Peers with output in this turn.
    private var touched: [PeerID] = []
    /// The number of results that reached no gateway.
    package private(set) var dropped = 0

    /// No senders yet; each may have a `window` of unfinished commits and `outboxLimit` bytes of queued output.
    package init(window: CommitCredit, outboxLimit: Int) {
        self.grants = CreditGrants(window: window)
        self.outboxLimit = outboxLimit
    }

    /// True when no result is queued.
    package var isEmpty: Bool { self.outboxes.values.allSatisfy(\.isEmpty) }

    /// A gateway came up.
    package mutating func peerUp(_ peer: PeerID, name: String) {
        self.peers[name] = peer
        self.outboxes[peer] = Outbox(limit: self.outboxLimit)
        self.senders[peer.serial] = peer
        self.grants.peerUp(peer)
    }

    /// A peer went away: its queue is dropped.
    package mutating func peerDown(_ peer: PeerID) {
        if var outbox = self.outboxes.removeValue(forKey: peer) {
            outbox.drop()
            self.dropped += outbox.takeDropped()
        }
        for (name, known) in self.peers where known == peer { self.peers[name] = nil }
        self.senders[peer.serial] = nil
        self.grants.peerDown(peer)
    }

    /// A peer's link accepts messages again.
    package mutating func writable(_ peer: PeerID, _ send: ([UInt8], PeerID) -> SendResult) {
        self.touched.append(peer)
        self.grants.announce(to: peer, send)
    }

    /// Grants senders, by their numbers, credit for finished commits.
    package mutating func finish(_ finished: [UInt64: CommitLoad], _ send: ([UInt8], PeerID) -> SendResult) {
        for (number, load) in finished {
            guard let sender = self.senders[number] else { continue }
            self.grants.finish(load, of: sender, send)
        }
    }

    /// Adds a result; it leaves with the next ``flush(_:)``. One for a gateway that is not up is dropped.
    package mutating func append(_ result: CommitResult, to gateway: Identifier) {
        guard let peer = self.peers[gateway.text], let wasEmpty = self.outboxes[peer]?.isEmpty else {
            self.dropped += 1
            return
        }
        if wasEmpty { self.touched.append(peer) }
        self.outboxes[peer]?.append(result)
    }

    /// Sends the added results, and the queues of peers that became writable.
    package mutating func flush(_ send: ([UInt8], PeerID) -> SendResult) {
        for peer in self.touched {
            self.outboxes[peer]?.flush { send($0, peer) }
            self.dropped += self.outboxes[peer]?.takeDropped() ?? 0
        }
        self.touched.removeAll(keepingCapacity: true)
    }
}
