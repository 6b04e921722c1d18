import Mesh
import Testing
import Wire

@testable import GatewayDaemon

struct MeshTopologyTests {
    private static let shards = Set(0..<Shard.count)

    private func owned(by peer: String, in topology: MeshTopology) -> Set<Int> {
        Self.shards.filter { topology.owner(.committer, $0) == peer }
    }

    @Test func shardsOfOneThatIsGoneAreOrphanedAndComeBackHandedOver() {
        var topology = MeshTopology()
        #expect(topology.changed(.committer, "a", .serves).orphaned == Self.shards)
        let second = topology.changed(.committer, "b", .serves)
        #expect(second.handedOver == self.owned(by: "b", in: topology) && !second.handedOver.isEmpty)
        #expect(second.orphaned.isEmpty && second.relieved.isEmpty)
        #expect(topology.changed(.committer, "b", .isGone).orphaned == second.handedOver)
        #expect(self.owned(by: "a", in: topology) == Self.shards)
    }

    @Test func oneThatRestsIsRelievedOfItsShards() {
        var topology = MeshTopology()
        _ = topology.changed(.committer, "a", .serves)
        _ = topology.changed(.committer, "b", .serves)
        let mine = self.owned(by: "b", in: topology)
        let change = topology.changed(.committer, "b", .rests)
        #expect(change.relieved == mine && change.orphaned.isEmpty && change.handedOver.isEmpty)
        #expect(mine.allSatisfy { topology.formerOwner(.committer, $0) == "b" })
        #expect(topology.changed(.committer, "b", .serves).handedOver == mine)
    }

    @Test func whileAllRestTheyAreAskedAllTheSame() {
        var topology = MeshTopology()
        #expect(topology.changed(.committer, "a", .rests).orphaned == Self.shards)
        _ = topology.changed(.committer, "b", .rests)
        let mine = self.owned(by: "a", in: topology)
        #expect(!mine.isEmpty && mine != Self.shards && topology.isServed(.committer) && topology.liveCount == 2)
        // The first that has its database takes what the others sit on.
        let change = topology.changed(.committer, "b", .serves)
        #expect(change.relieved == mine && self.owned(by: "b", in: topology) == Self.shards)
    }
}
