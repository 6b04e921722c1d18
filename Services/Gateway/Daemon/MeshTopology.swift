package import GatewayCore
package import Stages
package import Timing

/// The stages behind a gateway: which instance owns which shard, and what a change of one instance moves.
package struct MeshTopology {
    /// Shards that moved from one instance to another.
    package enum Move: Sendable {
        /// Rooms get their stream from another fan-out.
        case fanout(Set<Int>, hadOwner: Bool)
        /// Commits without a result may be lost.
        case committer(Set<Int>)
    }

    private var coalescers: ShardOwners
    private var committers: ShardOwners
    private var fanouts: ShardOwners

    /// The stages while no instance is up. Those that are named are there at first, with the numbers from 0 on.
    package init(coalescers: [String] = [], committers: [String] = [], fanouts: [String] = []) {
        self.coalescers = ShardOwners(names: coalescers)
        self.committers = ShardOwners(names: committers)
        self.fanouts = ShardOwners(names: fanouts)
    }

    /// The owners of a stage's shards, with the stage.
    package var stages: [(Stage, ShardOwners)] {
        [(.coalescer, self.coalescers), (.committer, self.committers), (.fanout, self.fanouts)]
    }

    /// The coalescer that owns a shard; nil when none is up.
    package func coalescer(of shard: Int) -> Int? { self.coalescers.owner(of: shard) }

    /// The fan-out that owns a shard; nil when none is up.
    package func fanout(of shard: Int) -> Int? { self.fanouts.owner(of: shard) }

    /// The fan-out that owned a shard before its last change, if it is still up.
    package func formerFanout(of shard: Int) -> Int? { self.fanouts.formerOwner(of: shard) }

    /// The committer that owns a shard; nil when none is up.
    package func committer(of shard: Int) -> Int? { self.committers.owner(of: shard) }

    /// An instance was added, which is not up yet.
    package mutating func added(_ instance: StageInstance, named name: String) {
        self.change(instance.stage) { $0.add(instance.number, named: name) }
    }

    /// An instance that is gone was removed.
    package mutating func removed(_ instance: StageInstance) {
        self.change(instance.stage) { $0.remove(instance.number) }
    }

    /// True for an instance that was added and not removed.
    package func contains(_ instance: StageInstance) -> Bool {
        self.stages.contains { $0.0 == instance.stage && $0.1.contains(instance.number) }
    }

    private mutating func change(_ stage: Stage, _ body: (inout ShardOwners) -> Void) {
        switch stage {
        case .gateway: break
        case .coalescer: body(&self.coalescers)
        case .committer: body(&self.committers)
        case .fanout: body(&self.fanouts)
        }
    }

    /// Records what an instance is from now on.
    /// - Returns: what that moves, for the core to hear in this order.
    package mutating func changed(_ instance: StageInstance, _ state: ShardOwners.InstanceState) -> [Move] {
        let moves: [Move]
        switch instance.stage {
        case .gateway: moves = []
        case .coalescer:
            _ = self.coalescers.changed(instance.number, state)
            moves = []
        case .committer:
            // Other gateways may have known the new owner earlier: what the former one decides meanwhile is for nothing.
            moves = [.committer(self.committers.changed(instance.number, state).shards)]
        case .fanout:
            let change = self.fanouts.changed(instance.number, state)
            moves = [
                .fanout(change.handedOver.union(change.relieved), hadOwner: true),
                .fanout(change.orphaned, hadOwner: false),
            ]
        }
        return moves.filter { !$0.shards.isEmpty }
    }
}

extension MeshTopology.Move {
    /// The shards that moved.
    var shards: Set<Int> {
        switch self {
        case .fanout(let shards, _), .committer(let shards): shards
        }
    }
}

extension Gateway {
    /// Shards moved from one instance to another.
    package mutating func shardsMoved(_ move: MeshTopology.Move, at now: Instant, into actions: inout [GatewayAction]) {
        switch move {
        case .fanout(let shards, let hadOwner):
            self.fanoutMoved(shards: shards, hadOwner: hadOwner, at: now, into: &actions)
        case .committer(let shards): self.committersChanged(shards: shards, at: now, into: &actions)
        }
    }
}
