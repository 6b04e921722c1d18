import Canvas
import CommitterCore
import CommitterDaemon
import JSONBytes
import PipelineTestKit
import Postgres
import Testing
import Wire

/// What the rooms' rows say they hold is what a count finds.
@Suite(.timeLimit(.minutes(2))) struct LiveRoomTotalsTests {
    private let tables: LiveTables

    init() throws { self.tables = try LiveTables() }

    private func miscounted() throws -> Bool {
        let stored = try self.tables.rows("SELECT data::text FROM elements WHERE deleted_seq IS NULL")
        var document = JSONDocument()
        let sizes = try (0..<stored.count).map { row in
            try document.parse(try #require(stored.bytes(row, 0)), limits: .element)
            return try #require(Element(json: document.root)).storedBytes
        }
        let room = try self.tables.rows("SELECT elements::bigint, bytes FROM rooms")
        return room.int8(0, 0) != Int64(sizes.count) || room.int8(0, 1) != Int64(sizes.reduce(0, +))
    }

    private func ledger(_ change: (inout CommitterLimits) -> Void = { _ in }) -> ShardLedger {
        var limits = CommitterLimits()
        change(&limits)
        return ShardLedger(shard: Shard.of(room: "room"), rules: .defaults, limits: limits)
    }

    @Test(arguments: UInt64(0)..<3)
    func totalsAreRightAfterAnyHistoryOfTwoCommitters(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var ledgers = [self.ledger { $0.roomElements = 12 }, self.ledger { $0.roomBytes = 12_000 }]
        var refused = 0
        for number in 1...120 as ClosedRange<UInt64> {
            let which = Int.random(in: 0..<2, using: &random)
            ledgers[which].admit([commit(number, Self.edit(number, &random))])
            refused += try ledgers[which].run(on: self.tables).refusals.count { $0?.code == .tooLarge }
        }
        #expect(try !self.miscounted())
        #expect(refused > 0, "the walk meets the limits")
        #expect(try self.tables.number("SELECT elements FROM rooms") ?? 0 > 0)
    }

    private static func edit(_ number: UInt64, _ random: inout SplitMix64) -> EncodedEdit {
        let element = Identifier("é\(Int.random(in: 0..<40, using: &random))")
        let text = String(repeating: "ü\\u0001", count: Int.random(in: 0...100, using: &random))
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<3: return create(element, #"{"type":"photo","\#(number)\\":"\#(text)"}"#)
        case 3: return create(Identifier("a\(number)"), #"{"type":"text","parentId":"\#(element.text)"}"#)
        case 4: return update(element, #"{"content":"\#(text)"}"#)
        case 5: return .delete(element: element)
        case 6: return EncodedEdit(UndoEdit())
        case 7: return EncodedEdit(RedoEdit())
        case 8: return createMany([(element, #"{"type":"note"}"#), (Identifier("b\(number)"), #"{"type":"note"}"#)])
        default: return transform(element, x: 123_456.7, rotation: 33.3)
        }
    }

    @Test func annotationsAreCountedByTheirIndex() throws {
        var ledger = self.ledger { $0.elementAnnotations = 1 }
        ledger.admit([
            commit(1, create("p", #"{"type":"photo"}"#)), commit(2, create("a", #"{"type":"text","parentId":"p"}"#)),
            commit(3, .delete(element: "a")), commit(4, create("b", #"{"type":"text","parentId":"p"}"#)),
        ])
        #expect(try ledger.run(on: self.tables).refusals == [nil, nil, nil, nil])
        var other = self.ledger { $0.elementAnnotations = 1 }
        other.admit([commit(5, create("c", #"{"type":"text","parentId":"p"}"#)), commit(6, .delete(element: "p"))])
        let settlement = try other.run(on: self.tables)
        #expect(settlement.refusals.map { $0?.code } == [.tooLarge, nil])
        #expect(settlement.updates.map { $0.elements.map(\.id) } == [["p", "b"]])
        #expect(try !self.miscounted())
    }
}
