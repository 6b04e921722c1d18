internal import CommitterCore
internal import Mesh
internal import Wire

/// The bound link: commits come in from gateways and coalescers, results go back to gateways by name.
final class GatewayLane {
    private let link: ServerLink
    private let telemetry: CommitterTelemetry
    private let outboxLimit: Int
    private let credit: CommitCredit
    /// What each peer may send.
    private var grants: [PeerID: CreditGrant] = [:]
    /// Peers by the numbers that stand for them in the core.
    private var sources: [UInt64: PeerID] = [:]
    private var numbers: [PeerID: UInt64] = [:]
    private var lastNumber: UInt64 = 0
    /// The newest peer of each name.
    private var peers: [String: PeerID] = [:]
    private var outboxes: [PeerID: Outbox] = [:]
    /// Peers with something to send in this turn.
    private var touched: Set<PeerID> = []

    init(_ link: ServerLink, credit: CommitCredit, outboxLimit: Int, telemetry: CommitterTelemetry) {
        self.link = link
        self.credit = credit
        self.outboxLimit = outboxLimit
        self.telemetry = telemetry
    }

    /// True while gateways and coalescers should turn to other committers.
    var isResting: Bool {
        get { self.link.isResting }
        set { self.link.isResting = newValue }
    }

    /// Reads what came; `take` gets every envelope, and the number of the peer that sent it.
    func read(_ take: (Frames, _ source: UInt64) -> Void) {
        while let event = self.link.next() {
            switch event {
            case .peerUp(let peer, let hello):
                self.peers[hello.name] = peer
                self.outboxes[peer] = Outbox(limit: self.outboxLimit)
                self.admit(peer)
            case .peerDown(let peer, _):
                self.forget(peer)
            case .writable(let peer):
                self.touched.insert(peer)
                self.returnCredit(to: peer)
            case .message(let peer):
                take(self.link.incoming, self.numbers[peer] ?? 0)
            }
        }
    }

    private func admit(_ peer: PeerID) {
        self.lastNumber += 1
        self.numbers[peer] = self.lastNumber
        self.sources[self.lastNumber] = peer
        self.grants[peer] = CreditGrant(window: self.credit)
    }

    /// Gives senders credit for what needs no memory any more.
    func finish(_ finished: [UInt64: CommitLoad]) {
        for (source, load) in finished {
            guard let peer = self.sources[source] else { continue }
            self.grants[peer]?.finish(commits: load.commits, bytes: load.bytes)
            self.returnCredit(to: peer)
        }
    }

    /// Tells a sender its credit, if there is enough of it. One that takes nothing now is told when it does.
    private func returnCredit(to peer: PeerID) {
        guard let due = self.grants[peer]?.due else { return }
        var envelope = EnvelopeWriter()
        envelope.append(due)
        if self.link.send(envelope.bytes, to: peer) == .sent { self.grants[peer]?.tell() }
    }

    private func forget(_ peer: PeerID) {
        if var outbox = self.outboxes.removeValue(forKey: peer) {
            outbox.drop()
            self.telemetry.resultsDropped(outbox.takeDropped())
        }
        for (name, known) in self.peers where known == peer { self.peers[name] = nil }
        self.grants[peer] = nil
        if let number = self.numbers.removeValue(forKey: peer) { self.sources[number] = nil }
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
