import GatewayCore
import GatewayDaemon
import Stages
import Testing
import Wire

/// What moves when an instance behind a gateway comes back beside one that has served meanwhile.
struct MeshTopologyTests {
    private var topology = MeshTopology(
        coalescers: ["coalescer-1", "coalescer-2"], committers: ["committer-1", "committer-2"])

    /// The shards whose commits are sent again as the second instance of a stage comes back.
    private mutating func commitsMoved(backTo stage: Stage) -> Set<Int> {
        _ = self.topology.changed(StageInstance(stage, 0), .serves)
        let moves = self.topology.changed(StageInstance(stage, 1), .serves)
        return moves.reduce(into: []) { shards, move in
            if case .committer(let moved) = move { shards.formUnion(moved) }
        }
    }

    /// It may have decided what its shards' former committer was sent.
    @Test mutating func whatACommitterTakesOverIsSentAgain() {
        let moved = self.commitsMoved(backTo: .committer)
        let owned = (0..<Shard.count).filter { self.topology.committer(of: $0) == 1 }
        #expect(!moved.isEmpty && moved == Set(owned))
    }

    @Test mutating func coalescersHaveNoCommits() {
        #expect(self.commitsMoved(backTo: .coalescer).isEmpty)
    }
}
