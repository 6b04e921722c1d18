public import Wire

/// Where a daemon's records for one stage go: which instance owns which shard, and what is on its way to each.
///
/// A record of a shard that no instance owns is dropped and counted: when one comes up, whoever needs it repeats it.
/// Public, so that ``append(_:ofShard:)`` can be inlined.
public struct StageRoutes {
    /// Which instance owns which shard.
    public private(set) var owners = ShardOwners()
    /// What is on its way to each instance that is up.
    public var outboxes: Outboxes<Int>

    /// Routes to no instances yet.
    package init(_ limits: OutboxLimits) { self.outboxes = Outboxes(limits) }

    /// Adds a record for the owner of a shard.
    @inlinable
    public mutating func append(_ record: some WireRecord, ofShard shard: Int) {
        self.outboxes.append(record, to: self.owners.owner(of: shard))
    }

    /// Adds a preview for the owner of a shard.
    package mutating func append(latest preview: Preview, ofShard shard: Int) {
        self.outboxes.append(latest: preview, to: self.owners.owner(of: shard))
    }

    /// A gesture ends: its previews that wait are for nothing.
    package mutating func removePreviews(endedBy end: GestureEnd, ofShard shard: Int) {
        if let owner = self.owners.owner(of: shard) { self.outboxes[owner]?.remove([end.endedPreviews]) }
    }

    /// Follows what happens on the links. Previews that waited for an instance whose link goes down go to the instances that
    /// own their shards now.
    /// - Returns: the shards that moved. Those of an instance that was too slow count as moved from one that is gone:
    ///   nothing that waited for it will come.
    @discardableResult
    package mutating func follow(_ event: StageLinks.Event) -> ShardOwners.Change {
        switch event {
        case .added(let instance, let name): self.owners.add(instance, named: name)
        case .removed(let instance): return self.owners.remove(instance)
        case .up(let instance, let greeting, let isResting):
            self.outboxes.linkUp(instance, greeting: greeting)
            return self.owners.changed(instance, isResting ? .rests : .serves)
        case .resting(let instance, let isResting): return self.owners.changed(instance, isResting ? .rests : .serves)
        case .down(let instance):
            let previews = self.outboxes.linkDown(instance)
            let change = self.owners.changed(instance, .isGone)
            for preview in previews { self.append(latest: preview, ofShard: Shard.of(room: preview.room)) }
            return change
        case .writable(let instance):
            if self.outboxes.writable(instance) {
                var change = ShardOwners.Change(orphaned: self.owners.shards(of: instance))
                change.isLossy = true
                return change
            }
        case .envelope: break
        }
        return ShardOwners.Change()
    }
}
