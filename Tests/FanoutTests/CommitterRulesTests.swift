import FanoutDaemon
import Mesh
import Testing

@Suite struct CommitterRulesTests {
    private var rules = CommitterRules(own: 1)
    private let first = PeerID(slot: 0, serial: 1)
    private let second = PeerID(slot: 1, serial: 2)

    @Test mutating func onlyThoseThatDifferAreNamed() {
        self.rules.notified(1, by: self.first, named: "committer-1")
        #expect(!self.rules.hasNews)
        self.rules.notified(2, by: self.second, named: "committer-2")
        #expect(self.rules.hasNews)
        #expect(self.rules.drainNews() == ["committer-2"])
        #expect(!self.rules.hasNews)
        self.rules.rulesChanged(2)
        #expect(self.rules.drainNews() == ["committer-1"])
        self.rules.notified(2, by: self.first, named: "committer-1")
        #expect(self.rules.drainNews() == [])
    }

    @Test mutating func oneThatIsGoneIsNotCompared() {
        self.rules.notified(2, by: self.first, named: "committer-1")
        #expect(self.rules.drainNews() == ["committer-1"])
        self.rules.linkDown(to: self.first)
        #expect(self.rules.drainNews() == [])
    }
}
