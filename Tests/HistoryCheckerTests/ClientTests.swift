import HistoryChecker
import Testing

@Suite struct ClientTests {
    @Test func aGoodHistoryOfAClientIsGood() throws {
        let verdict = HistoryChecker.check(H.client)
        #expect(verdict.isGood, "\(verdict.report(of: H.client))")
        for invariant in [Invariant.edits, .screens, .steadiness, .confirmation] {
            #expect((verdict.findings[invariant]?.checked ?? 0) > 0)
        }
        #expect(verdict.counts["edits-applied"] == 2)
        #expect(verdict.counts["edits-refused"] == 1)
        let text = H.client.map(\.line).joined(separator: "\n")
        #expect(try HistoryReader.records(Array(text.utf8)) == H.client)
    }

    @Test func whatIsForgottenMayHaveHappenedOrNot() {
        let told = H.client.changing(.result, where: { $0.edit == "e2" }, { ($0.code, $0.seq) = ("forgotten", 0) })
        #expect(HistoryChecker.check(told).isGood)
        let other = H.client.changing(.result, where: { $0.edit == "e3" }, { $0.code = "forgotten" })
        #expect(HistoryChecker.check(other).isGood)
    }

    /// The gateway of a new run may be behind the one over which the user was told.
    @Test func anAppThatWasOpenedAgainMayShowLess() throws {
        let note = H.note(x: 5, rev: 2)
        let behind = [
            H.shown(18, seq: 1, H.note(x: 0, rev: 1)), H.snapshot("ada", 19, seq: 2, ["note": note]),
            H.shown(19, seq: 2, note),
        ]
        var started = try #require(H.client.first { $0.kind == .started })
        started.time = 18
        #expect(HistoryChecker.check(H.client.inserting([started] + behind)).isGood)
        #expect(Set(HistoryChecker.check(H.client.inserting(behind)).violated) == [.steadiness, .confirmation])
    }

    @Test func aRoomMayGoBackInAnotherHistory() {
        let other = H.client.changing(.shown, where: { $0.time == 13 }, { $0.epoch = "2" })
        #expect(HistoryChecker.check(other).isGood)
    }
}

extension Spoilt {
    static let clients: [Spoilt] = [
        Spoilt("an edit's result is lost", [.edits], H.client.without(.result) { $0.edit == "e2" }),
        Spoilt(
            "an edit has two results", [.edits],
            H.client.inserting(H.result(25, "e2", code: "forgotten"), before: .heal)),
        Spoilt(
            "an edit has the same result twice", [.edits],
            H.client.inserting(H.result(25, "e2", seq: 2), before: .heal)),
        Spoilt(
            "an edit took effect twice", [.edits],
            H.client.changing(.invoke, where: { $0.number == 2 }) { $0.edits = ["e1"] }),
        Spoilt(
            "a refused edit took effect", [.edits],
            H.client.changing(.result, where: { $0.edit == "e2" }) { ($0.code, $0.seq) = ("invalid", 0) }),
        Spoilt(
            "an applied edit had no effect", [.edits],
            H.client.changing(.result, where: { $0.edit == "e3" }) { ($0.code, $0.seq) = ("", 2) }),
        Spoilt(
            "an edit was applied under another number", [.edits, .steadiness],
            H.client.changing(.result, where: { $0.edit == "e1" }) { $0.seq = 2 }),
        Spoilt(
            "an edit that nobody made", [.edits, .confirmation], H.client.without(.edit) { $0.edit == "e3" }),
        Spoilt(
            "the end is not what is stored", [.screens],
            H.client.changing(.shown, where: \.isFinal) { $0.elements["note"] = H.note(x: 0, rev: 1) }),
        Spoilt(
            "an element that is not stored is shown at the end", [.screens],
            H.client.changing(.shown, where: \.isFinal) { $0.elements["photo"] = "{}" }),
        Spoilt("a client never shows its end", [.screens], H.client.without(.shown) { $0.isFinal }),
        Spoilt(
            "a refused edit is not taken back", [.screens],
            H.client.without(.shown) { $0.time == 23 }),
        Spoilt(
            "an element jumps back to what it was before an edit of its user", [.steadiness, .confirmation],
            H.client.inserting(H.shown(18, seq: 2, H.note(x: 0, rev: 1)), before: .edit) { $0.edit == "e3" }),
        Spoilt(
            "an acknowledged edit is not shown until its number is reached", [.steadiness],
            H.client.changing(.shown, where: { $0.time == 5 }) { $0.elements["note"] = "" }),
        Spoilt(
            "an edit lies on top of what contains it", [.confirmation],
            H.client.changing(.shown, where: { $0.time == 6 }) { $0.elements["note"] = H.note(x: 5, rev: 1) }),
        Spoilt(
            "a change is not drawn", [.confirmation, .screens],
            H.client.without(.shown) { $0.time == 15 || $0.time >= 20 && $0.time <= 23 }
                .inserting(H.shown(24, seq: 2, "").with(["photo": ""]), before: .heal)),
        Spoilt(
            "the number that is shown goes back", [.confirmation],
            H.client.inserting(H.shown(19, seq: 1, "").with([:]), before: .edit) { $0.edit == "e3" }),
    ]
}

extension [HistoryRecord] {
    /// With records before the last edit.
    fileprivate func inserting(_ records: [HistoryRecord]) -> [HistoryRecord] {
        records.reduce(self) { history, record in history.inserting(record, before: .edit) { $0.edit == "e3" } }
    }
}

extension HistoryRecord {
    fileprivate func with(_ elements: [String: String]) -> HistoryRecord {
        var record = self
        record.elements = elements
        return record
    }
}
