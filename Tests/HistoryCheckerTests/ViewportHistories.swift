import HistoryChecker

extension Histories {
    /// Long after the last fault Bob looks at the first 1,000 pixels each way, Cid at everything, and Dan leaves.
    /// Ada drags her note out of Bob's view, about there, and back into it, and keeps her finger down. Bob sees it leave and
    /// come back. Then Eve joins and is told of cursors and selections.
    static let looks: [HistoryRecord] =
        [
            snapshot("ada", 0, seq: 1, ["note": "at 0"]),
            snapshot("bob", 1, seq: 1, ["note": "at 0"]),
            snapshot("cid", 2, seq: 1, ["note": "at 0"]),
            snapshot("dan", 3, seq: 1, ["note": "at 0"]),
            pointed("cid", 5, "3 3"),
            selected("dan", 6, "note"),
            HistoryRecord(.heal, time: 10),
            look("bob", 20),
            view("bob", 21, CanvasBox(left: 0, top: 0, right: 1000, bottom: 1000)),
            selected("ada", 22, "note"),
            left("dan", 30, chosen: true),
            pointed("ada", 5500, "1 1"),
            pointed("ada", 5600, "7 9"),
        ] + moves
        + [
            snapshot("eve", 10_700, seq: 1, ["note": "at 0"]),
            people("eve", 10_700, ["ada", "bob", "cid", "eve"], cursors: ["ada": "7 9"], selections: ["ada": "note"]),
            HistoryRecord(.quiet, time: 10_800),
            log(seq: 1, gseq: 1, 1, "created", "note", "at 0"),
            room(seq: 1),
            shard(gseq: 1),
            element("note", "at 0"),
        ].map(byGateway)

    /// The same, but that the note stays away: it was stored in Bob's view, and leaves it.
    static let leaves: [HistoryRecord] = looks.without(.previewSent, where: isBack).without(.preview, where: isBack)
        .changing(.element) { $0.box = CanvasBox(left: 400, top: 400, right: 600, bottom: 600) }

    private static func isBack(_ preview: HistoryRecord) -> Bool { ["600 500", "610 500"].contains(preview.body) }

    /// The same as at first, and at last Ada's cursor leaves Bob's view, for good or, perhaps, to come back.
    static func pointing(isBack: Bool) -> [HistoryRecord] {
        var history = looks
        let moves = [(500, true), (5000, true), (6000, false)] + (isBack ? [(700, true)] : [])
        let records = moves.enumerated().flatMap { step, move in
            let time = 7000 + Double(step) * 100
            return [pointed("ada", time, x: move.0), cursor("cid", time + 1, x: move.0)]
                + (move.1 ? [cursor("bob", time + 1, x: move.0)] : [])
        }
        history.insert(contentsOf: records, at: history.firstIndex { $0.client == "eve" } ?? history.endIndex)
        return history.changing(.people) { $0.cursors["ada"] = isBack ? "700 5" : "6000 5" }
    }

    /// Where Ada drags her note to, and whether Bob gets that.
    private static let moves: [HistoryRecord] =
        [(500, true), (5000, true), (6000, false), (7000, false), (600, true), (610, true)].enumerated()
        .flatMap { step, move in
            let time = 6000 + Double(step) * 100
            return [moved("ada", time, to: move.0), seen("cid", time + 1, at: move.0)]
                + (move.1 ? [seen("bob", time + 1, at: move.0)] : [])
        }

    /// Rows of sessions of gateways need no app that asked for them.
    private static func byGateway(_ record: HistoryRecord) -> HistoryRecord {
        var record = record
        if record.kind == .log { record.session = "old.1" }
        return record
    }

    // MARK: Records

    /// Ada's preview of the note.
    static func moved(_ client: String, _ time: Double, to x: Int) -> HistoryRecord {
        placed(previewSent(client, time, "note", gesture: 4), x)
    }

    /// Ada's preview as it reaches somebody.
    static func seen(_ client: String, _ time: Double, at x: Int) -> HistoryRecord {
        placed(preview(client, time, "note", from: "ada", gesture: 4), x)
    }

    private static func placed(_ preview: HistoryRecord, _ x: Int) -> HistoryRecord {
        var record = preview
        record.body = "\(x) 500"
        record.box = CanvasBox(left: Double(x) - 100, top: 400, right: Double(x) + 100, bottom: 600)
        return record
    }

    static func look(_ client: String, _ time: Double) -> HistoryRecord { shown(.look, client, time) }

    static func view(_ client: String, _ time: Double, _ box: CanvasBox?) -> HistoryRecord {
        var record = shown(.view, client, time)
        record.box = box
        return record
    }

    static func pointed(_ client: String, _ time: Double, _ at: String) -> HistoryRecord {
        var record = shown(.pointed, client, time)
        record.body = at
        return record
    }

    /// Ada's cursor, there.
    private static func pointed(_ client: String, _ time: Double, x: Int) -> HistoryRecord {
        pointed(pointed(client, time, "\(x) 5"), x)
    }

    /// Ada's cursor as it reaches somebody.
    static func cursor(_ client: String, _ time: Double, x: Int) -> HistoryRecord {
        var record = shown(.cursor, client, time)
        (record.sender, record.body) = ("ada", "\(x) 5")
        return pointed(record, x)
    }

    private static func pointed(_ cursor: HistoryRecord, _ x: Int) -> HistoryRecord {
        var record = cursor
        record.box = CanvasBox(left: Double(x), top: 5, right: Double(x), bottom: 5)
        return record
    }

    static func selected(_ client: String, _ time: Double, _ elements: String) -> HistoryRecord {
        var record = shown(.selected, client, time)
        record.body = elements
        return record
    }

    static func people(
        _ client: String, _ time: Double, _ present: [String], cursors: [String: String], selections: [String: String]
    ) -> HistoryRecord {
        var record = shown(.people, client, time)
        (record.targets, record.cursors, record.selections) = (present, cursors, selections)
        return record
    }

    private static func shown(_ kind: HistoryRecord.Kind, _ client: String, _ time: Double) -> HistoryRecord {
        var record = HistoryRecord(kind, time: time)
        (record.client, record.room) = (client, "r")
        return record
    }
}
