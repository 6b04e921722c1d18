import DatabaseTestKit
import FanoutCore
import Testing
import Wire

/// A history that is replaced behind the fan-out's back.
@Suite struct HistoryTests {
    /// A room with three updates that a member has seen.
    private func scene() -> Scene {
        var scene = Scene()
        scene.member("ann", 1)
        for _ in 1...3 { scene.commit() }
        _ = scene.take()
        return scene
    }

    /// A database that has the first of these updates, and others behind it.
    private func replaced(by others: Int) -> DatabaseModel {
        var database = DatabaseModel()
        database.commit()
        for _ in 0..<others { database.commit(sid: "s-ben") }
        return database
    }

    @Test(arguments: [1, 2, 3])
    func replacedRowsResetTheRoom(others: Int) {
        var scene = self.scene()
        scene.database = self.replaced(by: others)
        // Shorter, as long and longer than before: the heads tell, or the rows that follow.
        for _ in 0..<3 {
            scene.pass(250)
            scene.answer()
        }
        let position = Position(epoch: "epoch-1+", seq: UInt64(1 + others))
        #expect(scene.taken(by: Scene.g1).positions == [RoomPosition(room: "r", position: position, isReset: true)])
        #expect(scene.fanout.counters.replacements == 1)
        scene.commit()
        #expect(scene.taken(by: Scene.g1).seqs == [position.seq + 1])
    }

    @Test func anUpdateOfAnotherHistoryIsNotSentOn() {
        var scene = self.scene()
        var fork = self.replaced(by: 2)
        scene.receive(fork.commit())
        #expect(scene.take() == [])
        #expect(scene.fanout.counters.strays == 1)
        scene.pass(250)
        scene.answer()
        scene.commit()
        #expect(scene.taken(by: Scene.g1).seqs == [4])
        #expect(scene.fanout.counters.replacements == 0 && scene.fanout.counters.rebases == 0)
    }

    /// A former primary's committer that still publishes: its numbers fall behind those of its successor.
    @Test func anUpdateThatTheShardIsPastIsNotSentOn() {
        var scene = self.scene()
        let late = scene.database.commit()
        scene.receive(late)
        _ = scene.take()
        scene.receive(late.changed(gseq: late.gseq - 1, seq: late.seq + 1))
        #expect(scene.take() == [] && scene.asked() == [])
        scene.commit()
        #expect(scene.taken(by: Scene.g1).seqs == [5])
        #expect(scene.fanout.counters.duplicates == 1)
    }

    /// One that runs ahead was lost with the former primary: the database does not have it, however often it is asked.
    @Test func anUpdateThatTheDatabaseLacksIsGivenUp() {
        var scene = self.scene()
        var lost = scene.database
        lost.commit()
        scene.receive(lost.commit())
        for _ in 0..<8 {
            scene.pass(20)
            if let question = scene.asked().first { scene.answer(with: scene.database.answer(question)) }
        }
        #expect(scene.asked() == [])
        scene.commit()
        #expect(scene.taken(by: Scene.g1).seqs == [4])
        scene.commit()
        #expect(scene.taken(by: Scene.g1).seqs == [5])
    }

    @Test func nobodyResumesInAReplacedHistory() {
        var scene = self.scene()
        scene.database = self.replaced(by: 2)
        scene.pass(250)
        // The heads are answered, the name of the history is not.
        scene.answer(with: scene.database.answer(.heads))
        #expect(scene.asked().first == .moveEpoch(from: "epoch-1"))
        scene.answer(1, with: .room(scene.database.snapshot(of: "r")))
        _ = scene.take()
        scene.join("ben", 2, resume: Position(epoch: "epoch-1", seq: 3))
        let json = Array("[\(Scene.element("e"))]".utf8)
        #expect(scene.taken(by: Scene.g1).joined.first?.content == .elements(json))
        // The database is away: the question is put again.
        scene.failAll()
        scene.pass(250)
        #expect(scene.asked().contains(.moveEpoch(from: "epoch-1")))
        scene.answer()
        _ = scene.take()
        scene.join("cid", 3, resume: Position(epoch: "epoch-1+", seq: 2))
        scene.answer()
        guard case .updates(let missed)? = scene.taken(by: Scene.g1).joined.first?.content else {
            Issue.record("not resumed")
            return
        }
        #expect(missed.map(\.seq) == [3])
    }

    @Test func aCursorKnowsItsChain() {
        let first = HistoryChain.next(0, 11)
        let second = HistoryChain.next(first, 12)
        let third = HistoryChain.next(second, 13)
        var cursor = ShardCursor()
        var told = [
            cursor.loaded(at: ShardCursor.Mark(1, chain: first), births: 0),
            cursor.saw(ShardCursor.Mark(3, link: 13, chain: third)),
            cursor.saw(ShardCursor.Mark(2, link: 12, chain: second)),
            cursor.headIs(ShardCursor.Mark(3, chain: third)),
        ]
        #expect(told == [true, true, true, true])
        #expect(cursor.at == 3 && cursor.chain == third)
        told = [
            cursor.headIs(ShardCursor.Mark(3, chain: second)),
            cursor.loaded(at: ShardCursor.Mark(3, chain: second), births: 1),
        ]
        #expect(told == [false, false])
        let fourth = HistoryChain.next(third, 14)
        #expect(!cursor.continues(with: ShardCursor.Mark(4, link: 14, chain: third)))
        #expect(cursor.continues(with: ShardCursor.Mark(4, link: 14, chain: fourth)))
        // What lay beyond a gap does not fit what fills it.
        told = [
            cursor.saw(ShardCursor.Mark(5, link: 15, chain: 99)),
            cursor.saw(ShardCursor.Mark(4, link: 14, chain: fourth)),
        ]
        #expect(told == [true, false])
    }

    @Test func rowsFromBeforeTheChainContradictNothing() {
        var cursor = ShardCursor()
        let told = [
            cursor.loaded(at: ShardCursor.Mark(1), births: 0), cursor.saw(ShardCursor.Mark(2)),
            cursor.saw(ShardCursor.Mark(3, link: 13, chain: 5)), cursor.saw(ShardCursor.Mark(4)),
            cursor.headIs(ShardCursor.Mark(4, chain: 6)),
        ]
        #expect(told == [true, true, true, true, true])
    }
}
