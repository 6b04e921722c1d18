import Mesh
import Wire

/// Which peer serves which shard, for each stage.
struct MeshTopology {
    private var stages = Stage.allCases.map { _ in ShardOwners(shards: Shard.count) }

    /// The peer that serves a shard; nil when none of the stage answers.
    func owner(_ stage: Stage, _ shard: Int) -> String? {
        self.stages[stage.rawValue].owner(of: shard)
    }

    /// The peer that served a shard before its last change, if it still answers.
    func formerOwner(_ stage: Stage, _ shard: Int) -> String? {
        self.stages[stage.rawValue].formerOwner(of: shard)
    }

    /// True when some peer of the stage answers.
    func isServed(_ stage: Stage) -> Bool {
        self.stages[stage.rawValue].upCount > 0
    }

    /// How many peers answer, of all stages.
    var liveCount: Int { self.stages.reduce(0) { $0 + $1.upCount } }

    /// A peer is as it was not before.
    mutating func changed(_ stage: Stage, _ peer: String, _ state: ShardOwners.PeerState) -> ShardOwners.Change {
        self.stages[stage.rawValue].changed(peer, state)
    }
}
