import Boot
import Stages
import Testing

@Suite struct StageSetTests {
    private func addresses(_ names: String) -> [PeerAddress] {
        names.map { PeerAddress(name: "\($0)", endpoint: "ipc:///run/\($0).sock") }
    }

    private func members(_ set: StageSet) -> [String] {
        set.current.members.map { "\($0.address.name)\($0.number)" }
    }

    @Test func instancesThatStayKeepTheirNumbers() {
        let set = StageSet(.fanout, self.addresses("ab"))
        #expect(self.members(set) == ["a0", "b1"])
        #expect(set.replace(with: self.addresses("bc")))
        #expect(self.members(set) == ["b1", "c2"])
    }

    @Test func aNumberIsNeverUsedAgain() {
        let set = StageSet(.fanout, self.addresses("a"))
        set.replace(with: self.addresses("b"))
        set.replace(with: self.addresses("ab"))
        #expect(self.members(set) == ["b1", "a2"])
    }

    @Test func anInstanceAtAnotherEndpointIsAnotherOne() {
        let set = StageSet(.fanout, self.addresses("a"))
        set.replace(with: [PeerAddress(name: "a", endpoint: "ipc:///run/other.sock")])
        #expect(self.members(set) == ["a1"])
    }

    @Test func theVersionChangesWithTheInstancesOnly() {
        let set = StageSet(.fanout, self.addresses("abc"))
        let (before, version) = set.current
        #expect(!set.replace(with: self.addresses("cab")), "the order of a list means nothing")
        #expect(set.current.members == before && set.current.version == version)
        #expect(set.replace(with: self.addresses("ab")) && set.current.version != version)
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
