import Boot
import Stages
import Testing

@Suite struct StageRosterTests {
    private func addresses(_ names: String) -> [PeerAddress] {
        names.map { PeerAddress(name: "\($0)", endpoint: "ipc:///run/\($0).sock") }
    }

    private func members(_ roster: StageRoster) -> [String] {
        roster.members.map { "\($0.address.name)\($0.number)" }
    }

    @Test func instancesThatStayKeepTheirNumbers() {
        var roster = StageRoster(self.addresses("ab"))
        #expect(self.members(roster) == ["a0", "b1"])
        let change = roster.replace(with: self.addresses("bc"))
        #expect(change.removed.map(\.number) == [0] && change.added.map(\.number) == [2])
        #expect(self.members(roster) == ["b1", "c2"])
    }

    @Test func aNumberIsNeverUsedAgain() {
        var roster = StageRoster(self.addresses("a"))
        roster.replace(with: self.addresses("b"))
        roster.replace(with: self.addresses("ab"))
        #expect(self.members(roster) == ["b1", "a2"])
    }

    @Test func anInstanceAtAnotherEndpointIsAnotherOne() {
        var roster = StageRoster(self.addresses("a"))
        let change = roster.replace(with: [PeerAddress(name: "a", endpoint: "ipc:///run/other.sock")])
        #expect(change.removed.map(\.number) == [0] && change.added.map(\.number) == [1])
    }

    @Test func theOrderOfAListMeansNothing() {
        var roster = StageRoster(self.addresses("abc"))
        let before = roster
        #expect(roster.replace(with: self.addresses("cab")).isEmpty && roster == before)
    }

    @Test func aSetHasAnotherVersionOnlyWhenItChanges() {
        let set = StageSet(.fanout, self.addresses("a"))
        let version = set.current.version
        #expect(set.replace(with: self.addresses("a")).isEmpty && set.current.version == version)
        #expect(!set.replace(with: self.addresses("ab")).isEmpty && set.current.version != version)
    }
}

@Suite struct PeerTableTests {
    @Test func valuesAreInTheOrderOfTheirNumbers() {
        var table = PeerTable<Int, String>()
        for number in [7, 2, 5] { table[number] = "v\(number)" }
        #expect(table.peers == [2, 5, 7] && Array(table.all) == ["v2", "v5", "v7"])
        table[5] = nil
        table[9] = nil
        #expect(table.peers == [2, 7] && table[5] == nil && table[7] == "v7" && !table.contains(9))
    }

    @Test func aValueIsChangedInItsPlace() {
        var table = PeerTable<Int, [Int]>()
        table[3]?.append(1)
        #expect(table.peers.isEmpty)
        table[3] = [2]
        table[3]?.append(3)
        #expect(table[3] == [2, 3] && exchange(&table[3], with: nil) == [2, 3] && table.peers.isEmpty)
    }
}
