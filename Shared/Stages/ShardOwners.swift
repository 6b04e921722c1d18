public import Wire

/// The owner of each shard among the instances of one stage that are up, and the shards that each change of an instance
/// moves.
///
/// Every sender keeps one for each stage that it sends to. Senders that see the same instances choose the same owners;
/// the receivers tolerate disagreement. Instances are identified by their index in ``names``. Public, so that
/// ``owner(of:)`` can be inlined.
public struct ShardOwners: Sendable {
    /// The state of an instance as its senders see it.
    package enum InstanceState: Sendable {
        case serves
        /// Up, but unable to do its work; chosen only while all instances of its stage rest.
        case rests
        case isGone
    }

    /// The shards moved by a change of one instance, grouped by the state of their former owner.
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
    /// How many times an instance changed its state.
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

    /// How many instances are up, including resting ones.
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

    /// Sets the state of an instance.
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
