import Canvas
import CommitterCore
import DatabaseTestKit
import Testing
import Timing
import TimingTestKit
import Wire

@Suite struct ShardLedgerFaultTests {
    let database: TestDatabase
    let bench: LedgerBench

    init() {
        self.database = TestDatabase()
        self.bench = LedgerBench(on: self.database)
    }

    @Test func staleBatchIsDecidedAgain() throws {
        self.bench.admit(commit(1, create("a")))
        self.bench.run()
        let other = self.bench.other()
        other.admit(commit(1, transform("a", x: 5), session: "s2", user: "bob"))
        other.run()
        self.bench.admit(commit(2, transform("a", rotation: 45)))
        let batch = try #require(self.bench.write())
        #expect(self.database.write(batch) == .stale)
        self.bench.ledger.batchStale()
        let settlement = self.bench.run()
        #expect(settlement.results[0].result.seq == 3)
        #expect(settlement.texts[0].contains(#""positionX":5"#) && settlement.texts[0].contains(#""rotation":45"#))
    }

    @Test func aMotionThatIsDecidedAgainStartsThen() throws {
        self.bench.admit(commit(1, create("a")))
        self.bench.run()
        let other = self.bench.other()
        other.admit(commit(1, transform("a", rotation: 45), session: "s2", user: "bob"))
        other.run()
        var edit = transform("a", x: 5)
        edit.motion = Array(#"{"ms":100}"#.utf8)
        self.bench.admit(commit(2, edit))
        self.bench.time = 1000
        let batch = try #require(self.bench.write())
        #expect(text(batch.log[0].after ?? []).contains(#""startedAt":1000,"#))
        #expect(self.database.write(batch) == .stale)
        self.bench.ledger.batchStale()
        self.bench.time = 2000
        #expect(self.bench.run().texts[0].contains(#""startedAt":2000,"#))
    }

    @Test(arguments: [true, false])
    func unknownOutcomeIsFoundOut(wasWritten: Bool) throws {
        self.bench.admit(commit(1, create("a")))
        let batch = try #require(self.bench.write())
        if wasWritten { #expect(self.database.write(batch) == .written) }
        #expect(self.bench.fail(.lost).results.isEmpty)
        let settlement = self.bench.run()
        #expect(settlement.results[0].result.seq == 1)
        #expect(settlement.texts[0].contains(#""duplicate":true"#) == wasWritten)
        #expect(settlement.updates.isEmpty == wasWritten)
        #expect(self.database.log.count == 1)
    }

    @Test func lateWriteOfALostConnectionWins() throws {
        self.bench.admit(commit(1, create("a")))
        let zombie = try #require(self.bench.write())
        _ = self.bench.fail(.lost)
        let again = try #require(self.bench.write())
        #expect(self.database.write(zombie) == .written)
        #expect(self.database.write(again) == .stale)
        self.bench.ledger.batchStale()
        let settlement = self.bench.run()
        #expect(settlement.tally.duplicates == 1 && self.database.log.count == 1)
    }

    @Test func oneFaultDoesNotFailItsNeighbours() {
        for number in 1...20 {
            let type = number == 13 ? DatabaseModel.poison : "note"
            self.bench.admit(commit(UInt64(number), create(Identifier("e\(number)"), #"{"type":"\#(type)"}"#)))
        }
        var results: [UInt64: CommitResult] = [:]
        var requests = 0
        while let request = self.bench.next(), requests < 100 {
            requests += 1
            switch request {
            case .load(let load): self.bench.ledger.stateLoaded(self.database.tables.load(load))
            case .write(let batch):
                let settlement =
                    self.database.write(batch) == .written
                    ? self.bench.written() : self.bench.fail(.data)
                for answer in settlement.results { results[answer.result.number] = answer.result }
            }
        }
        #expect(results.count == 20)
        #expect(results.values.filter { $0.refusal != nil }.map(\.number) == [13])
        #expect(results[13]?.refusal?.code == .invalid)
        #expect(self.database.log.count == 19)
        #expect(self.database.tables.refusals.count == 1)
        // A repetition gets the same answer.
        self.bench.admit(commit(13, create("e13", #"{"type":"poison"}"#)))
        #expect(self.bench.run().refusals[0]?.code == .invalid)
    }

    @Test func whatCannotEvenBeRefusedIsAnswered() {
        self.bench.admit(commit(1, create("a")))
        var answers: [Refusal?] = []
        for _ in 0..<4 {
            _ = self.bench.next()
            answers += self.bench.fail(.data).refusals
        }
        #expect(answers.map { $0?.code } == [.invalid])
        #expect(self.bench.ledger.isEmpty)
    }

    @Test func transientFailureRestsAndTriesAgain() throws {
        self.bench.admit(commit(1, create("a")))
        var last: UInt64 = 0
        for _ in 0..<12 {
            let batch = try #require(self.bench.write())
            #expect(batch.version == 0)
            _ = self.bench.fail(.transient)
            last = batch.gseq
        }
        #expect(last == 1)
        #expect(self.bench.run().results.count == 1)
    }

    @Test func claimsDecideWhoOwnsASession() throws {
        self.bench.admit(commit(1, create("a")))
        self.bench.run()
        // The ledger believes claim 1; the row has 2 by now.
        #expect(self.database.claim(StreamKey("room", "s1"), user: "ann") == 2)
        self.bench.admit(commit(2, transform("a", x: 1), sessionEpoch: 1))
        let batch = try #require(self.bench.write())
        #expect(self.database.write(batch) == .stale)
        self.bench.ledger.batchStale()
        #expect(self.bench.run().refusals[0]?.code == .sessionExpired)
        // A newer claim than the known one makes it look again.
        #expect(self.database.claim(StreamKey("room", "s1"), user: "ann") == 3)
        self.bench.admit(commit(2, transform("a", x: 1), sessionEpoch: 3))
        self.bench.admit(commit(3, transform("a", x: 1), sessionEpoch: 4))
        let settlement = self.bench.run()
        #expect(settlement.refusals[0] == nil)
        #expect(settlement.refusals[1]?.code == .sessionExpired)
    }

    @Test func sessionsOfOthersAndEvictedOnesAreRefused() {
        self.bench.admit(commit(1, create("a")))
        self.bench.admit(commit(2, create("b"), user: "bob"))
        self.bench.admit(commit(1, create("c"), session: "gone", sessionEpoch: 2))
        self.bench.admit(commit(1, create("d"), session: "h:1", sessionEpoch: 0))
        let settlement = self.bench.run()
        #expect(settlement.refusals.map { $0?.code } == [nil, .sessionExpired, .sessionExpired, nil])
        #expect(self.database.log.count == 2)
    }

    /// A session without a row from before the floor was swept away: nothing of it is applied, whatever its number.
    @Test func sweptSessionsAreNotBegunAnew() {
        let old: Identifier = "-P6xnKVpAAAAAAA"
        let young: Identifier = "-P71wvFpAAAAAAA"
        self.database.tables.sessionFloor = "-P71wvFp"
        for session in [old, young] {
            self.bench.admit(commit(1, create(Identifier("a\(session)")), session: session))
            self.bench.admit(commit(3, create("b"), session: session))
            self.bench.admit(commit(1, create("c"), session: SessionKey.gateway(sid: session, sessionEpoch: 2)))
        }
        #expect(
            self.bench.run().refusals.map { $0?.code } == [
                .sessionExpired, .sessionExpired, .sessionExpired, nil, .gap, nil,
            ])
        // One that has a row goes on, however old its name.
        self.database.tables.streams[StreamKey("room", old)] = StreamState(user: "ann", highest: 6, sessionEpoch: 1)
        let other = self.bench.other()
        other.admit(commit(7, create("d"), session: old))
        #expect(other.run().refusals == [nil])
    }

    /// Rows were lost and the version is the same again: what is known is of another history.
    @Test func knowledgeOfALostHistoryWritesNothing() throws {
        self.bench.admit(commit(1, create("a")))
        self.bench.run()
        let backup = self.database.tables
        self.bench.admit(commit(2, create("b")))
        self.bench.run()
        self.database.tables = backup
        let other = self.bench.other()
        other.admit(commit(1, create("b"), session: "s2"))
        other.run()
        #expect(self.database.tables.shards[3].version == 2)
        self.bench.admit(commit(3, transform("b", x: 5)))
        let batch = try #require(self.bench.write())
        #expect(batch.version == 2 && self.database.write(batch) == .stale)
        self.bench.ledger.batchStale()
        // Number 2 was lost with the rows.
        #expect(self.bench.run().refusals.map { $0?.expected } == [2])
        self.bench.ledger.forget()
        self.bench.admit(commit(2, transform("b", x: 5)))
        #expect(self.bench.run().results.map(\.result.seq) == [3])
    }

    @Test func lateCommitsAreGivenUp() throws {
        self.bench.admit(commit(1, create("a")), at: 5)
        self.bench.admit(commit(2, create("b")), at: 10)
        #expect(self.bench.expire(at: 10_000_000_004).results.isEmpty)
        let settlement = self.bench.expire(at: 10_000_000_005)
        #expect(settlement.refusals.map { $0?.code } == [.unavailable])
        #expect(settlement.commits == 1)
        // In flight: nothing is said before the database has spoken.
        self.bench.admit(commit(1, create("a")), at: 10)
        _ = try #require(self.bench.write())
        #expect(self.bench.expire(at: 99_000_000_000).results.isEmpty)
        // Unknown: nothing is said at all.
        _ = self.bench.fail(.lost)
        let given = self.bench.expire(at: 99_000_000_000)
        #expect(given.results.isEmpty && given.abandoned == 2 && given.commits == 2)
        #expect(self.bench.ledger.isEmpty)
    }

    @Test func copiesThatWaitAreTakenOnce() {
        #expect(self.bench.admit(commit(1, create("a"))))
        #expect(!self.bench.admit(commit(1, create("a"))))
        #expect(self.bench.admit(commit(1, create("a"), gateway: "gateway-2")))
        #expect(self.bench.admit(commit(1, create("b"))))
        let settlement = self.bench.run()
        #expect(settlement.results.count == 3)
        #expect(self.bench.admit(commit(1, create("a"))))
    }

    @Test func aWrittenBatchForgetsItsOwnCopiesOnly() {
        var limits = CommitterLimits()
        limits.batchCommits = 1
        let bench = LedgerBench(limits: limits)
        let waiting = commit(1, create("b"), session: "s-bob", user: "bob")
        bench.admit(commit(1, create("a"), session: "s-ann", user: "ann"))
        bench.admit(waiting)
        if let batch = bench.write() { _ = bench.database.write(batch) }
        #expect(bench.written().commits == 1)
        #expect(!bench.admit(waiting))
        #expect(bench.run().commits == 1 && bench.ledger.isEmpty)
        #expect(bench.admit(waiting))
    }

    @Test func batchesKeepToTheirBounds() throws {
        var limits = CommitterLimits()
        limits.batchCommits = 4
        limits.batchBytes = 250
        let bench = LedgerBench(on: self.database, limits: limits)
        for number in 1...9 { bench.admit(commit(UInt64(number), create(Identifier("e\(number)"))), size: 100) }
        var sizes: [Int] = []
        while let batch = bench.write() {
            sizes.append(batch.log.count)
            _ = self.database.write(batch)
            _ = bench.written()
        }
        #expect(sizes == [2, 2, 2, 2, 1])
    }

    /// How many of these elements are read for a commit that changes all of them.
    private func read(_ ids: [Identifier], for bench: LedgerBench, as number: UInt64) -> Int {
        bench.readElements = []
        let moves = ids.map { TransformElement(element: $0, fields: TransformFields(positionX: 7)) }
        bench.admit(commit(number, EncodedEdit(TransformElements(moves))))
        bench.run()
        return bench.readElements.count
    }

    @Test func cacheIsBounded() {
        var limits = CommitterLimits()
        limits.cacheBytesPerShard = 16_000
        let bench = LedgerBench(on: self.database, limits: limits)
        let ids = (1...100).map { Identifier("e\($0)") }
        for (number, id) in zip(UInt64(1)..., ids) {
            bench.admit(commit(number, create(id)))
            bench.run()
        }
        #expect(self.read(ids, for: bench, as: 101) >= 84)
        // More than the bound in one commit.
        #expect(self.read(ids, for: bench, as: 102) >= 84)
    }

    /// While nothing can be written, commits come, are read for and expire: nothing else trims the cache.
    @Test func whatWasReadForExpiredCommitsIsNotKept() {
        var limits = CommitterLimits()
        limits.cacheBytesPerShard = 16_000
        let bench = LedgerBench(on: self.database, limits: limits)
        var now = Instant.start
        let ids = (0..<300).map { Identifier("e\($0)") }
        for first in stride(from: 0, to: 300, by: 10) {
            for id in ids[first..<first + 10] { bench.admit(commit(1, transform(id, x: 1), session: id), at: now) }
            #expect(bench.write() != nil)
            _ = bench.fail(.transient)
            now += limits.deadline
            #expect(bench.expire(at: now).expired == 10)
        }
        #expect(bench.ledger.isEmpty)
        // Nine sixteenths of the limit for elements, 128 bytes for one that does not exist.
        #expect(self.read(ids, for: bench, as: 1) >= 300 - 70)
    }
}
