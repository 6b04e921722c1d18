import HistoryChecker
import Testing

extension Spoilt {
    static let undos: [Spoilt] = [
        Spoilt(
            "an undo takes back what another user has changed since", [.undo],
            H.undos.changing(seq: 5) { $0.body = H.otherNote(x: 0, y: 0) }),
        Spoilt(
            "an undo leaves what its user set", [.undo],
            H.undos.changing(seq: 5) { $0.body = H.otherNote(x: 7, y: 9) }),
        Spoilt(
            "an undo is of another user's change", [.undo],
            H.undos.changing(.log, where: { $0.seq == 5 }) { $0.undone = 4 }),
        Spoilt(
            "an undo passes over an entry that has an effect", [.undo],
            H.undos.changing(.log, where: { $0.seq == 7 }) { $0.undone = 2 }),
        Spoilt(
            "a redo is of what was not undone", [.undo],
            H.undos.changing(.log, where: { $0.seq == 6 }) { $0.undone = 3 }),
        Spoilt(
            "nothing is left, it says, but something was", [.undo],
            H.undos.filter { $0.number != 8 }.changing(.ok, where: \.isUnchanged) { $0.seq = 7 }
                .changing(.room) { $0.seq = 7 }.changing(.shard) { $0.gseq = 7 }
                .inserting(H.element("card", H.card))),
        Spoilt(
            "nothing was left, but it is in the log", [.durable],
            H.undos.changing(.ok, where: { $0.number == 7 }) { $0.isUnchanged = true }),
        Spoilt(
            "a program's change is undone", [.undo],
            H.undos.changing(.invoke, where: { $0.number == 3 }) { $0.undo = "none" }),
        Spoilt(
            "a part of a group is undone", [.undo],
            H.undos.changing(.invoke, where: { $0.number == 2 }) { $0.undo = "g" }
                .changing(.invoke, where: { $0.number == 3 }) { $0.undo = "g" }),
    ]
}

@Suite struct UndoTests {
    @Test func aHistoryOfUndosViolatesNothing() {
        let verdict = HistoryChecker.check(H.undos)
        #expect(verdict.isGood, "\(verdict.report(of: H.undos))")
        #expect(verdict.counts["undone"] == 3 && verdict.counts["redone"] == 1 && verdict.counts["nothing-undone"] == 1)
    }

    /// While the note was deleted the undo may have found nothing, which empties the stack and leaves no row.
    @Test func afterAnUnansweredUndoNothingMayBeLeft() {
        #expect(HistoryChecker.check(H.unansweredUndo).findings[.undo]?.violations.isEmpty == true)
        let answered = H.unansweredUndo.filter { $0.kind != .invoke || $0.number != 3 }
        #expect(HistoryChecker.check(answered).findings[.undo]?.violations.count == 1)
    }

    /// An app that was opened again is another client of the same user.
    @Test func anUnansweredUndoIsItsUsersWhateverTheClient() {
        let isUnanswered = { (record: HistoryRecord) in record.number == 3 }
        let again = H.unansweredUndo.changing(.invoke, where: isUnanswered) { ($0.client, $0.user) = ("ada.1", "ada") }
        #expect(HistoryChecker.check(again).findings[.undo]?.violations.isEmpty == true)
    }

    @Test func fieldsThatHoldTogetherStopTogether() {
        #expect(HistoryChecker.check(H.undoneDrags).findings[.undo]?.violations.isEmpty == true)
        for body in [H.dragged(x: 0, y: 7, anchor: 2), H.dragged(x: 5, y: 0, anchor: 0)] {
            let spoilt = H.undoneDrags.changing(seq: 5) { $0.body = body }
            #expect(HistoryChecker.check(spoilt).findings[.undo]?.violations.count == 1)
        }
    }

    @Test func anAnnotationThatTheEntryMovedGoesWithItsParent() {
        let finding = HistoryChecker.check(H.undoneParent).findings[.undo]
        #expect(finding?.checked == 4)
        #expect(finding?.violations.isEmpty == true)
        // Not if somebody else had made it.
        let others = H.undoneParent.changing(seq: 2) { $0.user = "bob" }
        #expect(HistoryChecker.check(others).findings[.undo]?.violations.count == 1)
    }

    /// Ada lets the newer entry be, and undoes the older one.
    @Test func anEntryThatAnUndoWasToLeaveOutIsPassedOver() {
        let isThird = { (record: HistoryRecord) in record.seq == 7 }
        let passing = H.undos.changing(.log, where: isThird) { $0.undone = 2 }
        #expect(HistoryChecker.check(passing).findings[.undo]?.violations.isEmpty == false)
        let named = H.passedOver
        #expect(HistoryChecker.check(named).findings[.undo]?.violations.isEmpty == true)
        let isUndo = { (record: HistoryRecord) in record.number == 3 }
        let unnamed = named.changing(.invoke, where: isUndo) { $0.undo = "" }
        #expect(HistoryChecker.check(unnamed).findings[.undo]?.violations.count == 1)
    }

    @Test func aHaltOfWhatMayHaveComeToRestEndsAGroupOrNot() {
        for isNothing in [true, false] {
            let history = H.haltedBetween(isNothing: isNothing)
            #expect(HistoryChecker.check(history).findings[.undo]?.violations.isEmpty == true)
            let spoilt = history.changing(seq: 6) { $0.body = H.otherNote(x: 3, y: 0) }
            #expect(HistoryChecker.check(spoilt).findings[.undo]?.violations.count == 1)
        }
    }

    @Test func aChangeOfNothingLeavesTheRedoStack() {
        #expect(HistoryChecker.check(H.redoneOverNothing).findings[.undo]?.violations.isEmpty == true)
    }
}
