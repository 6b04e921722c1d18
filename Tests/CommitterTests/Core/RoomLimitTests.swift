import Canvas
import DatabaseTestKit
import JSONBytes
import PipelineTestKit
import Testing
import Wire

@testable import CommitterCore

/// What a room may hold, what an element may have as annotations, and what one commit may change.
@Suite struct RoomLimitTests {
    private let database = TestDatabase()

    private func bench(_ change: (inout CommitterLimits) -> Void) -> LedgerBench {
        var limits = CommitterLimits()
        change(&limits)
        return LedgerBench(on: self.database, limits: limits)
    }

    private func note(_ bytes: Int) -> String {
        #"{"type":"note","content":"\#(String(repeating: "x", count: bytes))"}"#
    }

    private func refusal(_ settlement: ShardLedger.Settlement) -> Refusal? { settlement.refusals.last ?? nil }

    private var totals: RoomTotals { self.database.tables.totals(of: "room") }

    // MARK: Elements

    @Test func roomRefusesMoreElementsAndTakesThemAgainAfterADeletion() {
        let bench = self.bench { $0.roomElements = 2 }
        for number in 1...3 as ClosedRange<UInt64> { bench.admit(commit(number, create(Identifier("e\(number)")))) }
        let first = bench.run()
        #expect(first.refusals.map { $0?.code } == [nil, nil, .tooLarge])
        #expect(self.refusal(first) == Refusal(.tooLarge, "A room has at most 2 elements.", field: "element"))
        #expect(first.tally.overRoomElements == 1)
        bench.admit(commit(4, transform("e1", x: 5)))
        bench.admit(commit(5, .delete(element: "e2")))
        bench.admit(commit(6, create("e4")))
        #expect(bench.run().refusals == [nil, nil, nil])
        #expect(self.totals.elements == 2)
    }

