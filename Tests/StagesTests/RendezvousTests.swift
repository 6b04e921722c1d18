import Testing

@testable import Stages

struct RendezvousTests {
    private func owners(_ names: [String], shards: Int = 64) -> [String?] {
        let rendezvous = Rendezvous(names: names, shards: shards)
        return (0..<shards).map { rendezvous.owner(of: $0) }
    }

    @Test func orderAndRepetitionOfNamesDoNotMatter() {
        #expect(self.owners(["a", "b", "c"]) == self.owners(["c", "a", "b", "a"]))
        #expect(Rendezvous(names: ["b", "a", "b"]) == Rendezvous(names: ["a", "b"]))
    }

    @Test func onlyWhatAPeerGainsOrLosesMoves() {
        for count in 1...8 {
            let names = (0..<count).map { "committer-\($0)" }
            let before = self.owners(names)
            let after = self.owners(names + ["committer-x"])
            for shard in 0..<64 where before[shard] != after[shard] { #expect(after[shard] == "committer-x") }
            for gone in names {
                let without = self.owners(names.filter { $0 != gone })
                for shard in 0..<64 where before[shard] != gone { #expect(without[shard] == before[shard]) }
            }
        }
    }

    @Test func whoRestsIsChosenOnlyWhenAllRest() {
        let names = ["a", "b", "c"]
        func owners(resting: Set<String>) -> [String?] {
            let rendezvous = Rendezvous(up: names, resting: resting)
            return (0..<64).map { rendezvous.owner(of: $0) }
        }
        #expect(owners(resting: []) == self.owners(names))
        #expect(owners(resting: ["b"]) == self.owners(["a", "c"]))
        // A name that is not up is nobody's business.
        #expect(owners(resting: ["a", "c", "d"]) == self.owners(["b"]))
        #expect(owners(resting: ["a", "b", "c"]) == self.owners(names))
    }

    @Test func theLoadIsSpread() {
        for count in 2...8 {
            let names = (0..<count).map { "fanout-\($0)" }
            let owners = self.owners(names, shards: 4096)
            for name in names {
                let share = owners.filter { $0 == name }.count
                #expect(abs(share - 4096 / count) < 4096 / count / 4, "\(name) of \(count): \(share)")
            }
        }
        // With the real number of shards everybody has some.
        #expect(Set(self.owners(["fanout-0", "fanout-1", "fanout-2", "fanout-3"]).map { $0 ?? "" }).count == 4)
    }

    @Test func nobodyAndNowhere() {
        #expect(Rendezvous(names: []).owner(of: 0) == nil)
        #expect(Rendezvous(names: ["a"]).owner(of: -1) == nil)
        #expect(Rendezvous(names: ["a"]).owner(of: 64) == nil)
        #expect(Rendezvous(names: ["a"], shards: -5).shards == 0)
        // Names are bytes: two spellings of one letter are two names.
        #expect(Rendezvous(names: ["\u{e9}", "e\u{301}"]).names.count == 2)
    }

    // Owners must agree across hosts and releases, so the weights may never change.
    @Test func goldenOwners() {
        let owners = self.owners(["a", "b", "c"]).prefix(16).map { $0 ?? "" }.joined()
        #expect(owners == "ccaabacbbbcacaba")
    }
}
