import Canvas
import CommitterCore
import DatabaseTestKit
import PipelineTestKit
import Testing
import Wire

/// Entries that cannot be taken back now: they stay on their stack, and the answer says why.
@Suite struct BlockedUndoTests {
    let database = TestDatabase()
    let bench: LedgerBench

    init() { self.init(limits: CommitterLimits()) }

    private init(limits: CommitterLimits) {
        self.bench = LedgerBench(on: self.database, limits: limits)
        // Set up by another user, so that ann's stacks are empty.
        self.bench.admit(commit(1, create("a"), session: "s0", user: "zoe"))
        self.bench.admit(commit(2, create("b"), session: "s0", user: "zoe"))
        self.bench.admit(commit(3, create("p", #"{"type":"photo"}"#), session: "s0", user: "zoe"))
        self.bench.admit(commit(4, create("t", #"{"type":"text","parentId":"p"}"#), session: "s0", user: "zoe"))
        self.bench.run()
    }

    @discardableResult private func run(
        _ number: UInt64, _ edit: EncodedEdit, _ undo: UndoPolicy = .entry, by user: Identifier = "ann"
    ) -> ShardLedger.Settlement {
        var edit = edit
        edit.undo = undo
        self.bench.admit(commit(number, edit, session: Identifier("s-" + user.text), user: user))
        if number.isMultiple(of: 3) { self.bench.ledger.forget() }
        return self.bench.run()
    }

    /// The refusal of ann's undo or redo; nil when it was not refused.
    private func refusal(_ number: UInt64, _ edit: EncodedEdit) -> Refusal? {
        let settlement = self.run(number, edit)
        #expect(settlement.results.count == 1 && settlement.refusals.count == 1)
        return settlement.refusals.first ?? nil
    }

    private let undo = EncodedEdit(UndoEdit())
    private let redo = EncodedEdit(RedoEdit())

    private func undo(past seq: UInt64) -> EncodedEdit { EncodedEdit(UndoEdit(past: seq)) }

    private func stored(_ id: Identifier) throws -> Element {
        let stored = try #require(self.database.tables[ElementKey("room", id)])
        try #require(!stored.isDeleted)
        return stored.element
    }

    private func isDeleted(_ id: Identifier) -> Bool {
        self.database.tables[ElementKey("room", id)]?.isDeleted ?? true
    }

    // MARK: Reasons

    @Test func aMoveOfALockedElementWaitsUntilItIsUnlocked() throws {
        self.run(1, transform("b", x: 3))
        self.run(2, transform("a", x: 5))
        self.run(1, update("a", #"{"locked":true}"#), by: "bob")
        let refused = self.run(3, self.undo)
        #expect(
            refused.texts == [
                #"{"ok":false,"error":{"code":"forbidden","message":"The element a is locked.","field":"locked","#
                    + #""entry":{"seq":6,"event":"element:transformed","elementIds":["a"]}}}"#
            ])
        #expect(refused.updates.isEmpty)
        // Nothing older is undone instead, however often it is asked for.
        #expect(self.refusal(4, self.undo) == refused.refusals[0])
        #expect(try self.stored("a").positionX == 5 && self.stored("b").positionX == 3)
        self.run(2, update("a", #"{"locked":false}"#), by: "bob")
        #expect(self.refusal(5, self.undo) == nil)
        #expect(try self.stored("a").positionX == 0)
        // The same the other way round.
        self.run(3, update("a", #"{"locked":true}"#), by: "bob")
        #expect(self.refusal(6, self.redo)?.field == "locked")
        self.run(4, update("a", #"{"locked":false}"#), by: "bob")
        #expect(self.refusal(7, self.redo) == nil)
        #expect(try self.stored("a").positionX == 5)
    }

    @Test func whatOfALockedElementIsNoGeometryIsTakenBack() throws {
        self.run(1, update("a", #"{"zIndex":4}"#))
        self.run(2, update("a", #"{"locked":true}"#))
        self.run(3, transform("b", x: 3))
        self.run(4, update("b", #"{"locked":true}"#))
        // One's own lock is taken back first.
        for number in UInt64(5)...7 { #expect(self.refusal(number, self.undo) == nil) }
        #expect(try !self.stored("a").locked && self.stored("b").positionX == 0)
        self.run(1, update("a", #"{"locked":true}"#), by: "bob")
        #expect(self.refusal(8, self.undo) == nil)
        #expect(try self.stored("a").zIndex == nil)
    }

    @Test func aCreationIsNotUndoneWhileItsElementIsLocked() {
        self.run(1, create("n"))
        self.run(2, update("n", #"{"locked":true}"#), .none)
        let refusal = self.refusal(3, self.undo)
        #expect(refusal?.code == .forbidden && refusal?.field == "locked" && refusal?.entry?.elements == ["n"])
        self.run(4, update("n", #"{"locked":false}"#), .none)
        #expect(self.refusal(5, self.undo) == nil && self.isDeleted("n"))
    }

    @Test func anAnnotationWaitsForItsParent() {
        self.run(1, .delete(element: "t"))
        self.run(1, .delete(element: "p"), by: "bob")
        let refusal = self.refusal(2, self.undo)
        #expect(refusal?.code == .conflict && refusal?.field == "parentId" && refusal?.by == nil)
        #expect(refusal?.entry == BlockedEntry(seq: 5, event: .deleted, elements: ["t"]))
        self.run(2, self.undo, by: "bob")
        #expect(self.refusal(3, self.undo) == nil && !self.isDeleted("t"))
    }

    @Test func aRedoneAnnotationWaitsForItsParent() {
        self.run(1, create("n", #"{"type":"text","parentId":"p"}"#))
        self.run(2, self.undo)
        self.run(1, .delete(element: "p"), by: "bob")
        #expect(self.refusal(3, self.redo)?.field == "parentId")
        self.run(2, self.undo, by: "bob")
        #expect(self.refusal(4, self.redo) == nil && !self.isDeleted("n"))
    }

    @Test func whatComesBackWaitsForSpace() throws {
        var limits = CommitterLimits()
        limits.roomElements = 4
        let room = BlockedUndoTests(limits: limits)
        room.run(1, .delete(element: "a"))
        room.run(1, create("n"), by: "bob")
        let refusal = room.refusal(2, room.undo)
        #expect(refusal?.code == .tooLarge && refusal?.field == "element")
        #expect(refusal?.entry == BlockedEntry(seq: 5, event: .deleted, elements: ["a"]))
        room.run(2, .delete(element: "n"), by: "bob")
        #expect(room.refusal(3, room.undo) == nil && !room.isDeleted("a"))
    }

    @Test func ownFieldsWaitForSpace() throws {
        let long = String(repeating: "x", count: 5000)
        self.run(1, update("a", #"{"mine":"\#(long)"}"#))
        self.run(2, update("a", #"{"mine":1}"#))
        self.run(1, update("a", #"{"others":"\#(long)"}"#), by: "bob")
        let refusal = self.refusal(3, self.undo)
        #expect(refusal?.code == .tooLarge && refusal?.entry?.seq == 6)
        self.run(2, update("a", #"{"others":1}"#), by: "bob")
        #expect(self.refusal(4, self.undo) == nil)
        #expect(try self.stored("a").extra.first?.json.count == 5002)
    }

    // MARK: Others' work

    @Test func aCreationIsUndoneOnlyWhileNobodyElseHasChangedIt() throws {
        self.run(1, create("n"))
        self.run(1, update("n", #"{"content":"Bob's"}"#), by: "bob")
        // That ann goes on with it does not make bob's work hers.
        self.run(2, update("n", #"{"zIndex":2}"#), .none)
        let refused = self.run(3, self.undo)
        #expect(
            refused.texts == [
                #"{"ok":false,"error":{"code":"conflict","message":"bob has worked on the element n since.","#
                    + #""field":"undo","by":"bob","entry":{"seq":5,"event":"element:created","elementIds":["n"]}}}"#
            ])
        #expect(try self.stored("n").extra.first?.name == "content")
        // A repeated commit gets the same answer, from memory and from the table.
        let again = self.run(3, self.undo)
        #expect(again.texts == refused.texts && again.refusals == refused.refusals)
        self.bench.ledger.forget()
        #expect(self.run(3, self.undo).texts == refused.texts)
    }

    @Test func somebodyElsesAnnotationIsWorkOnIt() {
        self.run(1, create("n", #"{"type":"photo"}"#))
        self.run(1, create("m", #"{"type":"text","parentId":"n"}"#), by: "bob")
        let refusal = self.refusal(2, self.undo)
        #expect(refusal?.by == "bob" && refusal?.field == "undo" && !self.isDeleted("m"))
        self.run(2, .delete(element: "m"), by: "bob")
        #expect(self.refusal(3, self.undo) == nil && self.isDeleted("n"))
    }

    @Test func workOnOnesOwnAnnotationIsWorkOnItsParent() {
        self.run(1, create("n", #"{"type":"photo"}"#))
        self.run(2, create("m", #"{"type":"text","parentId":"n"}"#), .none)
        self.run(1, transform("m", rotation: 9), by: "bob")
        #expect(self.refusal(3, self.undo)?.by == "bob")
    }

    @Test func othersWorkIsRememberedOverADeletion() throws {
        self.run(1, create("n"))
        self.run(1, update("n", #"{"content":"Bob's"}"#), by: "bob")
        self.run(2, update("n", #"{"zIndex":2}"#))
        self.run(3, .delete(element: "n"))
        // The deletion and the change are taken back, the creation is not.
        for number in UInt64(4)...5 { #expect(self.refusal(number, self.undo) == nil) }
        #expect(self.refusal(6, self.undo)?.by == "bob")
        #expect(try self.stored("n").extra.first?.name == "content")
    }

    @Test func aDeletionIsRedoneOnlyWhileNobodyElseHasChangedWhatCameBack() throws {
        self.run(1, .delete(element: "p"))
        self.run(2, self.undo)
        // zoe made both, before that.
        #expect(self.refusal(3, self.redo) == nil && self.isDeleted("t"))
        self.run(4, self.undo)
        self.run(1, transform("t", rotation: 9), by: "bob")
        let refusal = self.refusal(5, self.redo)
        #expect(refusal?.code == .conflict && refusal?.field == "redo" && refusal?.by == "bob")
        #expect(refusal?.entry == BlockedEntry(seq: 8, event: .createdMany, elements: ["p", "t"]))
        #expect(try self.stored("t").rotation == 9)
        #expect(self.refusal(6, EncodedEdit(RedoEdit(past: 8))) == nil)
        #expect(!self.isDeleted("p"))
    }

    @Test func anEntryIsTakenBackWholeOrNotAtAll() throws {
        self.run(1, create("n"), .group("g"))
        self.run(2, transform("a", x: 5), .group("g"))
        self.run(1, transform("n", x: 1), by: "bob")
        #expect(self.refusal(3, self.undo)?.entry == BlockedEntry(seq: 6, event: .transformed, elements: ["a", "n"]))
        #expect(try self.stored("a").positionX == 5)
    }

    @Test func othersInOneBatchAreToldApart() {
        self.run(1, create("n"))
        self.bench.admit(commit(1, transform("n", x: 1), session: "s-bob", user: "bob"))
        var own = transform("n", x: 2)
        own.undo = .none
        self.bench.admit(commit(2, own, session: "s-ann"))
        self.bench.run()
        self.bench.ledger.forget()
        #expect(self.refusal(3, self.undo)?.by == "bob")
    }

    // MARK: Going past

    @Test func anEntryThatTheAppNamesIsDropped() throws {
        self.run(1, transform("b", x: 3))
        self.run(2, create("n"))
        self.run(1, transform("n", x: 1), by: "bob")
        #expect(self.refusal(3, self.undo)?.entry?.seq == 6)
        let undone = self.run(4, self.undo(past: 6))
        #expect(undone.texts[0].contains(#""undone":{"seq":5,"event":"element:transformed","elementIds":["b"]"#))
        #expect(try self.stored("b").positionX == 0 && !self.isDeleted("n"))
        #expect(self.run(5, self.undo).texts[0].contains(#""elements":[]"#))
    }

    @Test func whatIsDroppedStaysSoThoughTheNextIsRefusedToo() {
        self.run(1, create("m"))
        self.run(2, create("n"))
        self.run(1, transform("m", x: 1), by: "bob")
        self.run(2, transform("n", x: 1), by: "bob")
        #expect(self.refusal(3, self.undo)?.entry?.seq == 6)
        #expect(self.refusal(4, self.undo(past: 6))?.entry?.seq == 5)
        #expect(self.refusal(5, self.undo)?.entry?.seq == 5)
        // The last one: nothing is left.
        #expect(self.run(6, self.undo(past: 5)).texts == [#"{"ok":true,"seq":8,"elements":[]}"#])
        #expect(!self.isDeleted("m") && !self.isDeleted("n"))
    }

    @Test func onlyTheTopEntryCanBeDropped() throws {
        #expect(self.refusal(1, self.undo(past: 4))?.field == "past")
        self.run(2, transform("a", x: 5))
        self.run(3, transform("b", x: 5))
        for (number, seq) in [(4, 5), (5, 7), (6, 4)] as [(UInt64, UInt64)] {
            let refusal = self.refusal(number, self.undo(past: seq))
            #expect(refusal?.code == .conflict && refusal?.field == "past" && refusal?.entry == nil)
        }
        #expect(self.refusal(7, self.undo) == nil)
        #expect(try self.stored("b").positionX == 0 && self.stored("a").positionX == 5)
    }

    @Test func aGroupIsDroppedWhole() throws {
        self.run(1, transform("b", x: 3))
        for number in UInt64(2)...4 { self.run(number, transform("a", x: Double(number)), .group("g")) }
        #expect(self.refusal(5, self.undo(past: 8)) == nil)
        #expect(try self.stored("a").positionX == 4 && self.stored("b").positionX == 0)
    }

    @Test func skippedEntriesStaySkippedBeforeARefusedOne() {
        self.run(1, create("n"))
        self.run(2, transform("a", x: 5))
        self.run(1, transform("a", x: 6), by: "bob")
        self.run(2, transform("n", x: 6), by: "bob")
        // The move of a is overwritten; the creation of n is on top now, and can be named.
        #expect(self.refusal(3, self.undo)?.entry?.seq == 5)
        #expect(self.refusal(4, self.undo(past: 5)) == nil)
    }
}
