/// Which peer of one stage serves which shard, over those that answer, and what each change of one peer moves.
///
/// Every sender keeps one for each stage that it sends to. As long as they see the same peers they choose the same
/// owners; while they do not, the receivers sort it out.
package struct ShardOwners: Sendable {
    /// How a peer is.
    package enum PeerState: Sendable {
        case serves
        /// It answers and cannot do its work; it is chosen only while all of its stage rest.
        case rests
        case isGone
    }

    /// What a change of one peer did.
    package struct Change: Sendable {
        /// Shards with a new owner whose former one still serves.
        package var handedOver: Set<Int> = []
        /// Shards with a new owner whose former one rests.
        package var relieved: Set<Int> = []
        /// Shards with a new owner whose former one is gone, or that had none.
        package var orphaned: Set<Int> = []
    }

    private var up: Set<String> = []
    private var resting: Set<String> = []
    private var owners: [String?]
    private var formerOwners: [String?]

    /// - Parameter shards: shards are numbered from 0.
    package init(shards: Int = 64) {
        self.owners = Array(repeating: nil, count: shards)
        self.formerOwners = self.owners
    }

    /// How many peers answer, resting ones too.
    package var upCount: Int { self.up.count }

    /// The peer that serves a shard; nil when none answers.
    package func owner(of shard: Int) -> String? { self.owners[shard] }

    /// The peer that served a shard before its last change, if it still answers.
    package func formerOwner(of shard: Int) -> String? {
        self.formerOwners[shard].flatMap { self.up.contains($0) ? $0 : nil }
    }

    /// A peer is as it was not before.
    @discardableResult
    package mutating func changed(_ peer: String, _ state: PeerState) -> Change {
        self.up.remove(peer)
        self.resting.remove(peer)
        if state != .isGone { self.up.insert(peer) }
        if state == .rests { self.resting.insert(peer) }
        let rendezvous = Rendezvous(up: self.up, resting: self.resting, shards: self.owners.count)
        var change = Change()
        for shard in self.owners.indices {
            let (new, former) = (rendezvous.owner(of: shard), self.owners[shard])
            guard new != former else { continue }
            (self.owners[shard], self.formerOwners[shard]) = (new, former)
            guard new != nil else { continue }
            if let former, self.resting.contains(former) {
                change.relieved.insert(shard)
            } else if let former, self.up.contains(former) {
                change.handedOver.insert(shard)
            } else {
                change.orphaned.insert(shard)
            }
        }
        return change
    }
}
