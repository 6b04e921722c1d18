internal import Mesh
internal import Wire

/// The bound link: commits come in from gateways and coalescers, results go back to gateways by name.
final class GatewayLane {
    private let link: ServerLink
    private let telemetry: CommitterTelemetry
    private let outboxLimit: Int
    /// The newest peer of each name.
    private var peers: [String: PeerID] = [:]
    private var outboxes: [PeerID: Outbox] = [:]
    /// Peers with something to send in this turn.
    private var touched: Set<PeerID> = []

    init(_ link: ServerLink, outboxLimit: Int, telemetry: CommitterTelemetry) {
        self.link = link
        self.outboxLimit = outboxLimit
        self.telemetry = telemetry
    }

    /// Reads what came; `take` gets every envelope.
    func read(_ take: (Frames) -> Void) {
        while let event = self.link.next() {
            switch event {
            case .peerUp(let peer, let hello):
                self.peers[hello.name] = peer
                self.outboxes[peer] = Outbox(limit: self.outboxLimit)
            case .peerDown(let peer, _):
                self.forget(peer)
            case .writable(let peer):
                self.touched.insert(peer)
            case .message:
                take(self.link.incoming)
            }
        }
    }

    private func forget(_ peer: PeerID) {
        if var outbox = self.outboxes.removeValue(forKey: peer) {
            outbox.drop()
            self.telemetry.resultsDropped(outbox.takeDropped())
        }
        for (name, known) in self.peers where known == peer { self.peers[name] = nil }
    }

    /// Takes a result; it leaves with the next ``flush()``. One for a gateway that is not there is dropped: wherever the
    /// gateway went, it asks again.
    func send(_ result: CommitResult, to gateway: Identifier) {
        guard let peer = self.peers[gateway.text] else { return self.telemetry.resultsDropped(1) }
        self.outboxes[peer]?.append(result)
        self.touched.insert(peer)
    }

    /// Sends what was taken.
    func flush() {
        for peer in self.touched {
            self.outboxes[peer]?.flush { self.link.send($0, to: peer) }
            let dropped = self.outboxes[peer]?.takeDropped() ?? 0
            if dropped > 0 { self.telemetry.resultsDropped(dropped) }
        }
        self.touched.removeAll(keepingCapacity: true)
    }

    /// True when no result waits.
    var isEmpty: Bool { self.outboxes.values.allSatisfy(\.isEmpty) }
}
