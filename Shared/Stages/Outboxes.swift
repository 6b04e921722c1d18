package import Mesh
package import Timing
public import Wire

/// What is on its way to the peers whose links are up: one ``Outbox`` for each.
///
/// What is on its way over a link that goes down is dropped, and never sent over the next one. Public, so that
/// ``append(_:to:)`` can be inlined.
public struct Outboxes<Peer: Comparable> {
    @usableFromInline var table = PeerTable<Peer, Outbox>()
    private let limits: OutboxLimits
    /// The least time between two flushes for one peer.
    package var pause = Nanoseconds.zero
    /// When something that waits for its pause is due; nil when nothing does.
    package private(set) var nextDeadline: Instant?
    /// How many records were for a peer that is not up.
    @usableFromInline package private(set) var unreachable = 0
    /// Those of peers whose links are down.
    private var former = (dropped: 0, droppedEnvelopes: 0, heldPreviews: 0)

    /// No peers yet.
    package init(_ limits: OutboxLimits) { self.limits = limits }

    /// The peers whose links are up, ascending.
    package var peers: [Peer] { self.table.peers }
    /// True when nothing waits.
    package var isEmpty: Bool { self.table.all.allSatisfy(\.isEmpty) }
    /// How many bytes wait, the latest previews and awareness apart.
    package var bytes: Int { self.table.all.reduce(0) { $0 + $1.bytes } }
    /// How many links are full.
    package var blockedCount: Int { self.table.all.count(where: \.isBlocked) }
    /// How many peers allow no more commits.
    package var closedCount: Int { self.table.all.count { !$0.isCreditOpen } }
    /// How many records were dropped on their way to a peer.
    package var dropped: Int { self.table.all.reduce(self.former.dropped) { $0 + $1.dropped } }
    /// How many envelopes were dropped because they were too many or too long.
    package var droppedEnvelopes: Int {
        self.table.all.reduce(self.former.droppedEnvelopes) { $0 + $1.droppedEnvelopes }
    }
    /// How many previews had to wait because a link was full.
    package var heldPreviews: Int { self.table.all.reduce(self.former.heldPreviews) { $0 + $1.heldPreviews } }

    /// A peer's outbox; nil while its link is down.
    @inlinable
    public subscript(peer: Peer) -> Outbox? {
        get { self.table[peer] }
        _modify { yield &self.table[peer] }
    }

    // MARK: Links

    /// A peer's link came up.
    /// - Parameter greeting: the peer's, which says how many commits it allows.
    package mutating func linkUp(_ peer: Peer, greeting: [UInt8] = []) {
        _ = self.linkDown(peer)
        self.table[peer] = Outbox(limits: self.limits, greeting: greeting)
    }

    /// A peer's link went down.
    /// - Returns: the previews that waited until the link accepts them, which another peer may get.
    @discardableResult
    package mutating func linkDown(_ peer: Peer) -> [Preview] {
        guard var outbox = exchange(&self.table[peer], with: nil) else { return [] }
        let previews = outbox.close()
        self.former.dropped += outbox.dropped
        self.former.droppedEnvelopes += outbox.droppedEnvelopes
        self.former.heldPreviews += outbox.heldPreviews
        return previews
    }

    /// A peer's link accepts envelopes again.
    /// - Returns: true when what waited for it was dropped, which its owner must repair.
    package mutating func writable(_ peer: Peer) -> Bool { self.table[peer]?.unblock() ?? false }

    // MARK: Records

    /// Adds a record for a peer; without one that is up it is dropped and counted.
    @inlinable
    public mutating func append(_ record: some WireRecord, to peer: Peer?) {
        guard let index = peer.flatMap({ self.table.index(of: $0) }) else { return self.missed() }
        self.table.values[index]?.append(record)
    }

    /// Adds a preview for a peer; without one that is up it is dropped and counted.
    package mutating func append(latest preview: Preview, to peer: Peer?) {
        guard let index = peer.flatMap({ self.table.index(of: $0) }) else { return self.missed() }
        self.table.values[index]?.append(latest: preview)
    }

    /// Adds a record for every peer.
    package mutating func appendToAll(_ record: some WireRecord) {
        for index in self.table.values.indices { self.table.values[index]?.append(record) }
    }

    @usableFromInline
    mutating func missed() { self.unreachable += 1 }

    // MARK: Sending

    /// Sends what waits and is due, to each peer in order, until its link accepts no more.
    package mutating func flush(at now: Instant, _ send: (EnvelopeWriter, Peer) -> SendResult) {
        self.nextDeadline = nil
        for index in self.table.values.indices {
            if self.pause > .zero, let due = self.table.values[index]?.due(after: self.pause), now < due {
                self.nextDeadline = min(self.nextDeadline ?? .never, due)
                continue
            }
            let peer = self.table.keys[index]
            self.table.values[index]?.flush(at: now) { send($0, peer) }
        }
    }
}
