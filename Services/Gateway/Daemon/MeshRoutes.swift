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
        /// The instance that it is for has given no credit for it.
        case noCredit
        /// No instance that takes commits of the shard is up.
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

    /// Sends a record to the fan-out of its shard.
    package mutating func record(_ record: FanoutRecord, of shard: Int) {
        if let fanout = self.topology.fanout(of: shard) { self.senders.record(record, to: fanout) }
    }

    /// Sends a record to the fan-out that owned its shard before the present one, if that is still up.
    package mutating func formerRecord(_ record: FanoutRecord, of shard: Int) {
        if let fanout = self.topology.formerFanout(of: shard) { self.senders.record(record, to: fanout) }
    }

    /// Sends a commit on this path, or on the other one when no instance is up on it.
    package mutating func commit(_ commit: Commit, of shard: Int, _ path: CommitPath) -> CommitOutcome {
        guard let target = self.topology.target(of: shard, path) else { return .noInstance }
        return self.senders.commit(commit, to: target) ? .sent : .noCredit
    }

    /// False while the instance that a commit would be sent to gives no credit. While there is no such instance,
    /// commits need not wait for credit.
    package func acceptsCommit(of shard: Int, _ path: CommitPath) -> Bool {
        guard let target = self.topology.target(of: shard, path) else { return true }
        return self.senders.isOpen(target)
    }

    // MARK: Instances

    /// An instance that is gone was removed from its stage's set. Previews that waited for it go to the coalescers that
    /// own their shards now.
    package mutating func removed(_ instance: StageInstance) {
        self.topology.removed(instance)
        for preview in self.senders.removed(instance) { self.preview(preview, of: Shard.of(room: preview.room)) }
    }

    /// The preview lane to a coalescer is full for now, or has room again. The lane of one that was removed may report
    /// later than its main link.
    package mutating func laneChanged(isOpen: Bool, coalescer: Int) {
        guard self.topology.contains(StageInstance(.coalescer, coalescer)) else { return }
        self.senders.setOpen(isOpen, coalescer: coalescer)
    }
}
