import Canvas
import DatabaseTestKit
import PipelineTestKit
import Testing
import Wire

@testable import CommitterCore

/// What an operator's commands change, on the model of the tables.
@Suite struct RoomOperationTests {
    private let bench = LedgerBench()

    private func element(_ id: String, parent: String? = nil, locked: Bool = false) -> Element {
        var element = Element(id: id, type: "note", createdBy: "ann")
        element.updatedBy = "bob"
        element.rev = 7
        element.parentId = parent
        element.locked = locked
        return element
    }

    private func run(
        _ number: UInt64, _ operation: RoomOperation, session: Identifier = "o:1", on bench: LedgerBench? = nil
    ) -> ShardLedger.Settlement {
        let bench = bench ?? self.bench
        _ = bench.ledger.admit(
            PreparedCommit(operation, in: "room", session: session, number: number, user: "operator"))
        return bench.run()
    }

    private var living: [String] {
        self.bench.database.tables.elements(of: "room").values.filter { !$0.isDeleted }.map(\.element.id).sorted()
    }

    @Test func restoredElementsAreExactlyAsGiven() {
        let given = [self.element("a", locked: true), self.element("b", parent: "a")]
        let settlement = self.run(1, .restore(given))
        #expect(settlement.refusals == [nil])
        #expect(settlement.updates.map(\.event) == [.createdMany] && settlement.updates.map(\.number) == [0])
        let tables = self.bench.database.tables
        #expect(given.allSatisfy { tables[ElementKey("room", Identifier($0.id))]?.element == $0 })
        #expect(tables.log(of: "room").map(\.user) == ["operator"])
    }

    @Test func idInUseOrUsedBeforeRefusesTheWholeCommit() {
        self.bench.admit(commit(1, create("a")))
        self.bench.admit(commit(2, create("gone")))
        self.bench.admit(commit(3, .delete(element: "gone")))
        self.bench.run()
        for (number, id) in [(1, "a"), (2, "gone")] as [(UInt64, String)] {
            let settlement = self.run(number, .restore([self.element("new"), self.element(id)]))
            #expect(settlement.refusals.map { $0?.code } == [.conflict])
            #expect(settlement.refusals.map { $0?.field } == ["elements[1].id"])
        }
        #expect(self.living == ["a"])
        let twice = self.run(3, .restore([self.element("new"), self.element("new")]))
        #expect(twice.refusals.map { $0?.code } == [.conflict])
    }

    @Test func annotationNeedsAParentThatIsNone() {
        _ = self.run(1, .restore([self.element("a"), self.element("b", parent: "a")]))
        for (number, parent) in [(2, "x"), (3, "b")] as [(UInt64, String)] {
            let settlement = self.run(number, .restore([self.element("c", parent: parent)]))
            #expect(settlement.refusals.map { $0?.field } == ["elements[0].parentId"])
        }
        #expect(self.run(4, .restore([self.element("c", parent: "a")])).refusals == [nil])
        #expect(self.living == ["a", "b", "c"])
    }

    @Test func deletionIncludesAnnotationsAndLockedElements() {
        _ = self.run(1, .restore([self.element("a", locked: true), self.element("b")]))
        _ = self.run(2, .restore([self.element("c", parent: "a"), self.element("d", parent: "a", locked: true)]))
        let settlement = self.run(3, .delete(["a", "b", "x"]))
        #expect(settlement.updates.map { $0.elements.map(\.id) } == [["a", "c", "d", "b"]])
        #expect(self.living == [])
        let log = self.bench.database.log.last
        #expect(log?.after == nil && log?.before?.first == UInt8(ascii: "["))
    }

    @Test func restoredAnnotationBelongsToAParentWhoseChildrenAreKnown() {
        _ = self.run(1, .restore([self.element("a", locked: true)]))
        // Refused, but the ledger knows the children since.
        self.bench.admit(commit(1, .delete(element: "a")))
        #expect(self.bench.run().refusals.map { $0?.code } == [.forbidden])
        _ = self.run(2, .restore([self.element("b", parent: "a")]))
        #expect(self.run(3, .delete(["a"])).updates.map { $0.elements.map(\.id) } == [["a", "b"]])
    }

    @Test func deletionSeesAnnotationsOfAnotherLedgersCommits() {
        _ = self.run(1, .restore([self.element("a")]))
        _ = self.run(2, .delete(["x", "a2"]))
        let other = self.bench.other()
        other.admit(commit(1, create("b", #"{"type":"note","parentId":"a"}"#)))
        other.run()
        let settlement = self.run(3, .delete(["a"]))
        #expect(settlement.updates.map { $0.elements.map(\.id) } == [["a", "b"]])
    }

    @Test func nothingLeftToDeleteIsNotFound() {
        _ = self.run(1, .restore([self.element("a")]))
        _ = self.run(2, .delete(["a"]))
        #expect(self.run(3, .delete(["a"])).refusals.map { $0?.code } == [.notFound])
        #expect(self.run(4, .delete([])).refusals.map { $0?.code } == [.invalid])
    }

    @Test func operationRepeatedUnderItsNumberIsAppliedOnce() {
        let operation = RoomOperation.restore([self.element("a")])
        _ = self.run(1, operation)
        let again = self.run(1, operation, on: self.bench.other())
        #expect(again.refusals == [nil] && again.tally.duplicates == 1 && again.updates.isEmpty)
        let changed = self.run(1, .restore([self.element("b")]), on: self.bench.other())
        #expect(changed.refusals.map { $0?.code } == [.conflict])
        #expect(self.living == ["a"])
    }
}
