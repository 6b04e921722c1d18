import HistoryChecker

extension Histories {
    /// Ada makes a card and changes two fields of Bob's note in one commit; Bob changes one of them, too. Ada takes her
    /// change back, makes it again, and takes everything back until nothing is left.
    static let undos: [HistoryRecord] =
        [snapshot("ada", 0, seq: 0, [:])]
        + change(1, "element:create", "created", note(x: 0, y: 0), by: "bob")
        + change(2, "element:create", "created", card, of: "card")
        + change(3, "element:update", "updated", note(x: 5, y: 9))
        + change(4, "element:update", "updated", note(x: 7, y: 9), by: "bob")
        + change(5, "history:undo", "updated", note(x: 7, y: 0), undoing: 3)
        + change(6, "history:redo", "updated", note(x: 7, y: 9), undoing: 5)
        + change(7, "history:undo", "updated", note(x: 7, y: 0), undoing: 6)
        + change(8, "history:undo", "deleted", "", of: "card", undoing: 2) + nothing(9, seq: 8)
        + [HistoryRecord(.heal, time: 100), HistoryRecord(.quiet, time: 105), room(seq: 8), shard(gseq: 8)]
        + [element("note", note(x: 7, y: 0))]

    /// Ada's card.
    static let card = #"{"id":"card","x":1,"rev":1}"#

    private static func note(x: Int, y: Int) -> String { #"{"id":"note","x":\#(x),"y":\#(y),"rev":1}"# }

    /// A commit with its acknowledgement, its delivery and its row. Bob is never seen himself: his commits are not
    /// numbered by him.
    private static func change(
        _ n: UInt64, _ event: String, _ update: String, _ body: String, by user: String = "ada",
        of element: String = "note", undoing undone: UInt64 = 0
    ) -> [HistoryRecord] {
        let time = Double(n * 10)
        var row = log(seq: n, gseq: n, n, update, element, body)
        row.user = user
        row.undone = undone
        row.cause = undone == 0 ? "" : String(event.dropFirst("history:".count))
        if user != "ada" { row.session = "bob's.1" }
        var delivery = deliver("ada", time + 3, seq: n, update, n, element, body)
        delivery.session = row.session
        let target = undone == 0 ? element : ""
        let asked = [invoke("ada", time, n, event, target), ok("ada", time + 2, n, seq: n, "")]
        return (user == "ada" ? asked : []) + [delivery, row]
    }

    private static func nothing(_ n: UInt64, seq: UInt64) -> [HistoryRecord] {
        var answer = ok("ada", 96, n, seq: seq, "")
        (answer.isUnchanged, answer.event, answer.user) = (true, "history:undo", "ada")
        return [invoke("ada", 95, n, "history:undo", ""), answer]
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

    /// Ada makes a note and moves it; an undo leaves the move out and deletes the note.
    static let passedOver: [HistoryRecord] =
        [snapshot("ada", 0, seq: 0, [:])]
        + change(1, "element:create", "created", note(x: 0, y: 0))
        + change(2, "element:update", "updated", note(x: 5, y: 0))
        + change(3, "history:undo", "deleted", "", undoing: 1).map { record in
            var record = record
            if record.kind == .invoke { record.undo = "2" }
            return record
        } + [room(seq: 3)]

    /// Ada moves a note, takes that back, sets what is set already, and moves it again by a redo.
    static let redoneOverNothing: [HistoryRecord] =
        [snapshot("ada", 0, seq: 0, [:])]
        + change(1, "element:create", "created", note(x: 0, y: 0))
        + change(2, "element:update", "updated", note(x: 5, y: 0))
        + change(3, "history:undo", "updated", note(x: 0, y: 0), undoing: 2)
        + change(4, "element:update", "updated", note(x: 0, y: 0))
        + change(5, "history:redo", "updated", note(x: 5, y: 0), undoing: 3) + [room(seq: 5)]

    /// Ada moves a note, halts another one, and moves the first again: both moves are of one group. Taking that back takes
    /// back both, if nothing moved any more when she halted, or the second one.
    static func haltedBetween(isNothing: Bool) -> [HistoryRecord] {
        let still = #"{"id":"other","x":1,"rev":1}"#
        let moving = still.replacing("1,", with: #"1,"motion":"m","#)
        let start = isNothing ? note(x: 0, y: 0) : note(x: 5, y: 0)
        return [snapshot("ada", 0, seq: 0, [:])]
            + change(1, "element:create", "created", note(x: 0, y: 0))
            + change(2, "element:create", "created", moving, of: "other")
            + change(3, "element:update", "updated", note(x: 5, y: 0)).map(\.grouped)
            + change(4, "element:halt", "transformed", still, of: "other")
            + change(5, "element:update", "updated", note(x: 5, y: 9)).map(\.grouped)
            + change(6, "history:undo", "updated", start, undoing: 5) + [room(seq: 6)]
    }

    /// The note's state on the canvas.
    static func dragged(x: Int, y: Int, anchor: Int) -> String {
        #"{"id":"note","positionX":\#(x),"positionY":\#(y),"anchorX":\#(anchor),"rev":1}"#
    }

    /// The note's state when one row has left other values than it should.
    static func otherNote(x: Int, y: Int) -> String { note(x: x, y: y) }

    /// Ada makes a photo and moves it with a mark on it that a program of hers has made, both as one entry, and takes that
    /// back.
    static let undoneParent: [HistoryRecord] = {
        let mark = #"{"id":"mark","x":1,"parentId":"note","rev":1}"#
        var moved = log(seq: 3, gseq: 3, 2, "transformed", "note", note(x: 5, y: 0))
        moved.elements["mark"] = mark.replacing("1,", with: "2,")
        var undone = log(seq: 4, gseq: 4, 3, "changed", "note", "")
        (undone.elements["mark"], undone.cause, undone.undone) = ("", "undo", 3)
        var marked = log(seq: 2, gseq: 2, 1, "created", "mark", mark)
        marked.session = "program's.1"
        var program = invoke("ada", 1, 1, "element:create", "mark")
        (program.session, program.undo) = (marked.session, "none")
        let rows = [log(seq: 1, gseq: 1, 1, "created", "note", note(x: 0, y: 0)), marked, moved, undone]
        let asked = [invoke("ada", 1, 1, "element:create", "note"), invoke("ada", 2, 2, "elements:transform", "note")]
        return asked.map { $0.grouped } + [program] + rows.map { $0.of("ada") } + [room(seq: 4)]
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
