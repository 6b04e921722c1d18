package import GatewayCore
package import Stages
package import Timing
package import Wire

/// Where records go: the core names a shard, and the record leaves for the instance that owns it.
///
/// A record of a shard that no instance owns is dropped: when one comes up, the core repeats what must arrive.
package struct MeshRoutes {
    /// What became of a commit.
    package enum CommitOutcome: Equatable, Sendable {
        /// It leaves with the next flush.
        case sent
        /// The committer has given no credit for it.
        case noCredit
        /// No committer of the shard is up.
        case noInstance
    }

    /// Which instance owns which shard.
    package var topology = MeshTopology()
    /// What leaves for each instance.
    package var senders: MeshSenders

    /// Routes to no instances yet.
    /// - Parameter pause: between two envelopes of previews for one coalescer, when the gateway is busy.
    package init(pause: Nanoseconds) {
        self.senders = MeshSenders(pause: pause)
    }

    // MARK: Records

    /// Sends a preview to the coalescer of its shard.
    package mutating func preview(_ preview: Preview, of shard: Int) {
        if let coalescer = self.topology.coalescer(of: shard) { self.senders.preview(preview, to: coalescer) }
    }

    /// Tells the coalescer of a shard, behind a gesture's previews, that a commit ends it.
    package mutating func previewsEnd(_ end: GestureEnd, of shard: Int) {
        if let coalescer = self.topology.coalescer(of: shard) { self.senders.previewsEnd(end, to: coalescer) }
    }

    /// Sends a record to the fan-out of its shard.
    package mutating func record(_ record: FanoutRecord, of shard: Int) {
        if let fanout = self.topology.fanout(of: shard) { self.senders.record(record, to: fanout) }
    }

    /// Sends a record to the fan-out that owned its shard before the present one, if that is still up.
    package mutating func formerRecord(_ record: FanoutRecord, of shard: Int) {
        if let fanout = self.topology.formerFanout(of: shard) { self.senders.record(record, to: fanout) }
    }

    /// Sends a commit to the committer of its shard.
    package mutating func commit(_ commit: Commit, of shard: Int) -> CommitOutcome {
        guard let committer = self.topology.committer(of: shard) else { return .noInstance }
        return self.senders.commit(commit, to: committer) ? .sent : .noCredit
    }

    /// False while the committer of a shard gives no credit. While none is up, commits need not wait for credit.
    package func acceptsCommit(of shard: Int) -> Bool {
        self.topology.committer(of: shard).map { self.senders.acceptsCommit(to: $0) } ?? true
    }

    // MARK: Instances

    /// An instance that is gone was removed from its stage's set. Previews that waited for it go to the coalescers that
    /// own their shards now.
    package mutating func removed(_ instance: StageInstance) {
        self.topology.removed(instance)
        for preview in self.senders.removed(instance) { self.preview(preview, of: Shard.of(room: preview.room)) }
    }

    /// The link to a coalescer is full for now, or has room again.
    package mutating func coalescerChanged(_ coalescer: Int, isOpen: Bool) {
        guard self.topology.contains(StageInstance(.coalescer, coalescer)) else { return }
        self.senders.setOpen(isOpen, coalescer: coalescer)
    }
}