    @Test func picturesAreAsLongAsTheSettingSays() {
        let bench = self.bench { $0.pictureBytes = 10_000 }
        func photo(_ length: Int) -> String {
            #"{"type":"photo","picture":"data:image/png;base64,\#(String(repeating: "A", count: length - 22))"}"#
        }
        bench.admit(commit(1, createMany([("a", photo(10_000)), ("b", #"{"type":"photo"}"#)])))
        bench.admit(commit(2, createMany([("c", photo(9000)), ("d", photo(10_001))])))
        let settlement = bench.run()
        #expect(
            settlement.refusals == [
                nil, Refusal(.tooLarge, "A picture has at most 10000 bytes.", field: "elements[1].picture"),
            ])
        #expect(self.totals.bytes > 10_000, "it counts in the room")
    }

    @Test func groupIsRefusedWithItsFirstElementBeyondTheLimit() {
        let bench = self.bench { $0.roomElements = 3 }
        bench.admit(commit(1, create("a")))
        bench.admit(commit(2, createMany(["b", "c", "d", "e"].map { ($0, #"{"type":"note"}"#) })))
        let settlement = bench.run()
        #expect(self.refusal(settlement)?.field == "elements[2]")
        #expect(self.totals.elements == 1, "all or none")
    }

    @Test func anotherCommitterKnowsTheTotals() {
        let first = self.bench { $0.roomElements = 2 }
        first.admit(commit(1, create("a")))
        first.admit(commit(2, create("b")))
        first.run()
        let second = self.bench { $0.roomElements = 2 }
        second.admit(commit(3, create("c")))
        #expect(self.refusal(second.run())?.code == .tooLarge)
        second.admit(commit(4, .delete(element: "a")))
        second.run()
        first.admit(commit(5, create("d")))
        #expect(first.run().refusals == [nil])
    }

    // MARK: Bytes

    @Test func bytesCountForGrowthOnly() {
        let bench = self.bench { $0.roomBytes = 3000 }
        bench.admit(commit(1, create("a", self.note(1000))))
        bench.admit(commit(2, create("b", self.note(1000))))
        let second = bench.run()
        #expect(
            self.refusal(second)
                == Refusal(
                    .tooLarge, "The elements of a room have at most 3000 bytes.", field: "element"))
        #expect(second.tally.overRoomBytes == 1)
        bench.admit(commit(3, create("b", self.note(100))))
        #expect(bench.run().refusals == [nil])
        let lower = self.bench { $0.roomBytes = 1000 }
        lower.admit(commit(4, update("a", #"{"content":"\#(String(repeating: "y", count: 1000))"}"#)))
        lower.admit(commit(5, transform("a", x: 123_456_789, rotation: 12.3456789, scaleX: 1.23456789)))
        lower.admit(commit(6, update("a", #"{"content":"short"}"#)))
        #expect(lower.run().refusals == [nil, nil, nil])
        lower.admit(commit(7, update("a", #"{"content":"longer"}"#)))
        #expect(self.refusal(lower.run())?.field == "element")
    }

    @Test func sizeOfAnElementIsThatOfItsStoredTexts() {
        var element = Element(id: "id", type: "note", createdBy: "ann")
        #expect(element.storedBytes == 512 + 2 + 4 + 3)
        element.parentId = "p"
        element.extra = [ExtraField(name: "\u{1}", json: Array("[1]".utf8))]
        #expect(element.storedBytes == 512 + 2 + 4 + 3 + 1 + #"{"\u0001":[1]}"#.utf8.count)
        let before = element.storedBytes
        element.positionX = -123_456.5
        element.updatedBy = "somebody with a longer name"
        element.rev = 1_000_000
        #expect(element.storedBytes == before)
    }

    @Test func aMotionCountsNothingAndAnAnimationItsText() {
        var element = Element(id: "id", type: "note", createdBy: "ann")
        let still = element.storedBytes
        let segment = Segment(from: 0, to: 9, ms: 100, curve: .easing(.linear))
        element.motion[.positionX] = Track(startedAt: 1, segments: [segment])
        #expect(element.storedBytes == still)
        var animation = KeyframeAnimation(ms: 100)
        animation.tracks[.opacity] = [.init(at: 0, value: 0)]
        element.animation = animation
        #expect(element.storedBytes == still + animation.jsonText.count)
    }

    // MARK: Annotations

    @Test func annotationsAreLimitedByParent() {
        let bench = self.bench { $0.elementAnnotations = 2 }
        bench.admit(commit(1, create("p", #"{"type":"photo"}"#)))
        bench.admit(commit(2, create("q", #"{"type":"photo"}"#)))
        bench.run()
        func annotation(_ parent: String) -> String { #"{"type":"text","parentId":"\#(parent)"}"# }
        bench.admit(commit(3, createMany([("a", annotation("p")), ("b", annotation("q")), ("c", annotation("p"))])))
        bench.admit(commit(4, createMany([("d", annotation("q")), ("e", annotation("p"))])))
        let settlement = bench.run()
        #expect(
            self.refusal(settlement)
                == Refusal(
                    .tooLarge, "An element has at most 2 annotations.", field: "elements[1]"))
        #expect(settlement.tally.overAnnotations == 1)
        bench.admit(commit(5, .delete(element: "a")))
        bench.admit(commit(6, create("e", annotation("p"))))
        bench.admit(commit(7, create("f", annotation("p"))))
        #expect(bench.run().refusals.map { $0?.code } == [nil, nil, .tooLarge])
    }

    /// What comes and goes leaves nothing behind with its parent, in memory or to be read before that is deleted.
    @Test func deletedAnnotationsAreNoBurdenForTheirParent() {
        let bench = LedgerBench(on: self.database)
        bench.admit(commit(1, create("p", #"{"type":"photo"}"#)))
        bench.run()
        for round in 0..<20 {
            let ids = (0..<10).map { Identifier("a\(round)-\($0)") }
            let items = ids.map { ($0, #"{"type":"text","parentId":"p"}"#) }
            bench.admit(commit(UInt64(2 + 2 * round), createMany(items)))
            let deleted = round < 19 ? ids : Array(ids.dropFirst())
            bench.admit(commit(UInt64(3 + 2 * round), EncodedEdit(DeleteElements(deleted))))
            #expect(bench.run().refusals == [nil, nil])
        }
        bench.admit(commit(42, .delete(element: "p")))
        // Nothing is read for it: the living ones are known.
        guard case .write(let batch)? = bench.next() else {
            Issue.record("the children are read again")
            return
        }
        #expect(batch.elements.map(\.live.element.id) == ["p", "a19-0"])
    }

    /// Who is refused has cost as much as who is not.
    @Test func refusedAndLongCommitsSayWhatTheyCost() {
        let bench = self.bench { $0.roomElements = 30 }
        let items = (0..<40).map { (Identifier("e\($0)"), #"{"type":"note"}"#) }
        bench.admit(commit(1, createMany(items)))
        bench.admit(commit(2, create("long", self.note(8000))))
        bench.admit(commit(3, transform("long", x: 5)))
        bench.admit(commit(4, transform("none", x: 5)))
        #expect(bench.run().results.map(\.result.elements) == [40, 4, 8, 1])
    }

    /// The log stores elements whole, before and after: a short commit of long elements costs what is stored.
    @Test func shortCommitOfLongElementsCostsItsBytesInTheLog() throws {
        let bench = self.bench { _ in }
        let ids = (0..<20).map { Identifier("e\($0)") }
        bench.admit(commit(1, createMany(ids.map { ($0, self.note(8000)) })))
        bench.admit(commit(2, EncodedEdit(GestureElements(ids, pivot: .zero, gesture: Gesture()))))
        let settlement = bench.run()
        let row = try #require(self.database.log.last)
        let bytes = (row.before?.count ?? 0) + (row.after?.count ?? 0)
        #expect(bytes > 20 * 2 * 8000)
        #expect(settlement.results.map { Int($0.result.elements) }.last == bytes / 2048)
    }

    // MARK: Commits

    /// A photo with annotations, written by another ledger.
    private func prepare(_ photo: String, annotations: Int) {
        let bench = LedgerBench(on: self.database)
        bench.admit(commit(1, create(Identifier(photo), #"{"type":"photo"}"#), session: Identifier("s-\(photo)")))
        let items = (0..<annotations).map {
            (Identifier("\(photo)\($0)"), #"{"type":"text","parentId":"\#(photo)"}"#)
        }
        if !items.isEmpty { bench.admit(commit(2, createMany(items), session: Identifier("s-\(photo)"))) }
        bench.run()
    }

    @Test func deletionBeyondTheLimitIsRefusedBeforeItsAnnotationsAreRead() {
        self.prepare("p", annotations: 6)
        let bench = self.bench { $0.commitElements = 5 }
        bench.admit(commit(1, .delete(element: "p")))
        let settlement = bench.run()
        #expect(self.refusal(settlement)?.code == .tooLarge && self.refusal(settlement)?.field == "elementId")
        #expect(self.refusal(settlement)?.message.contains("at most 5 elements") == true)
        #expect(settlement.tally.overCommitElements == 1)
        #expect(bench.readElements.map(\.family) == [false])
        bench.admit(commit(2, EncodedEdit(DeleteElements(["p0", "p1"]))))
        bench.admit(commit(3, .delete(element: "p")))
        #expect(bench.run().refusals == [nil, nil])
        #expect(self.totals == RoomTotals())
    }

    @Test func elementWithoutAnnotationsIsReadOnce() {
        self.prepare("p", annotations: 0)
        let bench = self.bench { _ in }
        bench.admit(commit(1, .delete(element: "p")))
        var loads = 0
        while let request = bench.next() {
            guard case .load(let load) = request else { break }
            loads += 1
            bench.ledger.stateLoaded(self.database.tables.load(load))
        }
        #expect(loads == 1)
    }

    @Test func deletionsOfOneBatchReadNoMoreThanTwoCommits() {
        for photo in ["p", "q", "r", "s"] { self.prepare(photo, annotations: 3) }
        let bench = self.bench { $0.commitElements = 5 }
        for (number, photo) in zip(UInt64(1)..., ["p", "q", "r", "s"]) {
            bench.admit(commit(number, .delete(element: Identifier(photo))))
        }
        let batch = bench.write()
        #expect(batch?.log.count == 2)
        #expect(self.database.write(batch ?? ShardBatch(shard: 3, version: 0, gseq: 0)) == .written)
        #expect(bench.written().refusals == [nil, nil])
        #expect(bench.run().refusals == [nil, nil])
        #expect(self.totals == RoomTotals())
    }

    // MARK: Undo

    @Test func refusedUndoStaysOnTheStackUntilThereIsSpace() {
        let bench = self.bench { $0.roomElements = 2 }
        bench.admit(commit(1, create("a")))
        bench.admit(commit(2, .delete(element: "a")))
        bench.admit(commit(1, create("b"), session: "s2", user: "bob"))
        bench.admit(commit(2, create("c"), session: "s2", user: "bob"))
        bench.run()
        bench.admit(commit(3, EncodedEdit(UndoEdit())))
        let refused = bench.run()
        var expected = Refusal(.tooLarge, "A room has at most 2 elements.", field: "element")
        expected.entry = BlockedEntry(seq: 3, event: .deleted, elements: ["a"])
        #expect(self.refusal(refused) == expected)
        bench.admit(commit(3, .delete(element: "b"), session: "s2", user: "bob"))
        bench.admit(commit(4, EncodedEdit(UndoEdit())))
        #expect(bench.run().updates.map(\.event) == [.deleted, .created])
    }

    @Test func undoOfMoreThanACommitMayChangeIsRefused() {
        let bench = self.bench { $0.commitElements = 3 }
        bench.admit(commit(1, create("p", #"{"type":"photo"}"#)))
        bench.run()
        let other = LedgerBench(on: self.database)
        let items = (0..<3).map { (Identifier("a\($0)"), #"{"type":"text","parentId":"p"}"#) }
        var edits = [createMany(items), .delete(element: "a0")]
        for index in edits.indices { edits[index].undo = .none }
        other.admit(commit(1, edits[0], session: "s2"))
        other.run()
        bench.admit(commit(2, EncodedEdit(UndoEdit())))
        let refusal = self.refusal(bench.run())
        #expect(refusal?.code == .tooLarge && refusal?.entry?.elements == ["p"])
        other.admit(commit(2, edits[1], session: "s2"))
        other.run()
        bench.admit(commit(3, EncodedEdit(UndoEdit())))
        #expect(bench.run().updates.map { $0.elements.count } == [3])
        #expect(self.totals == RoomTotals())
    }

    // MARK: Operators

    @Test func importRespectsTheLimits() {
        let bench = self.bench { $0.roomElements = 1 }
        let elements = ["a", "b"].map { Element(id: $0, type: "note", createdBy: "ann") }
        _ = bench.ledger.admit(
            PreparedCommit(.restore(elements), in: "room", session: "o:1", number: 1, user: "operator"))
        #expect(self.refusal(bench.run())?.field == "elements[1]")
    }
}
