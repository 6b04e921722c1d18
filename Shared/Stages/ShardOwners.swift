public import Wire

/// Which instance of one stage owns which shard, over those that are up, and what each change of an instance moves.
///
/// Every sender keeps one for each stage that it sends to. As long as they see the same instances they choose the same
/// owners; while they do not, the receivers sort it out. Instances are named by their index among ``names``.
/// Public, so that ``owner(of:)`` can be inlined.
public struct ShardOwners: Sendable {
    /// What an instance is to its senders.
    package enum InstanceState: Sendable {
        case serves
        /// It is up and cannot do its work; it is chosen only while all of its stage rest.
        case rests
        case isGone
    }

    /// The shards that moved with a change of one instance, by what became of their former owner.
    package struct Change: Sendable {
        /// Shards whose former owner still serves.
        package var handedOver: Set<Int> = []
        /// Shards whose former owner rests.
        package var relieved: Set<Int> = []
        /// Shards whose former owner is gone, or that had none.
        package var orphaned: Set<Int> = []
    }

    /// The instances' names, as the settings have them.
    package let names: [String]
    /// How many times an instance came up, went down, rested or served again.
    package private(set) var changes = 0
    private var states: [InstanceState]
    @usableFromInline var owners: [Int?]
    private var formerOwners: [Int?]

    /// The owners while no instance is up: none.
    /// - Parameter shards: shards are numbered from 0.
    package init(names: [String], shards: Int = Shard.count) {
        self.names = names
        self.states = names.map { _ in .isGone }
        self.owners = Array(repeating: nil, count: shards)
        self.formerOwners = self.owners
    }

    /// How many instances are up, resting ones too.
    package var upCount: Int { self.states.count { $0 != .isGone } }

    /// The instance that owns a shard; nil when none is up.
    @inlinable
    public func owner(of shard: Int) -> Int? { self.owners[shard] }

    /// The instance that owns a room's shard; nil when none is up.
    @inlinable
    public func owner(of room: Identifier) -> Int? { self.owners[Shard.of(room: room)] }

    /// The instance that owned a shard before its last change, if it is still up.
    package func formerOwner(of shard: Int) -> Int? {
        self.formerOwners[shard].flatMap { self.states[$0] == .isGone ? nil : $0 }
    }

    /// Records what an instance is from now on.
    /// - Returns: the shards that moved.
    @discardableResult
    package mutating func changed(_ instance: Int, _ state: InstanceState) -> Change {
        self.changes += 1
        self.states[instance] = state
        let up = self.names.indices.filter { self.states[$0] != .isGone }
        let resting = Set(up.filter { self.states[$0] == .rests }.map { self.names[$0] })
        let rendezvous = Rendezvous(up: up.map { self.names[$0] }, resting: resting, shards: self.owners.count)
        var change = Change()
        for shard in self.owners.indices {
            let owner = rendezvous.owner(of: shard).flatMap(self.names.firstIndex)
            guard owner != self.owners[shard] else { continue }
            self.formerOwners[shard] = self.owners[shard]
            self.owners[shard] = owner
            if owner != nil { self.note(shard, in: &change) }
        }
        return change
    }

    private func note(_ shard: Int, in change: inout Change) {
        switch self.formerOwners[shard].map({ self.states[$0] }) {
        case .serves: change.handedOver.insert(shard)
        case .rests: change.relieved.insert(shard)
        case .isGone, nil: change.orphaned.insert(shard)
        }
    }
}
