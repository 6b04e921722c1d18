import HistoryChecker
import Testing

extension Spoilt {
    static let viewports: [Spoilt] = [
        Spoilt(
            "a preview of what has left the view already", [.viewports],
            H.looks.inserting(H.seen("bob", 6202, at: 6000), after: 6201)),
        Spoilt(
            "the last preview in view is lost", [.viewports],
            H.looks.without(.preview) { $0.client == "bob" && $0.body == "610 500" }),
        Spoilt(
            "the last previews in view are swapped", [.viewports],
            H.looks.inserting(H.seen("bob", 6502, at: 600), after: 6501)),
        Spoilt(
            "an app without a viewport does not get the last preview", [.viewports],
            H.looks.without(.preview) { $0.client == "cid" && $0.body == "610 500" }),
        Spoilt(
            "a note is not seen to leave the view", [.viewports],
            H.leaves.without(.preview) { $0.client == "bob" && $0.body == "5000 500" }),
        Spoilt(
            "a stored note is not seen to leave the view", [.viewports],
            H.leaves.without(.preview) { $0.client == "bob" }),
        Spoilt(
            "a cursor that has left the view already", [.viewports],
            H.pointing(isBack: false).inserting(H.cursor("bob", 7202, x: 6000), after: 7201)),
        Spoilt(
            "a cursor is not seen to leave the view", [.viewports],
            H.pointing(isBack: false).without(.cursor) { $0.client == "bob" && $0.body == "5000 5" }),
        Spoilt(
            "the last cursor in view is lost", [.viewports],
            H.pointing(isBack: true).without(.cursor) { $0.client == "bob" && $0.body == "700 5" }),
        Spoilt(
            "an app with a viewport misses an update", [.convergence],
            H.looks.inserting(H.log(seq: 2, gseq: 2, 2, "transformed", "note", "at 9").ofAGateway, before: .room)
                .changing(.room) { $0.seq = 2 }.changing(.shard) { $0.gseq = 2 }.changing(.element) { $0.body = "at 9" }
                .inserting(H.update("ada"), before: .quiet).inserting(H.update("cid"), before: .quiet)
                .inserting(H.update("eve"), before: .quiet)),
    ]

    static let people: [Spoilt] = [
        Spoilt(
            "an older cursor", [.people], H.looks.changing(.people) { $0.cursors["ada"] = "1 1" }),
        Spoilt(
            "a cursor that was never shown", [.people], H.looks.changing(.people) { $0.cursors["cid"] = "1 1" }),
        Spoilt("a cursor is missing", [.people], H.looks.changing(.people) { $0.cursors = [:] }),
        Spoilt("a selection is missing", [.people], H.looks.changing(.people) { $0.selections = [:] }),
        Spoilt(
            "somebody else's selection", [.people],
            H.looks.changing(.people) { ($0.selections["cid"], $0.cursors["cid"]) = ("note", "3 3") }),
        Spoilt(
            "a selection of somebody who left", [.people],
            H.looks.changing(.people) { $0.selections["dan"] = "note" }),
        Spoilt(
            "somebody in the room is missing", [.people],
            H.looks.changing(.people) { $0.targets = ["ada", "bob", "eve"] }),
        Spoilt(
            "somebody who left is in the room", [.people], H.looks.changing(.people) { $0.targets.append("dan") }),
        Spoilt(
            "a cursor of nobody", [.people], H.looks.changing(.people) { $0.cursors["zoe"] = "1 1" }),
    ]
}

extension HistoryRecord {
    fileprivate var ofAGateway: HistoryRecord {
        var record = self
        record.session = "old.1"
        return record
    }
}

extension Histories {
    fileprivate static func update(_ client: String) -> HistoryRecord {
        deliver(client, 10_750, seq: 2, "transformed", 2, "note", "at 9").ofAGateway
    }
}

extension [HistoryRecord] {
    /// The history with a record put behind the last one of a time.
    fileprivate func inserting(_ record: HistoryRecord, after time: Double) -> Self {
        var history = self
        history.insert(record, at: (history.lastIndex { $0.time == time } ?? history.endIndex - 1) + 1)
        return history
    }
}

