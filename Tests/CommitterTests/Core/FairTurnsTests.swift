import CommitterCore
import DatabaseTestKit
import PipelineTestKit
import Testing
import Wire

/// Which commits of several users are written together.
@Suite struct FairTurnsTests {
    let database = TestDatabase()

    /// Writes everything that waits. Returns the users of each batch's commits.
    private func batches(of bench: LedgerBench) -> [[String]] {
        var batches: [[String]] = []
        while let batch = bench.write() {
            batches.append(batch.log.map(\.user.text))
            _ = self.database.write(batch)
            _ = bench.written()
        }
        return batches
    }

    private func admit(_ count: Int, by user: Identifier, to bench: LedgerBench, _ edit: (Int) -> EncodedEdit) {
        for number in 1...count {
            bench.admit(commit(UInt64(number), edit(number), session: Identifier("s-" + user.text), user: user))
        }
    }

    private func group(of count: Int, named name: String) -> EncodedEdit {
        createMany((0..<count).map { (Identifier("\(name)-\($0)"), #"{"type":"note"}"#) })
    }

    @Test func aFloodOfOneUserDelaysAnotherByOneBatch() {
        var limits = CommitterLimits()
        limits.batchCommits = 4
        let bench = LedgerBench(on: self.database, limits: limits)
        self.admit(7, by: "ann", to: bench) { create(Identifier("a\($0)")) }
        self.admit(1, by: "bob", to: bench) { create(Identifier("b\($0)")) }
        self.admit(2, by: "cem", to: bench) { create(Identifier("c\($0)")) }
        #expect(
            self.batches(of: bench) == [["ann", "bob", "cem", "ann"], ["cem", "ann", "ann", "ann"], ["ann", "ann"]])
    }

    /// An undo must begin its batch: users who undo all the time would else each have a batch before anybody else's commit.
    @Test func undosLeaveOthersTheirTurns() {
        let bench = LedgerBench(on: self.database)
        self.admit(3, by: "ann", to: bench) { create(Identifier("a\($0)")) }
        self.admit(3, by: "bob", to: bench) { create(Identifier("b\($0)")) }
        _ = self.batches(of: bench)
        for number: UInt64 in 4...6 {
            for user in ["ann", "bob"] {
                bench.admit(
                    commit(number, EncodedEdit(UndoEdit()), session: Identifier("s-\(user)"), user: Identifier(user)))
            }
        }
        self.admit(2, by: "cem", to: bench) { create(Identifier("c\($0)")) }
        #expect(
            self.batches(of: bench) == [["ann", "cem", "cem"], ["bob"], ["ann"], ["bob"], ["ann"], ["bob"]])
    }

    @Test func aBatchChangesNoMoreElementsThanItMay() {
        var limits = CommitterLimits()
        limits.batchElements = 50
        let bench = LedgerBench(on: self.database, limits: limits)
        self.admit(3, by: "ann", to: bench) { self.group(of: 40, named: "a\($0)") }
        self.admit(1, by: "bob", to: bench) { self.group(of: 60, named: "b\($0)") }
        self.admit(2, by: "cem", to: bench) { create(Identifier("c\($0)")) }
        // Bob's is larger than a batch, so it has one of its own; it is not passed over.
        #expect(self.batches(of: bench) == [["ann"], ["bob"], ["cem", "ann", "cem"], ["ann"]])
    }

    /// A batch that is put back is written again as it was; whose turn it is does not change.
    @Test func aBatchThatFailedComesAgainFirst() throws {
        var limits = CommitterLimits()
        limits.batchCommits = 2
        let bench = LedgerBench(on: self.database, limits: limits)
        self.admit(2, by: "ann", to: bench) { create(Identifier("a\($0)")) }
        self.admit(2, by: "bob", to: bench) { create(Identifier("b\($0)")) }
        let first = try #require(bench.write())
        _ = bench.fail(.lost)
        self.admit(1, by: "cem", to: bench) { create(Identifier("c\($0)")) }
        let again = try #require(bench.write())
        #expect(again.log.map(\.user) == first.log.map(\.user))
        _ = self.database.write(again)
        _ = bench.written()
        #expect(self.batches(of: bench) == [["ann", "bob"], ["cem"]])
    }

    /// Any number of users, in any order: all are written, each user's in order, and nobody waits longer than for the
    /// others' commits that were there before.
    @Test(arguments: 1...50) func everybodyGetsATurn(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var limits = CommitterLimits()
        limits.batchCommits = Int.random(in: 1...5, using: &random)
        let bench = LedgerBench(on: self.database, limits: limits)
        var numbers: [String: UInt64] = [:]
        for _ in 0..<60 {
            let user = ["ann", "ann", "ann", "bob", "cem", "dan"].randomElement(using: &random)!
            let number = numbers[user, default: 0] + 1
            numbers[user] = number
            bench.admit(
                commit(
                    number, create(Identifier("\(user)\(number)")), session: Identifier("s-\(user)"),
                    user: Identifier(user)))
        }
        let users = self.batches(of: bench).flatMap(\.self)
        #expect(users.count == 60, "seed \(seed)")
        // Each round serves every user with commits left once.
        var left = numbers
        var rest = users[...]
        while !rest.isEmpty {
            let round = rest.prefix(left.count)
            #expect(Set(round) == Set(left.keys), "seed \(seed)")
            for user in round { left[user] = left[user] == 1 ? nil : left[user].map { $0 - 1 } }
            rest = rest.dropFirst(round.count)
        }
    }
}
