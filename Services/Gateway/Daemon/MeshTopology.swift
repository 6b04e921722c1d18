import Mesh
import Wire

/// Which peer serves which shard, over the peers that answer and do not rest.
struct MeshTopology {
    /// How a peer is.
    enum PeerState {
        case serves
        /// It answers and cannot do its work; it is chosen only when all of its stage rest.
        case rests
        case isGone
    }

    /// What a change of one peer did.
    struct Change {
        /// Shards with a new owner whose former one still serves.
        var handedOver: Set<Int> = []
        /// Shards with a new owner whose former one rests.
        var relieved: Set<Int> = []
        /// Shards with a new owner whose former one is gone, or that had none.
        var orphaned: Set<Int> = []
    }

    private struct Owners {
        var up: Set<String> = []
        var resting: Set<String> = []
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
        return owners.former[shard].flatMap { owners.up.contains($0) ? $0 : nil }
    }

    /// True when some peer of the stage answers.
    func isServed(_ stage: Stage) -> Bool {
        !self.stages[stage.rawValue].up.isEmpty
    }

    /// How many peers answer, of all stages.
    var liveCount: Int { self.stages.reduce(0) { $0 + $1.up.count } }

    /// A peer is as it was not before.
    mutating func changed(_ stage: Stage, _ peer: String, _ state: PeerState) -> Change {
        var owners = self.stages[stage.rawValue]
        owners.up.remove(peer)
        owners.resting.remove(peer)
        if state != .isGone { owners.up.insert(peer) }
        if state == .rests { owners.resting.insert(peer) }
        let rendezvous = Rendezvous(up: owners.up, resting: owners.resting)
        var change = Change()
        for shard in 0..<Shard.count {
            let owner = rendezvous.owner(of: shard)
            let former = owners.owner[shard]
            guard owner != former else { continue }
            owners.former[shard] = former
            owners.owner[shard] = owner
            guard owner != nil else { continue }
            if let former, owners.up.contains(former) {
                if owners.resting.contains(former) {
                    change.relieved.insert(shard)
                } else {
                    change.handedOver.insert(shard)
                }
            } else {
                change.orphaned.insert(shard)
            }
        }
        self.stages[stage.rawValue] = owners
        return change
    }
}
