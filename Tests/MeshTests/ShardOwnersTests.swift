import Mesh
import Testing

struct ShardOwnersTests {
    private static let shards = Set(0..<64)

    private func owned(by peer: String, in owners: ShardOwners) -> Set<Int> {
        Self.shards.filter { owners.owner(of: $0) == peer }
    }

    @Test func shardsOfOneThatIsGoneAreOrphanedAndComeBackHandedOver() {
        var owners = ShardOwners()
        #expect(owners.changed("a", .serves).orphaned == Self.shards)
        let second = owners.changed("b", .serves)
        #expect(second.handedOver == self.owned(by: "b", in: owners) && !second.handedOver.isEmpty)
        #expect(second.orphaned.isEmpty && second.relieved.isEmpty)
        #expect(owners.changed("b", .isGone).orphaned == second.handedOver)
        #expect(self.owned(by: "a", in: owners) == Self.shards)
    }

    @Test func oneThatRestsIsRelievedOfItsShards() {
        var owners = ShardOwners()
        owners.changed("a", .serves)
        owners.changed("b", .serves)
        let mine = self.owned(by: "b", in: owners)
        let change = owners.changed("b", .rests)
        #expect(change.relieved == mine && change.orphaned.isEmpty && change.handedOver.isEmpty)
        #expect(mine.allSatisfy { owners.formerOwner(of: $0) == "b" })
        #expect(owners.changed("b", .serves).handedOver == mine)
    }

    @Test func whileAllRestTheyAreAskedAllTheSame() {
        var owners = ShardOwners()
        #expect(owners.changed("a", .rests).orphaned == Self.shards)
        owners.changed("b", .rests)
        let mine = self.owned(by: "a", in: owners)
        #expect(!mine.isEmpty && mine != Self.shards && owners.upCount == 2)
        // The first that has its database takes what the others sit on.
        let change = owners.changed("b", .serves)
        #expect(change.relieved == mine && self.owned(by: "b", in: owners) == Self.shards)
    }
}
