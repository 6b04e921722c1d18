import Canvas
import CommitterCore
import DatabaseTestKit
import JSONBytes
import PipelineTestKit
import Testing
import Wire

/// `history:undo` and `history:redo`: what a user's stacks hold, and what taking a change back does.
@Suite struct UndoTests {
    let database = TestDatabase()
    let bench: LedgerBench

    init() { self.init(limits: CommitterLimits()) }

    private init(limits: CommitterLimits) {
        self.bench = LedgerBench(on: self.database, limits: limits)
        // Set up by another user, so that ann's stacks are empty.
        self.bench.admit(commit(1, create("a", #"{"type":"note","mine":1}"#), session: "s0", user: "zoe"))
        self.bench.admit(commit(2, create("b"), session: "s0", user: "zoe"))
        self.bench.admit(commit(3, create("p", #"{"type":"photo"}"#), session: "s0", user: "zoe"))
        self.bench.admit(commit(4, create("t", #"{"type":"text","parentId":"p"}"#), session: "s0", user: "zoe"))
        self.bench.run()
    }

    @discardableResult private func run(
        _ number: UInt64, _ edit: EncodedEdit, _ undo: UndoPolicy = .entry, by user: Identifier = "ann",
        session: Identifier? = nil
    ) -> ShardLedger.Settlement {
        var edit = edit
        edit.undo = undo
        self.bench.admit(commit(number, edit, session: session ?? Identifier("s-" + user.text), user: user))
        return self.bench.run()
    }

    private let undo = EncodedEdit(UndoEdit())
    private let redo = EncodedEdit(RedoEdit())

    private func stored(_ id: Identifier) throws -> Element {
        let stored = try #require(self.database.tables[ElementKey("room", id)])
        try #require(!stored.isDeleted)
        return stored.element
    }

    private func isDeleted(_ id: Identifier) -> Bool {
        self.database.tables[ElementKey("room", id)]?.isDeleted ?? true
    }

    @Test func anUndoTakesBackAndARedoMakesAgain() throws {
        self.run(1, transform("a", x: 50, rotation: 30))
        let undone = self.run(2, self.undo)
        #expect(try self.stored("a").positionX == 0 && self.stored("a").rotation == 0)
        #expect(undone.updates.map(\.event) == [.transformedMany] && undone.updates[0].cause == .undo)
        #expect(undone.updates[0].seq == 6)
        #expect(undone.texts[0].hasPrefix(#"{"ok":true,"seq":6,"elements":[{"id":"a","type":"note","positionX":0,"#))
        #expect(
            undone.texts[0].hasSuffix(
                #""undone":{"seq":5,"event":"element:transformed","elementIds":["a"],"skipped":0}}"#))
        let redone = self.run(3, self.redo)
        #expect(try self.stored("a").positionX == 50 && self.stored("a").rotation == 30)
        #expect(redone.updates[0].cause == .redo && redone.texts[0].contains(#""undone":{"seq":6,"#))
        self.run(4, self.undo)
        #expect(try self.stored("a").positionX == 0)
    }

    @Test func anEmptyStackIsAnsweredWithoutANumberOfTheRoom() {
        let first = self.run(1, self.undo)
        #expect(first.texts == [#"{"ok":true,"seq":4,"elements":[]}"#] && first.updates.isEmpty)
        // The commit's number is used up, and remembered.
        self.run(2, transform("a", x: 1))
        #expect(self.run(1, self.undo).texts == [#"{"ok":true,"seq":4,"elements":[],"duplicate":true}"#])
        #expect(self.run(1, self.redo).refusals[0]?.code == .conflict)
        self.bench.ledger.forget()
        #expect(self.run(1, self.undo).texts == [#"{"ok":true,"seq":4,"elements":[],"duplicate":true}"#])
        #expect(self.run(3, self.redo).texts == [#"{"ok":true,"seq":5,"elements":[]}"#])
    }

    @Test func aRepeatedUndoIsAnsweredFromTheLog() {
        self.run(1, transform("a", x: 50))
        let first = self.run(2, self.undo)
        self.bench.ledger.forget()
        let again = self.run(2, self.undo)
        #expect(again.updates.isEmpty)
        #expect(again.texts == [String(first.texts[0].dropLast()) + #","duplicate":true}"#])
    }

    @Test func stacksBelongToAUserOnAnyDevice() throws {
        self.run(1, transform("a", x: 50))
        self.bench.ledger.forget()
        #expect(self.run(1, self.undo, by: "bob").updates.isEmpty)
        #expect(self.run(1, self.undo, session: "tablet").updates.count == 1)
        #expect(try self.stored("a").positionX == 0)
        self.bench.ledger.forget()
        #expect(self.run(2, self.redo).updates.count == 1)
        #expect(try self.stored("a").positionX == 50)
    }

    @Test func onlyFieldsThatTheUserLeftAreTakenBack() throws {
        self.run(1, transform("a", x: 50, rotation: 30))
        self.run(1, transform("a", x: 70), by: "bob")
        let undone = self.run(2, self.undo)
        #expect(undone.updates.count == 1)
        #expect(try self.stored("a").positionX == 70 && self.stored("a").rotation == 0)
        // Redo restores what the undo changed, and nothing else.
        self.run(3, self.redo)
        #expect(try self.stored("a").positionX == 70 && self.stored("a").rotation == 30)
    }

    @Test func entriesWithoutEffectAreSkipped() throws {
        self.run(1, transform("a", x: 50))
        self.run(2, transform("b", x: 5))
        self.run(3, transform("b", x: 6))
        self.run(1, transform("b", x: 7), by: "bob")
        let undone = self.run(4, self.undo)
        #expect(undone.texts[0].contains(#""seq":5,"event":"element:transformed","elementIds":["a"],"skipped":2}"#))
        #expect(try self.stored("a").positionX == 0 && self.stored("b").positionX == 7)
        #expect(self.run(5, self.undo).texts[0].contains(#""elements":[]"#))
    }

    /// Two histories may have the same version: after a failover that lost a commit the shard goes on from before it.
    @Test func entriesThatALostHistorySkippedAreJudgedAgain() throws {
        self.run(1, transform("a", x: 50))
        self.run(2, transform("a", x: 60))
        let fork = self.database.tables
        self.run(1, transform("a", x: 70), by: "bob")
        let lost = self.database.tables
        self.database.tables = fork
        let other = self.bench.other()
        other.admit(commit(1, transform("b", x: 70), session: "s-bob", user: "bob"))
        other.run()
        let found = self.database.tables
        let (one, two) = (found.shards[3], lost.shards[3])
        #expect(one.version == two.version && one.chain != two.chain)

        self.database.tables = lost
        let reader = self.bench.other()
        reader.admit(commit(3, self.undo, session: "s-ann"))
        while case .load(let request)? = reader.next(), request.entries.first?.key != UndoEntryKey("room", 5) {
            reader.ledger.stateLoaded(self.database.tables.load(request))
        }
        // The newest entry was skipped, and the one below it is being read.
        self.database.tables = found
        reader.ledger.stateLoaded(found.load(LoadRequest(shard: 3)))
        let undone = reader.run()
        #expect(undone.texts[0].contains(#""seq":6,"event":"element:transformed","elementIds":["a"],"skipped":0}"#))
        #expect(try self.stored("a").positionX == 50)
    }

    /// What an undo reads when nothing is known, request by request, and what it leads to.
    private func undoReading(
        _ number: UInt64, _ note: (LoadRequest, LoadedState) -> Void
    ) -> ShardLedger.Settlement {
        self.bench.ledger.forget()
        self.bench.admit(commit(number, self.undo, session: "s-ann"))
        while let request = self.bench.next() {
            guard case .load(let load) = request else { break }
            let state = self.database.tables.load(load)
            note(load, state)
            self.bench.ledger.stateLoaded(state)
        }
        self.bench.ledger.batchStale()
        return self.bench.run()
    }

    /// Of two users who changed the same, the one who did it first has nothing left to take back.
    @Test func entriesThatAreSkippedAreReadTogetherAndOnce() throws {
        self.run(1, transform("b", x: 5))
        for step in 2...80 { self.run(UInt64(step), transform("a", x: Double(step))) }
        self.run(1, transform("a", x: 99), by: "bob")
        var reads: [UInt64] = []
        var rows: [UndoEntryKey: Int] = [:]
        let undone = self.undoReading(81) { request, state in
            reads += request.entries.map(\.ahead)
            rows.merge(state.entries.mapValues(\.count), uniquingKeysWith: +)
        }
        // The first one alone: nearly every undo is done with that.
        #expect(reads == [0, 32, 32, 32])
        #expect(rows.count == 80 && rows.values.allSatisfy { $0 == 1 })
        #expect(undone.texts[0].contains(#""elementIds":["b"],"skipped":79}"#))
        #expect(try self.stored("b").positionX == 0)
    }

    /// The shard waits for what an undo reads, and the committer has it in memory.
    @Test func anUndoThatPassesOverVeryMuchEndsThereAndTheNextOneGoesOn() throws {
        var limits = CommitterLimits()
        limits.skippedBytes = 20_000
        let bench = LedgerBench(on: self.database, limits: limits)
        func run(_ number: UInt64, _ edit: EncodedEdit, by user: Identifier = "ann") -> ShardLedger.Settlement {
            bench.admit(commit(number, edit, session: Identifier("s-\(user.text)"), user: user))
            return bench.run()
        }
        _ = run(1, transform("b", x: 5))
        for step in 2...80 { _ = run(UInt64(step), transform("a", x: Double(step))) }
        _ = run(1, transform("a", x: 99), by: "bob")
        var undos = 0
        while try self.stored("b").positionX == 5, undos < 10 {
            undos += 1
            #expect(run(80 + UInt64(undos), self.undo).refusals == [nil])
            bench.ledger.forget()
        }
        #expect(undos > 1 && undos < 10)
    }

    @Test func elementsOfEntriesThatAreReadTogetherAreToo() throws {
        let ids = (1...40).map { Identifier("e\($0)") }
        for (index, id) in ids.enumerated() {
            self.run(UInt64(index) + 1, create(id), by: "max")
            self.run(UInt64(index) + 1, transform(id, x: 5))
        }
        for (index, id) in ids.dropFirst().enumerated() { self.run(UInt64(index) + 1, transform(id, x: 7), by: "bob") }
        var elements: [Int] = []
        let undone = self.undoReading(41) { request, _ in elements.append(request.elements.count) }
        #expect(elements.reduce(0, +) == 40 && elements.count <= 8)
        #expect(undone.texts[0].contains(#""elementIds":["e1"],"skipped":39}"#))
    }

    /// Entries may be long, and are parsed each time that something above them is incomplete.
    @Test func elementsAreReadTogetherWithThoseOf256KiBOfEntriesAtMost() throws {
        let ids = (10...49).map { Identifier("e\($0)") }
        let note = #"{"type":"note","content":"\#(String(repeating: "x", count: 8000))"}"#
        for (index, id) in ids.enumerated() {
            self.run(UInt64(index) + 1, create(id, note), by: "max")
            self.run(UInt64(index) + 1, transform(id, x: 5))
        }
        for (index, id) in ids.dropFirst().enumerated() { self.run(UInt64(index) + 1, transform(id, x: 7), by: "bob") }
        var (mostElements, entryBytes) = (0, 0)
        let undone = self.undoReading(41) { request, state in
            mostElements = max(mostElements, request.elements.count)
            for row in state.entries.values.joined() { entryBytes = row.before.count + row.after.count }
        }
        // That of the entry whose turn it is, and those of the entries below it.
        #expect(mostElements == 1 + 256 * 1024 / entryBytes)
        #expect(undone.texts[0].contains(#""elementIds":["e10"],"skipped":39}"#))
    }

    @Test func anEditThatChangesNothingIsNoEntry() throws {
        self.run(1, transform("a", x: 50))
        self.run(2, transform("b", x: 1))
        self.run(3, self.undo)
        // It has a number of the room, and no effect on what can be redone or undone.
        #expect(self.run(4, transform("a", x: 50)).updates.count == 1)
        self.run(5, update("a", #"{"mine":1}"#), .group("g"))
        self.run(6, transform("b", x: 0))
        #expect(self.run(7, self.redo).updates.count == 1)
        #expect(try self.stored("b").positionX == 1)
        self.run(8, self.undo)
        #expect(self.run(9, self.undo).texts[0].contains(#""elementIds":["a"],"skipped":0}"#))
        #expect(try self.stored("a").positionX == 0)
    }

    @Test func aNewChangeEmptiesTheRedoStackButAProgramsDoesNot() throws {
        self.run(1, transform("a", x: 50))
        self.run(2, self.undo)
        self.run(3, transform("b", x: 1), .none)
        self.run(4, self.redo)
        #expect(try self.stored("a").positionX == 50)
        self.run(5, self.undo)
        self.run(6, transform("b", x: 2))
        #expect(self.run(7, self.redo).updates.isEmpty)
        self.run(8, self.undo)
        #expect(try self.stored("b").positionX == 1 && self.stored("a").positionX == 0)
    }

    @Test func aGroupOfCommitsIsOneEntry() throws {
        self.run(1, transform("b", x: 9))
        for step in 1...5 { self.run(UInt64(1 + step), transform("a", x: Double(step)), .group("drag")) }
        self.run(7, transform("b", rotation: 3), .group("drag"))
        let undone = self.run(8, self.undo)
        #expect(
            try self.stored("a").positionX == 0 && self.stored("b").rotation == 0 && self.stored("b").positionX == 9)
        #expect(undone.texts[0].contains(#""elementIds":["b","a"],"skipped":0"#))
        self.run(9, self.redo)
        #expect(try self.stored("a").positionX == 5 && self.stored("b").rotation == 3)
        // The redone entry is closed: the same group begins another one.
        self.run(10, transform("a", x: 6), .group("drag"))
        self.run(11, self.undo)
        #expect(try self.stored("a").positionX == 5)
    }

    @Test func anEntryOfSeveralCommitsIsBounded() throws {
        var limits = CommitterLimits()
        limits.undoEntryBytes = 2000
        let room = UndoTests(limits: limits)
        for step in 1...5 { room.run(UInt64(step), transform("a", x: Double(step)), .group("drag")) }
        room.run(6, self.undo)
        let position = try room.stored("a").positionX
        #expect(position > 0 && position < 5)
        for step in 7...11 { room.run(UInt64(step), self.undo) }
        #expect(try room.stored("a").positionX == 0)
    }

    @Test func theOldestEntriesAreForgotten() throws {
        var limits = CommitterLimits()
        limits.undoDepth = 3
        let room = UndoTests(limits: limits)
        for step in 1...5 { room.run(UInt64(step), transform("a", x: Double(step))) }
        for step in 6...8 { room.run(UInt64(step), self.undo) }
        #expect(try room.stored("a").positionX == 2)
        #expect(room.run(9, self.undo).updates.isEmpty)
        for step in 10...12 { room.run(UInt64(step), self.redo) }
        #expect(try room.stored("a").positionX == 5)
        #expect(room.run(13, self.redo).updates.isEmpty)
    }

    @Test func anUndoneCreationIsADeletionWithItsAnnotations() throws {
        self.run(1, create("n", #"{"type":"photo"}"#))
        self.run(1, create("note-on-n", #"{"type":"text","parentId":"n"}"#), .none, session: "program")
        let undone = self.run(2, self.undo)
        #expect(undone.updates[0].event == .deleted && undone.updates[0].elements.map(\.id) == ["n", "note-on-n"])
        #expect(undone.texts[0].hasPrefix(#"{"ok":true,"seq":7,"elements":[],"undone":"#))
        #expect(self.isDeleted("n") && self.isDeleted("note-on-n"))
        let redone = self.run(3, self.redo)
        #expect(redone.updates[0].event == .createdMany)
        #expect(try self.stored("note-on-n").parentId == "n" && self.stored("n").rev == 2)
        // The restored family is a family: it is deleted together.
        #expect(self.run(4, .delete(element: "n")).updates[0].elements.map(\.id) == ["n", "note-on-n"])
    }

    @Test func anUndoneDeletionRestoresTheAnnotationsToo() throws {
        self.run(1, .delete(element: "p"))
        let undone = self.run(2, self.undo)
        #expect(undone.updates[0].event == .createdMany && undone.updates[0].elements.map(\.id) == ["p", "t"])
        #expect(try self.stored("t").parentId == "p" && self.stored("t").createdBy == "zoe")
        #expect(try self.stored("t").updatedBy == "ann")
        self.run(3, .delete(element: "a"))
        let one = self.run(4, self.undo)
        #expect(one.updates[0].event == .created && one.texts[0].contains(#""mine":1"#))
    }

    @Test func whatCameBackIsDeletedTogetherInTheSameBatchToo() {
        self.run(1, .delete(element: "p"))
        self.bench.admit(commit(2, self.undo, session: "s-ann"))
        self.bench.admit(commit(3, .delete(element: "p"), session: "s-ann"))
        #expect(self.bench.run().updates.map { $0.elements.map(\.id) } == [["p", "t"], ["p", "t"]])
    }

    @Test func anAnnotationDoesNotComeBackOntoWhatTheSameEntryCreatedAndDeleted() {
        self.run(1, create("n", #"{"type":"photo"}"#), .group("g"))
        self.run(1, create("m", #"{"type":"text","parentId":"n"}"#), by: "bob")
        self.run(2, transform("a", x: 5), .group("g"))
        self.run(3, .delete(element: "n"), .group("g"))
        #expect(self.run(4, self.undo).updates[0].elements.map(\.id) == ["a"])
        #expect(self.isDeleted("n") && self.isDeleted("m"))
    }

    @Test func anAnnotationThatCameBackOntoAChangedParentIsDeletedWithIt() {
        self.run(1, update("p", #"{"zIndex":4}"#), .group("g"))
        self.run(2, .delete(element: "t"), .group("g"))
        #expect(self.run(3, self.undo).updates[0].elements.map(\.id) == ["t", "p"])
        #expect(self.run(4, .delete(element: "p")).updates[0].elements.map(\.id) == ["p", "t"])
    }

    @Test func anEntryOfSeveralKindsIsOneUpdate() throws {
        self.run(1, create("n"), .group("g"))
        self.run(2, transform("a", x: 5), .group("g"))
        self.run(3, .delete(element: "b"), .group("g"))
        let undone = self.run(4, self.undo)
        #expect(undone.updates.map(\.event) == [.changedMany])
        #expect(undone.updates[0].elements.map(\.id) == ["b", "a", "n"])
        #expect(undone.updates[0].elements.map(\.isNew) == [true, false, false])
        #expect(undone.updates[0].elements[2].json.isEmpty)
        #expect(self.isDeleted("n") && !self.isDeleted("b"))
        self.run(5, self.redo)
        #expect(try self.stored("n").type == "note" && self.stored("a").positionX == 5 && self.isDeleted("b"))
    }

    @Test func whatIsNoTransformIsTakenBackAsAnUpdate() throws {
        self.run(1, update("a", #"{"mine":2,"new":[3],"fontSize":20}"#))
        let undone = self.run(2, self.undo)
        #expect(undone.updates.map(\.event) == [.updated])
        let element = try self.stored("a")
        #expect(element.extra == [ExtraField(name: "mine", json: Array("1".utf8))] && element.fontSize == nil)
    }

    @Test func removalsAndSizesAreTakenBack() throws {
        self.run(1, update("a", #"{"zIndex":5,"first":1,"second":2}"#))
        let before = try self.stored("a")
        self.run(2, update("a", #"{"zIndex":null,"first":null}"#))
        #expect(try self.stored("a").zIndex == nil && self.stored("a").extra.map(\.name) == ["mine", "second"])
        #expect(self.run(3, self.undo).updates.map(\.event) == [.updated])
        #expect(try self.stored("a").zIndex == 5 && self.stored("a").extra == before.extra)
        #expect(self.run(4, self.redo).updates.map(\.event) == [.updated])
        #expect(try self.stored("a").extra.map(\.name) == ["mine", "second"])
        self.run(5, update("a", #"{"originalWidth":300}"#))
        #expect(self.run(6, self.undo).updates.map(\.event) == [.transformedMany])
        #expect(try self.stored("a").width == 100)
        self.run(7, update("a", #"{"originalWidth":300,"second":null}"#))
        #expect(self.run(8, self.undo).updates.map(\.event) == [.changedMany])
        #expect(try self.stored("a").width == 100 && self.stored("a").extra.count == 2)
    }

    @Test func aLockedElementIsResizedOnlyByWhatUnlocksIt() throws {
        self.run(1, update("a", #"{"locked":true}"#))
        for (number, lock) in [(2, ""), (3, #","locked":true"#)] as [(UInt64, String)] {
            let refusal = self.run(number, update("a", #"{"originalWidth":50\#(lock)}"#)).refusals[0]
            #expect(refusal?.code == .forbidden && refusal?.field == "locked")
        }
        #expect(self.run(4, update("a", #"{"originalWidth":50,"locked":false}"#)).refusals == [nil])
        #expect(try self.stored("a").width == 50)
    }

    @Test func aChangeThatTheLogNoLongerHasCannotBeUndone() {
        self.run(1, transform("a", x: 5))
        self.run(2, transform("a", x: 6))
        self.database.tables.forget(5, in: "room")
        #expect(self.run(3, self.undo).updates.count == 1)
        #expect(self.run(4, self.undo).updates.isEmpty)
    }

    @Test func anUndoIsDecidedOnWhatTheDatabaseHas() {
        // All of these are admitted together: the undo begins a batch of its own.
        var edits = [transform("a", x: 5), transform("a", x: 6), self.undo, transform("b", x: 1), self.undo, self.redo]
        edits.append(self.undo)
        for (index, edit) in edits.enumerated() {
            self.bench.admit(commit(UInt64(index + 1), edit, session: "s-ann"))
        }
        let settlement = self.bench.run()
        #expect(settlement.refusals.allSatisfy { $0 == nil } && settlement.results.count == 7)
        #expect(settlement.updates.map(\.cause) == [.edit, .edit, .undo, .edit, .undo, .redo, .undo])
        #expect(self.database.tables[ElementKey("room", "a")]?.element.positionX == 5)
        #expect(self.database.tables[ElementKey("room", "b")]?.element.positionX == 0)
    }
}