@Suite struct ViewportTests {
    @Test func aGoodHistoryOfViewportsViolatesNothing() {
        let verdict = HistoryChecker.check(H.looks)
        #expect(verdict.isGood, "\(verdict.report(of: H.looks))")
        #expect(verdict.counts["viewports"] == 1)
        #expect(verdict.counts["previews-out-of-view"] == 3)
        #expect(verdict.counts["last-previews-in-view"] == 1)
        #expect(verdict.counts["people"] == 1)
    }

    @Test(arguments: [
        Spoilt("a note leaves", [], H.leaves), Spoilt("a cursor leaves", [], H.pointing(isBack: false)),
        Spoilt("a cursor comes back", [], H.pointing(isBack: true)),
    ])
    func whatLeavesAViewViolatesNothing(_ good: Spoilt) throws {
        let verdict = HistoryChecker.check(good.history)
        #expect(verdict.isGood, "\(verdict.report(of: good.history))")
        let text = good.history.map(\.line).joined(separator: "\n")
        #expect(try HistoryReader.records(Array(text.utf8)) == good.history)
    }

    @Test func departuresAreCounted() {
        #expect(HistoryChecker.check(H.leaves).counts["departures"] == 1)
        #expect(HistoryChecker.check(H.leaves.without(.preview) { $0.client == "bob" }).counts["departures"] == 1)
        #expect(HistoryChecker.check(H.pointing(isBack: false)).counts["departures"] == 1)
        #expect(HistoryChecker.check(H.pointing(isBack: false)).counts["cursors-out-of-view"] == 2)
        #expect(HistoryChecker.check(H.pointing(isBack: true)).counts["departures"] == nil)
    }

    @Test func whatCrossesAViewMayBeShownOnItsWay() {
        let sent = H.moved("ada", 6250, to: -9000)
        let history = H.leaves.inserting(sent, before: .previewSent) { $0.time == 6300 }
            .inserting(H.seen("cid", 6251, at: -9000), before: .previewSent) { $0.time == 6300 }
            .inserting(H.seen("bob", 6251, at: -9000), before: .previewSent) { $0.time == 6300 }
        let verdict = HistoryChecker.check(history)
        #expect(verdict.isGood, "\(verdict.report(of: history))")
    }

    @Test func nothingIsClaimedSoonAfterAFault() {
        let history = H.looks.changing(.heal) { $0.time = 5000 }
            .inserting(H.seen("bob", 6202, at: 6000), before: .snapshot) { $0.client == "eve" }
            .changing(.people) { $0.cursors = [:] }
        let verdict = HistoryChecker.check(history)
        #expect(verdict.isGood, "\(verdict.report(of: history))")
    }

    @Test func aViewportThatMovesMayShowAGestureAgain() {
        let everything = H.view("bob", 6202, nil)
        let history = H.looks.inserting(everything, before: .preview) { $0.time == 6301 }
            .inserting(H.seen("bob", 6203, at: 6000), before: .preview) { $0.time == 6301 }
        let verdict = HistoryChecker.check(history)
        #expect(verdict.isGood, "\(verdict.report(of: history))")
    }

    @Test func aCursorShownUnderFaultsMayBeThereOrNot() {
        let history = H.looks.changing(.people) { $0.cursors["cid"] = "3 3" }
        #expect(HistoryChecker.check(history).isGood)
    }

    @Test func aGestureThatEndedNeedsNoLastPreview() {
        let ended = H.invoke("ada", 6600, 1, "element:transform", "note", gesture: 4)
        let history = H.looks.without(.preview) { $0.client == "bob" && $0.body == "610 500" }
            .inserting(ended, before: .snapshot) { $0.client == "eve" }
            .inserting(H.lost("ada", 6700, 1), before: .quiet)
        let verdict = HistoryChecker.check(history)
        #expect(verdict.isGood, "\(verdict.report(of: history))")
    }

    @Test func everyRecordOfALookComesBackFromItsLine() throws {
        let text = H.looks.map(\.line).joined(separator: "\n")
        #expect(try HistoryReader.records(Array(text.utf8)) == H.looks)
    }

    @Test func aBoxHasFourSidesInOrder() {
        let line = #"{"kind":"view","time":1,"client":"c","room":"r","box":[5,0,1,1]}"#
        #expect(throws: HistoryFormatError(line: 1, reason: "view with an unfit box")) {
            try HistoryReader.records(Array(line.utf8))
        }
    }
}
