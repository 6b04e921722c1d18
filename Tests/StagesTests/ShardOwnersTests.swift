import Stages
import Testing

struct ShardOwnersTests {
    private static let shards = Set(0..<64)

    private func owned(by peer: Int, in owners: ShardOwners) -> Set<Int> {
        Self.shards.filter { owners.owner(of: $0) == peer }
    }

    @Test func shardsOfOneThatIsGoneAreOrphanedAndComeBackHandedOver() {
        var owners = ShardOwners(names: ["a", "b"])
        #expect(owners.changed(0, .serves).orphaned == Self.shards)
        let second = owners.changed(1, .serves)
        #expect(second.handedOver == self.owned(by: 1, in: owners) && !second.handedOver.isEmpty)
        #expect(second.orphaned.isEmpty)
        #expect(owners.changed(1, .isGone).orphaned == second.handedOver)
        #expect(self.owned(by: 0, in: owners) == Self.shards)
    }

    @Test func oneThatRestsIsRelievedOfItsShards() {
        var owners = ShardOwners(names: ["a", "b"])
        owners.changed(0, .serves)
        owners.changed(1, .serves)
        let mine = self.owned(by: 1, in: owners)
        let change = owners.changed(1, .rests)
        #expect(change.handedOver == mine && change.orphaned.isEmpty)
        #expect(mine.allSatisfy { owners.formerOwner(of: $0) == 1 })
        #expect(owners.changed(1, .serves).handedOver == mine)
    }

    @Test func whileAllRestTheyAreAskedAllTheSame() {
        var owners = ShardOwners(names: ["a", "b"])
        #expect(owners.changed(0, .rests).orphaned == Self.shards)
        owners.changed(1, .rests)
        let mine = self.owned(by: 0, in: owners)
        #expect(!mine.isEmpty && mine != Self.shards && owners.upCount == 2)
        // The first that has its database takes what the others sit on.
        let change = owners.changed(1, .serves)
        #expect(change.handedOver == mine && self.owned(by: 1, in: owners) == Self.shards)
    }

    @Test func oneThatIsAddedOwnsNothingUntilItIsUp() {
        var owners = ShardOwners(names: ["a"])
        owners.changed(0, .serves)
        owners.add(1, named: "b")
        #expect(self.owned(by: 0, in: owners) == Self.shards && owners.count == 2 && owners.upCount == 1)
        let change = owners.changed(1, .serves)
        #expect(change.handedOver == self.owned(by: 1, in: owners) && !change.handedOver.isEmpty)
    }

    @Test func oneThatIsRemovedWhileItServesLeavesItsShardsAsOrphans() {
        var owners = ShardOwners(names: ["a", "b"])
        owners.changed(0, .serves)
        owners.changed(1, .serves)
        let mine = self.owned(by: 1, in: owners)
        #expect(owners.remove(1).orphaned == mine && self.owned(by: 0, in: owners) == Self.shards)
        #expect(mine.allSatisfy { owners.formerOwner(of: $0) == nil } && owners.count == 1)
        // What is still heard of it changes nothing.
        #expect(owners.changed(1, .serves).handedOver.isEmpty && owners.upCount == 1)
    }

    @Test func ofTwoWithOneNameTheOlderOneCounts() {
        var owners = ShardOwners(names: ["a"])
        owners.add(1, named: "a")
        owners.changed(0, .serves)
        owners.changed(1, .serves)
        #expect(self.owned(by: 0, in: owners) == Self.shards)
        // As when an instance has moved to another endpoint.
        owners.remove(0)
        #expect(self.owned(by: 1, in: owners) == Self.shards)
    }
}
