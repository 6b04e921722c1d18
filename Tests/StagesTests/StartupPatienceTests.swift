import Stages
import Testing
import Timing
import TimingTestKit

@Suite struct StartupPatienceTests {
    private let patience = StartupPatience(from: 1000)

    private func owners(up: Int, of count: Int) -> ShardOwners {
        var owners = ShardOwners(names: (0..<count).map { "instance-\($0)" })
        for instance in 0..<up { owners.changed(instance, instance == 0 ? .rests : .serves) }
        return owners
    }

    @Test func aStageWithoutAnInstanceIsNeverEnough() {
        let stages = [(Stage.committer, self.owners(up: 0, of: 2)), (.fanout, self.owners(up: 2, of: 2))]
        #expect(self.patience.shortage(of: stages, at: 1000) == "no committer answers")
        #expect(self.patience.shortage(of: stages, at: .never) == "no committer answers")
    }

    @Test func allInstancesAreWaitedForAMomentOnly() {
        let stages = [(Stage.committer, self.owners(up: 2, of: 2)), (.fanout, self.owners(up: 1, of: 2))]
        let end = Instant(nanoseconds: 1000) + StartupPatience.length
        #expect(self.patience.shortage(of: stages, at: end - 1) == "some fanouts do not answer yet")
        #expect(self.patience.shortage(of: stages, at: end) == nil)
    }

    @Test func restingInstancesCountAsAnswering() {
        #expect(self.patience.shortage(of: [(.fanout, self.owners(up: 1, of: 1))], at: 1000) == nil)
    }
}
