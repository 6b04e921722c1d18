public import Wire

/// The owner of each shard among the instances of one stage that are up, and the shards that each change of an instance
/// moves.
///
/// Every sender keeps one for each stage that it sends to. Senders that see the same instances choose the same owners;
/// the receivers tolerate disagreement. Instances are identified by their numbers in the stage's ``StageSet``. Public,
/// so that ``owner(of:)`` can be inlined.
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
        /// Shards whose former owner is still up.
        package var handedOver: Set<Int> = []
        /// Shards whose former owner is gone, or that had none.
        package var orphaned: Set<Int> = []
        /// True when records for the instance were dropped: what it was told lately, it may not know.
        package var isLossy = false

        package init(handedOver: Set<Int> = [], orphaned: Set<Int> = []) {
            (self.handedOver, self.orphaned) = (handedOver, orphaned)
        }

        /// All shards moved.
        package var shards: Set<Int> { self.handedOver.union(self.orphaned) }
    }

    private struct Instance {
        let name: String
        var state = InstanceState.isGone
    }

    private var instances = PeerTable<Int, Instance>()
    @usableFromInline var owners: [Int?]
    private var formerOwners: [Int?]

    /// The owners while no instance is up: none.
    /// - Parameters:
    ///   - names: of the instances that are there at first, which have the numbers from 0 on.
    ///   - shards: shards are numbered from 0.
    package init(names: [String] = [], shards: Int = Shard.count) {
        self.owners = Array(repeating: nil, count: shards)
        self.formerOwners = self.owners
        for (number, name) in names.enumerated() { self.instances[number] = Instance(name: name) }
    }

    /// How many instances there are, up or not.
    package var count: Int { self.instances.peers.count }

    /// How many instances are up, including resting ones.
    package var upCount: Int { self.instances.all.count { $0.state != .isGone } }

    /// The instance that owns a shard; nil when none is up.
    @inlinable
    public func owner(of shard: Int) -> Int? { self.owners[shard] }

    /// The instance that owns a room's shard; nil when none is up.
    @inlinable
    public func owner(of room: Identifier) -> Int? { self.owners[Shard.of(room: room)] }

    /// The shards that an instance owns.
    func shards(of instance: Int) -> Set<Int> { Set(self.owners.indices.filter { self.owners[$0] == instance }) }

    /// The instance that owned a shard before its last change, if it is still up.
    package func formerOwner(of shard: Int) -> Int? {
        self.formerOwners[shard].flatMap { self.state(of: $0) == .isGone ? nil : $0 }
    }

    /// Adds an instance, which is not up yet.
    package mutating func add(_ instance: Int, named name: String) {
        self.instances[instance] = Instance(name: name)
    }

    /// Removes an instance: its shards move as if it were gone.
    /// - Returns: the shards that moved.
    @discardableResult
    package mutating func remove(_ instance: Int) -> Change {
        let change = self.changed(instance, .isGone)
        self.instances[instance] = nil
        return change
    }

    /// Sets the state of an instance.
    /// - Returns: the shards that moved.
    @discardableResult
    package mutating func changed(_ instance: Int, _ state: InstanceState) -> Change {
        self.instances[instance]?.state = state
        let owners = self.rendezvous()
        var change = Change()
        for shard in self.owners.indices where owners[shard] != self.owners[shard] {
            self.formerOwners[shard] = self.owners[shard]
            self.owners[shard] = owners[shard]
            guard owners[shard] != nil else { continue }
            if self.formerOwner(of: shard) == nil {
                change.orphaned.insert(shard)
            } else {
                change.handedOver.insert(shard)
            }
        }
        return change
    }

    private func state(of instance: Int) -> InstanceState { self.instances[instance]?.state ?? .isGone }

    /// The owners among the instances that are up. Of two with the same name the older one counts.
    private func rendezvous() -> [Int?] {
        var up: [String: Int] = [:]
        var resting: Set<String> = []
        for (number, instance) in zip(self.instances.peers, self.instances.all) where instance.state != .isGone {
            guard up[instance.name] == nil else { continue }
            up[instance.name] = number
            if instance.state == .rests { resting.insert(instance.name) }
        }
        let rendezvous = Rendezvous(up: up.keys, resting: resting, shards: self.owners.count)
        return self.owners.indices.map { rendezvous.owner(of: $0).flatMap { up[$0] } }
    }
}
