import Canvas
import DatabaseTestKit
import JSONBytes
import PipelineTestKit
import Testing
import Wire

@testable import CommitterCore

@Suite struct ShardLedgerTests {
    let database: TestDatabase
    let bench: LedgerBench

    init() {
        self.database = TestDatabase()
        self.bench = LedgerBench(on: self.database)
    }

    @Test func firstCommitReadsThenWritesThenAnswers() throws {
        #expect(self.bench.next() == nil)
        #expect(self.bench.admit(commit(1, create("a"))))
        var needed = LoadRequest(shard: 3)
        needed.rooms = ["room"]
        needed.streams = [StreamNeed(key: StreamKey("room", "s1"), user: "ann")]
        needed.outcomes = [CommitKey(StreamKey("room", "s1"), 1)]
        needed.elements = [ElementNeed(key: ElementKey("room", "a"), family: false)]
        needed.users = [UserKey("room", "ann")]
        #expect(self.bench.next() == .load(needed))
        #expect(self.bench.next() == nil)  // one request at a time
        self.bench.ledger.stateLoaded(self.database.tables.load(needed))
        guard case .write(let batch)? = self.bench.next() else {
            Issue.record("no write")
            return
        }
        #expect(batch.version == 0 && batch.gseq == 1)
        #expect(batch.rooms.rows.map(\.value.seq) == [1])
        #expect(batch.log.map(\.event) == [.created])
        #expect(batch.log[0].before == nil)
        #expect(batch.streams.rows.map(\.value) == [StreamState(user: "ann", highest: 1, sessionEpoch: 1)])
        #expect(self.bench.next() == nil)
        let settlement = self.bench.written()
        #expect(settlement.results.map(\.gateway) == ["gateway-1"])
        #expect(settlement.results[0].result.seq == 1)
        let json = try #require(batch.log[0].after)
        #expect(settlement.texts == [#"{"ok":true,"seq":1,"element":"# + text(json) + #","adjusted":[]}"#])
        #expect(settlement.updates.map(\.elements) == [[UpdatedElement(id: "a", json: json)]])
        #expect(settlement.updates[0].number == 1 && settlement.updates[0].gseq == 1)
        #expect(self.bench.ledger.isEmpty && self.bench.next() == nil)
    }

    @Test func knownStateNeedsNoSecondRead() {
        self.bench.admit(commit(1, create("a")))
        self.bench.run()
        self.bench.admit(commit(2, transform("a", x: 10)))
        guard case .write(let batch)? = self.bench.next() else {
            Issue.record("read again")
            return
        }
        #expect(batch.version == 1)
    }

