import Canvas
import FanoutCore
import JSONBytes
import PipelineTestKit
import Testing
import Wire

@testable import CommitterCore

/// An update has the same bytes whether the committer published it or a fan-out made it from its row in the log.
@Suite struct ReplayTests {
    private let bench = LedgerBench()

    private func run(_ number: UInt64, _ edit: EncodedEdit, _ undo: UndoPolicy = .entry, gesture: UInt64 = 0)
        -> [Update]
    {
        var edit = edit
        edit.undo = undo
        self.bench.admit(commit(number, edit, gesture: gesture))
        // The bench compares what is published with the log.
        return self.bench.run().updates
    }

    @Test func everyEventReadsTheSameFromTheLog() throws {
        let fields = TransformFields(positionX: 9, scaleX: 2)
        let both = ["a", "b"].map { TransformElement(element: $0, fields: fields) }
        var updates = self.run(1, create("a", #"{"type":"note","text":"\u00e9\n"}"#))
        updates += self.run(2, createMany([("b", #"{"type":"note"}"#), ("c", #"{"type":"photo"}"#)]))
        updates += self.run(3, createMany([("t", #"{"type":"text","parentId":"c"}"#)]))
        updates += self.run(4, transform("a", x: 5), gesture: 3)
        updates += self.run(5, update("a", #"{"mine":[1]}"#))
        updates += self.run(6, try .read("elements:animate", Self.pulse))
        updates += self.run(7, EncodedEdit(TransformElements(both)))
        updates += self.run(8, .delete(element: "c"))
        updates += self.run(9, create("n"), .group("g"))
        updates += self.run(10, transform("a", x: 70), .group("g"))
        updates += self.run(11, .delete(element: "b"), .group("g"))
        updates += self.run(12, EncodedEdit(UndoEdit()))
        #expect(Set(updates.map(\.event)) == Set(UpdateEvent.allCases))
        #expect(updates.last?.cause == .undo && updates.contains { $0.entries[0].gesture == 3 })
        let group = updates.first { $0.event == .transformedMany }
        #expect(group.map { String(decoding: $0.text, as: UTF8.self).contains(#""animation":null"#) } == true)
    }

    private static let pulse = #"""
        {"elements":["a","b"],"staggerMs":5,
        "animation":{"ms":300,"tracks":{"scaleX":[{"at":0.5,"value":2}]}}}
        """#
}

/// Compares updates that have no trace with the rows of the same batch, as a fan-out reads those.
func expectReplayed(_ updates: [Update], from rows: [ShardBatch.LogRow]) {
    #expect(updates.count == rows.count)
    var document = JSONDocument()
    for (update, row) in zip(updates, rows) where update.trace == nil {
        let logged = LogRow(
            shard: Int(update.shard), gseq: Int64(row.gseq), room: row.room, seq: Int64(row.seq),
            event: row.event.name, user: row.user, session: row.session, number: Int64(row.number),
            gestures: Array(row.gestures), hash: Int64(bitPattern: row.hash), chain: Int64(bitPattern: row.chain),
            element: row.element, before: row.before, after: row.after, cause: row.cause.name)
        #expect(
            logged.update(with: &document) == update, "\(row.event) \(String(decoding: update.text, as: UTF8.self))")
    }
}
