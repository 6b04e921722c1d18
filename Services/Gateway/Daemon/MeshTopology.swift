import Mesh
import Wire

/// Which peer serves which shard, over the peers that answer.
struct MeshTopology {
    /// What a change of one peer did.
    struct Change {
        /// Shards with a new owner whose former one is still there.
        var handedOver: Set<Int> = []
        /// Shards with a new owner whose former one is gone, or that had none.
        var orphaned: Set<Int> = []
    }

    private struct Owners {
        var live: Set<String> = []
        var owner = [String?](repeating: nil, count: Shard.count)
        var former = [String?](repeating: nil, count: Shard.count)
    }

    private var stages = [Owners](repeating: Owners(), count: Stage.allCases.count)

    /// The peer that serves a shard; nil when none of the stage answers.
    func owner(_ stage: Stage, _ shard: Int) -> String? {
        self.stages[stage.rawValue].owner[shard]
    }

    /// The peer that served a shard before its last change, if it still answers.
    func formerOwner(_ stage: Stage, _ shard: Int) -> String? {
        let owners = self.stages[stage.rawValue]
        return owners.former[shard].flatMap { owners.live.contains($0) ? $0 : nil }
    }

    /// True when some peer of the stage answers.
    func isServed(_ stage: Stage) -> Bool {
        !self.stages[stage.rawValue].live.isEmpty
    }

    /// How many peers answer, of all stages.
    var liveCount: Int { self.stages.reduce(0) { $0 + $1.live.count } }

    /// A peer answers, or does no more.
    mutating func changed(_ stage: Stage, _ peer: String, isUp: Bool) -> Change {
        var owners = self.stages[stage.rawValue]
        if isUp {
            owners.live.insert(peer)
        } else {
            owners.live.remove(peer)
        }
        let rendezvous = Rendezvous(names: Array(owners.live))
        var change = Change()
        for shard in 0..<Shard.count {
            let owner = rendezvous.owner(of: shard)
            let former = owners.owner[shard]
            guard owner != former else { continue }
            owners.former[shard] = former
            owners.owner[shard] = owner
            guard owner != nil else { continue }
            if let former, owners.live.contains(former) {
                change.handedOver.insert(shard)
            } else {
                change.orphaned.insert(shard)
            }
        }
        self.stages[stage.rawValue] = owners
        return change
    }
}
