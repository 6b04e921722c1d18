import HistoryChecker

extension Histories {
    /// Ada's app is a client. She makes a note, drags it twice, and her app ends before it knows of the second one, which
    /// another run learns; her third drag is refused. Bob looks on.
    static let client: [HistoryRecord] = [
        at("ada", 0, .started),
        snapshot("ada", 1, seq: 0, [:]),
        snapshot("bob", 1, seq: 0, [:]),
        edit(2, "e1", "element:create"),
        shown(2, seq: 0, note(x: 0, rev: 1, by: "")),
        invoke("ada", 3, 1, "element:create", "note").carrying("e1"),
        ok("ada", 5, 1, seq: 1, note(x: 0, rev: 1)),
        result(5, "e1", seq: 1),
        shown(5, seq: 0, note(x: 0, rev: 1, by: "")),
        deliver("ada", 6, seq: 1, "created", 1, "note", note(x: 0, rev: 1)),
        shown(6, seq: 1, note(x: 0, rev: 1)),
        deliver("bob", 6, seq: 1, "created", 1, "note", note(x: 0, rev: 1)),
        edit(10, "e2", "element:gesture"),
        shown(10, seq: 1, note(x: 5, rev: 1)),
        invoke("ada", 11, 2, "element:gesture", "note").carrying("e2"),
        closed("ada", 12),
        left("ada", 12),
        at("ada", 13, .started),
        shown(13, seq: 0, ""),
        deliver("bob", 14, seq: 2, "transformed", 2, "note", note(x: 5, rev: 2)),
        snapshot("ada", 15, seq: 2, ["note": note(x: 5, rev: 2)]),
        shown(15, seq: 2, note(x: 5, rev: 2)),
        ok("ada", 17, 2, seq: 2, note(x: 5, rev: 2)),
        result(17, "e2", seq: 2),
        edit(20, "e3", "element:gesture"),
        shown(20, seq: 2, note(x: 9, rev: 2)),
        invoke("ada", 21, 3, "element:gesture", "note").carrying("e3"),
        refused("ada", 23, 3, "invalid", final: true),
        result(23, "e3", code: "invalid"),
        shown(23, seq: 2, note(x: 5, rev: 2)),
        HistoryRecord(.heal, time: 30),
        shown(90, seq: 2, note(x: 5, rev: 2)).whole,
        HistoryRecord(.quiet, time: 100),
        log(seq: 1, gseq: 1, 1, "created", "note", note(x: 0, rev: 1)),
        log(seq: 2, gseq: 2, 2, "transformed", "note", note(x: 5, rev: 2)),
        room(seq: 2),
        shard(gseq: 2),
        element("note", note(x: 5, rev: 2)),
    ]

    // MARK: Records

    static func note(x: Int, rev: Int, by user: String = "ada") -> String {
        #"{"positionX":\#(x),"createdBy":"\#(user)","rev":\#(rev)}"#
    }

    static func edit(_ time: Double, _ edit: String, _ event: String) -> HistoryRecord {
        var record = at("ada", time, .edit)
        (record.edit, record.event, record.targets) = (edit, event, ["note"])
        return record
    }

    static func result(_ time: Double, _ edit: String, seq: UInt64 = 0, code: String = "") -> HistoryRecord {
        var record = at("ada", time, .result)
        (record.edit, record.seq, record.code) = (edit, seq, code)
        return record
    }

    static func shown(_ time: Double, seq: UInt64, _ body: String) -> HistoryRecord {
        var record = at("ada", time, .shown)
        (record.epoch, record.seq, record.elements) = ("1", seq, ["note": body])
        return record
    }

    private static func at(_ client: String, _ time: Double, _ kind: HistoryRecord.Kind) -> HistoryRecord {
        var record = HistoryRecord(kind, time: time)
        (record.client, record.room) = (client, "r")
        return record
    }
}

extension HistoryRecord {
    /// The request with the user's edit that it carries.
    fileprivate func carrying(_ edit: String) -> HistoryRecord {
        var record = self
        record.edits = [edit]
        return record
    }

    /// The record of all that is shown.
    fileprivate var whole: HistoryRecord {
        var record = self
        record.isFinal = true
        return record
    }
}
