import HistoryChecker

extension Histories {
    /// Ada makes a note, and has it move from 0 to 100 within a second. Bob's client hears of that at once and Dora's much
    /// later, Carl's comes in between; then nobody does anything, until Ada catches the note where it is.
    static let motion: [HistoryRecord] =
        [
            snapshot("ada", 0, seq: 0, [:]),
            app("bob", 0, .started),
            request("bob", 0, 1),
            told("bob", 2, 1, 1),
            snapshot("bob", 2, seq: 0, [:]),
            app("dora", 0, .started),
            snapshot("dora", 2, seq: 0, [:]),
            invoke("ada", 3, 1, "element:create", "note"),
            ok("ada", 4, 1, seq: 1, resting(0, rev: 1)),
            invoke("ada", 9, 2, "element:transform", "note"),
            ok("ada", 11, 2, seq: 2, moving),
            deliver("ada", 12, seq: 1, "created", 1, "note", resting(0, rev: 1)),
            deliver("ada", 12, seq: 2, "transformed", 2, "note", moving),
            deliver("bob", 12, seq: 1, "created", 1, "note", resting(0, rev: 1)),
            drawn("bob", 12, seq: 1, resting(0, rev: 1)),
            deliver("bob", 12, seq: 2, "transformed", 2, "note", moving),
            drawn("bob", 12, seq: 2, moving),
            posed("bob", 210, seq: 2, 20, stored: 100),
            app("carl", 300, .started),
            snapshot("carl", 300, seq: 2, ["note": moving]),
            drawn("carl", 300, seq: 2, moving),
            posed("carl", 310, seq: 2, 30, stored: 100),
            deliver("dora", 410, seq: 1, "created", 1, "note", resting(0, rev: 1)),
            drawn("dora", 410, seq: 1, resting(0, rev: 1)),
            deliver("dora", 410, seq: 2, "transformed", 2, "note", moving),
            drawn("dora", 410, seq: 2, moving),
            posed("dora", 510, seq: 2, 40, stored: 100),
            quiet(.hush, 520),
            posed("bob", 610, seq: 2, 60, stored: 100),
            posed("carl", 610, seq: 2, 60, stored: 100),
            quiet(.stir, 700),
            invoke("ada", 805, 3, "element:halt", "note"),
            ok("ada", 811, 3, seq: 3, resting(80, rev: 3)),
            deliver("ada", 812, seq: 3, "transformed", 3, "note", resting(80, rev: 3)),
        ]
        + ["bob", "carl", "dora"].flatMap { client in
            [
                deliver(client, 812, seq: 3, "transformed", 3, "note", resting(80, rev: 3)),
                drawn(client, 812, seq: 3, resting(80, rev: 3)),
                posed(client, 910, seq: 3, 80, stored: 80),
            ]
        } + [HistoryRecord(.heal, time: 920)]
        + ["bob", "carl", "dora"].map { client in
            var whole = drawn(client, 1000, seq: 3, resting(80, rev: 3))
            whole.isFinal = true
            return whole
        } + [
            HistoryRecord(.quiet, time: 1000),
            log(seq: 1, gseq: 1, 1, "created", "note", resting(0, rev: 1)),
            log(seq: 2, gseq: 2, 2, "transformed", "note", moving),
            log(seq: 3, gseq: 3, 3, "transformed", "note", resting(80, rev: 3)),
            room(seq: 3),
            shard(gseq: 3),
            element("note", resting(80, rev: 3)),
        ]

    /// The same without the catch: it comes to rest where it is stored.
    static let untilTheEnd =
        motion.filter { $0.number != 3 && $0.seq != 3 && $0.kind != .room && $0.kind != .shard }
        .filter { $0.kind != .element }
        .inserting(posed("bob", 1010, seq: 2, 100, stored: 100), before: .heal)
        + ["bob", "carl", "dora"].map { client in
            var whole = drawn(client, 1500, seq: 2, moving)
            whole.isFinal = true
            return whole
        } + [room(seq: 2), shard(gseq: 2), element("note", moving)]

    // MARK: Records

    static let moving =
        #"{"positionX":100,"motion":{"positionX":{"startedAt":10,"segments":[{"from":0,"to":100,"ms":1000,"#
        + #""curve":"linear"}]}},"rev":2}"#

    static func resting(_ x: Double, rev: Int) -> String { #"{"positionX":\#(x),"rev":\#(rev)}"# }

    /// - Parameter ahead: by how much the client's clock is.
    static func drawn(
        _ client: String, _ time: Double, seq: UInt64, _ body: String, ahead: Double = 0
    ) -> HistoryRecord {
        var record = app(client, time, .shown)
        (record.epoch, record.seq, record.elements, record.at) = ("1", seq, ["note": body], time + ahead)
        return record
    }

    static func posed(
        _ client: String, _ time: Double, seq: UInt64, _ x: Double, stored: Double
    ) -> HistoryRecord {
        var record = app(client, time, .posed)
        (record.seq, record.at) = (seq, time)
        record.elements = ["note": #"{"positionX":\#(x)}"#]
        record.geometry = ["note": #"{"positionX":\#(stored)}"#]
        return record
    }

    static func told(_ client: String, _ time: Double, _ number: UInt64, _ at: Double) -> HistoryRecord {
        var record = answer(client, time, number)
        record.at = at
        return record
    }

    static func quiet(_ kind: HistoryRecord.Kind, _ time: Double) -> HistoryRecord {
        var record = HistoryRecord(kind, time: time)
        record.room = "r"
        return record
    }

    private static func app(_ client: String, _ time: Double, _ kind: HistoryRecord.Kind) -> HistoryRecord {
        var record = HistoryRecord(kind, time: time)
        (record.client, record.room) = (client, "r")
        return record
    }
}
