import HistoryChecker

extension Histories {
    /// Ada makes a note and changes two of its fields in one commit; Bob changes one of them, too. Ada takes her change
    /// back, makes it again, and takes everything back until nothing is left.
    static let undos: [HistoryRecord] =
        [snapshot("ada", 0, seq: 0, [:])]
        + change(1, "element:create", "created", note(x: 0, y: 0))
        + change(2, "element:update", "updated", note(x: 5, y: 9))
        + change(3, "element:update", "updated", note(x: 7, y: 9), by: "bob")
        + change(4, "history:undo", "updated", note(x: 7, y: 0), undoing: 2)
        + change(5, "history:redo", "updated", note(x: 7, y: 9), undoing: 4)
        + change(6, "history:undo", "updated", note(x: 7, y: 0), undoing: 5)
        + change(7, "history:undo", "deleted", "", undoing: 1) + nothing(8, seq: 7)
        + [HistoryRecord(.heal, time: 90), HistoryRecord(.quiet, time: 95), room(seq: 7), shard(gseq: 7)]

    private static func note(x: Int, y: Int) -> String { #"{"id":"note","x":\#(x),"y":\#(y),"rev":1}"# }

    /// A commit with its acknowledgement, its delivery and its row. Bob is never seen himself: his commits are not
    /// numbered by him.
    private static func change(
        _ n: UInt64, _ event: String, _ update: String, _ body: String, by user: String = "ada",
        undoing undone: UInt64 = 0
    ) -> [HistoryRecord] {
        let time = Double(n * 10)
        var row = log(seq: n, gseq: n, n, update, "note", body)
        row.user = user
        row.undone = undone
        row.cause = undone == 0 ? "" : String(event.dropFirst("history:".count))
        if user != "ada" { row.session = "bob's.1" }
        var delivery = deliver("ada", time + 3, seq: n, update, n, "note", body)
        delivery.session = row.session
        let target = undone == 0 ? "note" : ""
        let asked = [invoke("ada", time, n, event, target), ok("ada", time + 2, n, seq: n, "")]
        return (user == "ada" ? asked : []) + [delivery, row]
    }

    private static func nothing(_ n: UInt64, seq: UInt64) -> [HistoryRecord] {
        var answer = ok("ada", 86, n, seq: seq, "")
        (answer.isUnchanged, answer.event, answer.user) = (true, "history:undo", "ada")
        return [invoke("ada", 85, n, "history:undo", ""), answer]
    }

    /// Ada changes a note, and an undo of hers (3) is never answered. Bob deletes the note and takes that back. Then Ada is
    /// told that nothing is left.
    static let unansweredUndo: [HistoryRecord] =
        [snapshot("ada", 0, seq: 0, [:])]
        + change(1, "element:create", "created", note(x: 0, y: 0))
        + change(2, "element:update", "updated", note(x: 5, y: 0))
        + [invoke("ada", 25, 3, "history:undo", "")]
        + change(3, "element:delete", "deleted", "", by: "bob")
        + change(4, "history:undo", "created", note(x: 5, y: 0), by: "bob", undoing: 3)
        + nothing(5, seq: 4) + [room(seq: 4)]

    /// Ada drags a note by another anchor and once more, both as one entry; Bob moves it in between. Taking that back leaves
    /// the anchor and the position where Bob's change stops it: the second drag is taken back, the first one is not.
    static let undoneDrags: [HistoryRecord] =
        [snapshot("ada", 0, seq: 0, [:])]
        + change(1, "element:create", "created", dragged(x: 0, y: 0, anchor: 1))
        + change(2, "element:gesture", "transformed", dragged(x: 5, y: 0, anchor: 0)).map(\.grouped)
        + change(3, "element:transform", "transformed", dragged(x: 5, y: 7, anchor: 0), by: "bob")
        + change(4, "element:transform", "transformed", dragged(x: 9, y: 7, anchor: 0)).map(\.grouped)
        + change(5, "history:undo", "transformedMany", dragged(x: 5, y: 7, anchor: 0), undoing: 4) + [room(seq: 5)]

    /// The note's state on the canvas.
    static func dragged(x: Int, y: Int, anchor: Int) -> String {
        #"{"id":"note","positionX":\#(x),"positionY":\#(y),"anchorX":\#(anchor),"rev":1}"#
    }

    /// The note's state when one row has left other values than it should.
    static func otherNote(x: Int, y: Int) -> String { note(x: x, y: y) }

    /// Ada makes a photo and moves it with Bob's mark on it, both as one entry, and takes that back.
    static let undoneParent: [HistoryRecord] = {
        let mark = #"{"id":"mark","x":1,"parentId":"note","rev":1}"#
        var moved = log(seq: 3, gseq: 3, 2, "transformed", "note", note(x: 5, y: 0))
        moved.elements["mark"] = mark.replacing("1,", with: "2,")
        var undone = log(seq: 4, gseq: 4, 3, "changed", "note", "")
        (undone.elements["mark"], undone.cause, undone.undone) = ("", "undo", 3)
        var marked = log(seq: 2, gseq: 2, 1, "created", "mark", mark)
        marked.session = "bob's.1"
        let rows = [log(seq: 1, gseq: 1, 1, "created", "note", note(x: 0, y: 0)), marked, moved, undone]
        let asked = [invoke("ada", 1, 1, "element:create", "note"), invoke("ada", 2, 2, "elements:transform", "note")]
        return asked.map { $0.grouped } + rows.map { $0.of($0.session == "bob's.1" ? "bob" : "ada") } + [room(seq: 4)]
    }()
}

extension HistoryRecord {
    /// The request as a part of one entry.
    fileprivate var grouped: HistoryRecord {
        var record = self
        record.undo = "g"
        return record
    }

    /// The row as a user's.
    fileprivate func of(_ user: String) -> HistoryRecord {
        var record = self
        record.user = user
        return record
    }
}