    @Test func commitsOfOneBatchBuildOnEachOther() {
        self.bench.admit(commit(1, create("a")))
        self.bench.admit(commit(2, transform("a", x: 1.5, rotation: -90)))
        self.bench.admit(commit(3, update("a", #"{"content":"hi"}"#)))
        self.bench.admit(commit(4, .delete(element: "a")))
        self.bench.admit(commit(5, transform("a", x: 2)))
        let settlement = self.bench.run()
        #expect(self.database.tables.shards[3].version == 1)
        #expect(settlement.updates.map(\.seq) == [1, 2, 3, 4])
        #expect(settlement.updates.map(\.event) == [.created, .transformed, .updated, .deleted])
        #expect(
            settlement.texts[1].contains(#""adjusted":[{"field":"positionX","sent":1.5,"stored":2,"why":"integer"}]"#))
        #expect(settlement.texts[1].contains(#""rotation":270"#) && settlement.texts[1].contains(#""rev":2"#))
        #expect(settlement.texts[2].contains(#""content":"hi""#))
        #expect(settlement.texts[3] == #"{"ok":true,"seq":4,"elementId":"a","elementIds":["a"]}"#)
        #expect(settlement.refusals[4]?.code == .gone)
        #expect(self.database.tables.streams[StreamKey("room", "s1")]?.highest == 5)
        #expect(self.database.tables[ElementKey("room", "a")]?.isDeleted == true)
        #expect(self.database.log.count == 4)
    }

    @Test func numbersDecide() {
        self.bench.admit(commit(1, create("a")))
        let first = self.bench.run()
        self.bench.admit(commit(3, transform("a", x: 1)))
        self.bench.admit(commit(1, create("a")))
        self.bench.admit(commit(1, create("b")))
        self.bench.admit(commit(0, create("c")))
        self.bench.admit(commit(1 << 53, create("c")))
        let version = self.database.tables.shards[3].version
        let settlement = self.bench.run()
        #expect(self.database.tables.shards[3].version == version + 1)  // written although nothing changed
        #expect(self.database.log.count == 1)
        #expect(settlement.updates.isEmpty)
        #expect(settlement.refusals[0]?.code == .gap && settlement.refusals[0]?.expected == 2)
        #expect(settlement.texts[1] == String(first.texts[0].dropLast()) + #","duplicate":true}"#)
        #expect(settlement.results[1].result.seq == 1)
        #expect(settlement.refusals[2]?.code == .conflict && settlement.refusals[2]?.field == "n")
        #expect(settlement.refusals[3]?.code == .invalid && settlement.refusals[3]?.field == "n")
        #expect(settlement.refusals[4]?.code == .invalid)
    }

    private static func rules(_ text: String) throws -> RulesTable {
        var document = JSONDocument()
        try document.parse(Array(text.utf8))
        return try RulesTable(json: document.root)
    }

    @Test func newRulesApplyToWhatIsDecidedFromThenOn() throws {
        self.bench.admit(commit(1, create("a")))
        self.bench.run()
        self.bench.admit(commit(2, transform("a", scaleX: 20)))
        let batch = try #require(self.bench.write())
        // In flight: it is written as it was decided.
        #expect(self.database.write(batch) == .written)
        self.bench.ledger.rulesChanged(try Self.rules(#"{"note":{"maxScale":3}}"#))
        #expect(self.bench.written().texts[0].contains(#""scaleX":10"#))
        self.bench.admit(commit(3, transform("a", scaleX: 20)))
        #expect(self.bench.run().texts[0].contains(#""scaleX":3"#))
    }

    /// Another committer was faster, so the batch is decided again: by the rules that are in force by then.
    @Test func whatIsDecidedAgainIsDecidedByTheNewRules() throws {
        self.bench.admit(commit(1, create("a")))
        self.bench.run()
        self.bench.admit(commit(2, transform("a", scaleX: 20)))
        _ = try #require(self.bench.write())
        self.bench.ledger.rulesChanged(try Self.rules(#"{"note":{"maxScale":3}}"#))
        self.bench.ledger.batchStale()
        let settlement = self.bench.run()
        #expect(settlement.texts[0].contains(#""scaleX":3"#))
        #expect(settlement.updates.count == 1)
    }

    /// Narrower, wider, and back: the answer is the first one, adjustments included, whatever is in force.
    @Test(arguments: [
        [#"{"photo":{"maxScale":3}}"#], [#"{"photo":{"maxScale":90},"note":{"maxScale":90}}"#],
        [#"{"photo":{"maxScale":3}}"#, #"{"photo":{"lockedAspect":false}}"#, "{}"],
    ])
    func repetitionsUnderNewRulesGetTheFirstResult(reloads: [String]) throws {
        let edits: [EncodedEdit] = [
            create("p", #"{"type":"photo","scaleX":9,"positionX":0.4}"#), transform("p", x: 0.2, scaleX: 77),
            createMany([("q", #"{"type":"note","scaleY":-50}"#), ("r", #"{"type":"note"}"#)]),
        ]
        for (index, edit) in edits.enumerated() { self.bench.admit(commit(UInt64(index) + 1, edit)) }
        let first = self.bench.run()
        for reload in reloads { self.bench.ledger.rulesChanged(try Self.rules(reload)) }
        for (index, edit) in edits.enumerated() { self.bench.admit(commit(UInt64(index) + 1, edit)) }
        let second = self.bench.run()
        #expect(second.texts == first.texts.map { String($0.dropLast()) + #","duplicate":true}"# })
        #expect(first.texts.allSatisfy { $0.contains(#""why":"#) })
    }

    @Test func repetitionGetsTheFirstResultWithItsAdjustments() {
        let edits: [EncodedEdit] = [
            create("p", #"{"type":"photo","scaleX":9,"positionX":0.4}"#), transform("p", x: 0.2, scaleX: 77),
            update("p", #"{"snapDegrees":720}"#),
            createMany([("q", #"{"type":"note","scaleY":-50}"#), ("r", #"{"type":"note"}"#)]), .delete(element: "q"),
        ]
        for (index, edit) in edits.enumerated() {
            self.bench.admit(commit(UInt64(index) + 1, edit))
        }
        let first = self.bench.run()
        #expect(first.refusals.allSatisfy { $0 == nil })
        #expect(first.texts[3].contains(#"{"elementId":"q","field":"scaleY","sent":-50,"stored":-10,"why":"range"}"#))
        // From the log, by another committer, in another connection's name.
        let other = self.bench.other()
        for (index, edit) in edits.enumerated() {
            other.admit(commit(UInt64(index) + 1, edit, gateway: "gateway-2", connection: 9))
        }
        let second = other.run()
        #expect(second.texts == first.texts.map { String($0.dropLast()) + #","duplicate":true}"# })
        #expect(second.updates.isEmpty)
        // From the same batch.
        other.admit(commit(6, transform("r", x: 3)))
        other.admit(commit(6, transform("r", x: 3), connection: 10))
        let third = other.run()
        #expect(third.texts[1] == String(third.texts[0].dropLast()) + #","duplicate":true}"#)
        #expect(third.updates.count == 1)
    }

    @Test func generatedIdIsNoPartOfTheBody() {
        self.bench.admit(commit(1, create("g1", generated: true)))
        self.bench.run()
        self.bench.admit(commit(1, create("g2", generated: true)))
        self.bench.admit(commit(1, create("g2")))
        let settlement = self.bench.run()
        #expect(settlement.texts[0].contains(#""id":"g1""#) && settlement.texts[0].contains(#""duplicate":true"#))
        #expect(settlement.refusals[1]?.code == .conflict)
    }

    @Test func spellingIsNoPartOfTheBody() {
        self.bench.admit(commit(1, create("a", #"{"type":"note","positionX":1,"b":2,"a":1}"#)))
        self.bench.run()
        self.bench.admit(commit(1, create("a", #"{ "a":1, "positionX":1.0,"b":2, "type":"note"}"#)))
        self.bench.admit(commit(1, create("a", #"{"type":"note","positionX":1,"b":1,"a":1}"#)))
        let settlement = self.bench.run()
        #expect(settlement.refusals[0] == nil)
        #expect(settlement.refusals[1]?.code == .conflict)
    }

    @Test func finalRefusalsUseUpTheNumberAndAreRemembered() {
        let refusal = Refusal(.invalid, "no such field", field: "transform.rotation")
        self.bench.admit(commit(1, EncodedEdit(refusal: refusal, bodyHash: 5)))
        self.bench.admit(commit(2, transform("nobody", x: 1)))
        self.bench.admit(commit(3, create("a", #"{"positionX":1}"#)))
        self.bench.admit(commit(4, createMany([("b", #"{"type":"note"}"#), ("c", #"{"type":7}"#)])))
        self.bench.admit(commit(5, update("nobody", #"{"rotation":1}"#)))
        self.bench.admit(commit(6, .transform(element: "a", fields: TransformFields(width: 5))))
        let first = self.bench.run()
        #expect(
            first.refusals.map { $0.map { "\($0.code.name) \($0.field ?? "")" } } == [
                "invalid transform.rotation", "not_found elementId", "invalid element.type",
                "invalid elements[1].type", "invalid set.rotation", "invalid transform",
            ])
        #expect(self.database.log.isEmpty && self.database.tables.elements(of: "room").isEmpty)
        #expect(self.database.tables.streams[StreamKey("room", "s1")]?.highest == 6)
        let other = self.bench.other()
        other.admit(commit(1, EncodedEdit(refusal: refusal, bodyHash: 5)))
        other.admit(commit(1, EncodedEdit(refusal: refusal, bodyHash: 6)))
        other.admit(commit(2, transform("nobody", x: 1)))
        other.admit(commit(4, createMany([("b", #"{"type":"note"}"#), ("c", #"{"type":7}"#)])))
        self.database.tables.refusals[CommitKey(StreamKey("room", "s1"), 5)] = nil
        other.admit(commit(5, update("nobody", #"{"rotation":1}"#)))
        let second = other.run()
        #expect(second.texts[0] == first.texts[0])
        #expect(second.refusals[1]?.code == .conflict)
        #expect(second.texts[2] == first.texts[1] && second.texts[3] == first.texts[3])
        #expect(second.refusals[4]?.code == .conflict)  // forgotten
    }

    @Test func retriableRefusalOfAGatewayIsMadeFinal() {
        self.bench.admit(commit(1, EncodedEdit(refusal: Refusal(.busy, "x"), bodyHash: 5)))
        #expect(self.bench.run().refusals[0]?.code == .invalid)
    }

    @Test func oneCannotCreateWhatIsOrWas() {
        self.bench.admit(commit(1, createMany([("a", #"{"type":"note"}"#), ("b", #"{"type":"note"}"#)])))
        self.bench.admit(commit(2, .delete(element: "b")))
        self.bench.run()
        self.bench.admit(commit(3, create("a")))
        self.bench.admit(commit(4, createMany([("x", #"{"type":"note"}"#), ("b", #"{"type":"note"}"#)])))
        self.bench.admit(commit(5, createMany([("x", #"{"type":"note"}"#), ("x", #"{"type":"note"}"#)])))
        self.bench.admit(commit(6, .create([])))
        let settlement = self.bench.run()
        #expect(
            settlement.refusals.map { $0.map { "\($0.code.name) \($0.field ?? "")" } } == [
                "conflict element.id", "gone elements[1].id", "conflict elements[1].id", "invalid elements",
            ])
        #expect(self.database.tables[ElementKey("room", "x")] == nil)
    }

    @Test func lockedElementsStay() {
        self.bench.admit(commit(1, create("a", #"{"type":"note","locked":true}"#)))
        self.bench.admit(commit(2, transform("a", x: 1)))
        self.bench.admit(commit(3, .delete(element: "a")))
        self.bench.admit(commit(4, update("a", #"{"locked":false}"#)))
        self.bench.admit(commit(5, transform("a", x: 1)))
        let settlement = self.bench.run()
        #expect(settlement.refusals[1] == Refusal(.forbidden, "The element a is locked.", field: "locked"))
        #expect(settlement.refusals[2]?.code == .forbidden)
        #expect(settlement.refusals[3] == nil && settlement.refusals[4] == nil)
        #expect(self.database.log.map(\.seq) == [1, 2, 3])
    }

    @Test func changingNothingTakesASequenceNumber() {
        self.bench.admit(commit(1, create("a")))
        self.bench.admit(commit(2, transform("a", x: 0)))
        self.bench.admit(commit(3, update("a", "{}")))
        #expect(self.bench.run().updates.map(\.seq) == [1, 2, 3])
    }

    @Test func deletionTakesAlongWhatHangsOnIt() {
        let child = #"{"type":"text","space":"normalized","parentId":"p","positionX":0.5,"positionY":0.25}"#
        self.bench.admit(commit(1, create("p", #"{"type":"photo"}"#)))
        self.bench.admit(commit(2, create("c1", child)))
        self.bench.admit(commit(3, create("c2", child)))
        self.bench.admit(commit(4, .delete(element: "c1")))
        self.bench.admit(commit(5, create("cc", #"{"type":"text","parentId":"c2"}"#)))
        self.bench.admit(commit(6, create("d", #"{"type":"text","parentId":"nobody"}"#)))
        let before = self.bench.run()
        #expect(before.refusals[4]?.field == "element.parentId" && before.refusals[4]?.code == .invalid)
        #expect(before.refusals[5]?.code == .notFound)
        // A committer that knows nothing reads the family.
        let other = self.bench.other()
        other.admit(commit(7, .delete(element: "p")))
        let settlement = other.run()
        #expect(settlement.texts[0] == #"{"ok":true,"seq":5,"elementId":"p","elementIds":["p","c2"]}"#)
        #expect(settlement.updates[0].elements.map(\.id) == ["p", "c2"])
        #expect(self.database.tables[ElementKey("room", "c2")]?.isDeleted == true)
        #expect(self.database.log.last.map { text($0.before ?? []) }?.hasPrefix(#"[{"id":"p""#) == true)
        other.admit(commit(8, create("e", child)))
        #expect(other.run().refusals[0]?.code == .gone)
    }

    @Test func familyThatGrewInMemoryIsDeletedWhole() {
        let child = #"{"type":"text","parentId":"p"}"#
        self.bench.admit(commit(1, createMany([("p", #"{"type":"photo"}"#), ("c1", child)])))
        self.bench.admit(commit(2, create("c2", child)))
        self.bench.run()
        self.bench.admit(commit(3, create("c3", child)))
        self.bench.admit(commit(4, .delete(element: "p")))
        let settlement = self.bench.run()
        #expect(settlement.texts[1].contains(#""elementIds":["p","c1","c2","c3"]"#))
    }
}
