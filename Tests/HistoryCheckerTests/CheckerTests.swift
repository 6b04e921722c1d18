import HistoryChecker
import Testing

@Suite struct CheckerTests {
    @Test func aHistoryWithAFloorIsJudgedAsFarAsItGoes() {
        let history = Histories.good.without(.log) { $0.seq == 1 }.changing(.room) { $0.floor = 1 }
        let verdict = HistoryChecker.check(history)
        #expect(verdict.isGood, "\(verdict.report(of: history))")
        let spoilt = history.changing(.element) { $0.body = "at 1" }
        #expect(HistoryChecker.check(spoilt).violated == [.fold])
    }

    @Test func updatesBetweenAResyncAndTheNextJoinAreOfNoUse() {
        let history = Histories.good.inserting(
            H.deliver("bob", 66, seq: 3, "transformed", 4, "note", "at 9"), before: .heal)
        #expect(HistoryChecker.check(history).isGood)
    }

    @Test func whoWentForGoodNeedNotComeBack() {
        let gone = Histories.good.without(.deliver) { $0.client == "bob" && $0.time == 80 }
            .without(.resumed) { $0.client == "bob" }.inserting(H.left("bob", 80, chosen: true), before: .quiet)
        #expect(HistoryChecker.check(gone).isGood)
    }

    @Test func whoGaveUpNeedsNoAnswer() {
        let history = Histories.good.without(.ok) { $0.number == 4 }.inserting(H.lost("ada", 90, 4), before: .quiet)
        #expect(HistoryChecker.check(history).isGood)
    }

    @Test func ownPreviewsOfAnEarlierConnectionAreNoEcho() {
        let history = Histories.good.inserting(H.previewSent("ada", 15, "photo", gesture: 1), before: .left)
            .inserting(H.preview("ada", 32, "photo", from: "ada", gesture: 1), before: .heal)
        #expect(HistoryChecker.check(history).isGood)
    }

    @Test func aCommitEndsNoGestureOfAnotherSession() {
        var former = H.preview("bob", 70, "note", from: "ada", gesture: 1)
        let history = Histories.good.inserting(former, before: .quiet)
        former.session = "ada's former one"
        #expect(HistoryChecker.check(history).violated == [.previews])
        #expect(HistoryChecker.check(Histories.good.inserting(former, before: .quiet)).isGood)
    }

    @Test func aNewRunOfAnAppMayBeginEarlierThanTheLastOneEnded() {
        var start = HistoryRecord(.started, time: 79)
        (start.client, start.room) = ("bob", "r")
        let past = H.snapshot("bob", 80, seq: 1, ["note": "at 0"])
        let back = Histories.good.changing(.resumed, where: { $0.client == "bob" }) { $0 = past }
            .without(.deliver) { $0.client == "bob" && $0.time == 80 }
        let begun = back.inserting(start, before: .snapshot) { $0.time == 80 }
        #expect(HistoryChecker.check(back).violated.contains(.prefix))
        #expect(!HistoryChecker.check(begun).violated.contains(.prefix))
    }

    @Test func changesToSeveralElementsFold() {
        var both = H.log(seq: 4, gseq: 4, 5, "deleted", "", "")
        both.elements = ["note": "", "photo": ""]
        var seen = H.deliver("bob", 90, seq: 4, "deleted", 5, "", "")
        seen.elements = both.elements
        var alsoSeen = seen
        alsoSeen.client = "ada"
        let history = Histories.good.inserting(both, before: .room).changing(.room) { $0.seq = 4 }
            .changing(.shard) { $0.gseq = 4 }.without(.element)
            .changing(.log, where: { $0.seq == 1 }) { $0.elements = ["photo": "at 0"] }
            .changing(.deliver, where: { $0.seq == 1 && $0.client == "ada" }) { $0.elements = ["photo": "at 0"] }
            .changing(.deliver, where: { $0.seq == 1 && $0.client == "bob" }) { $0.elements = ["photo": "at 0"] }
            .changing(.invoke, where: { $0.number == 1 }) { $0.targets = ["photo"] }
            .inserting(H.invoke("ada", 85, 5, "element:delete", ""), before: .quiet)
            .inserting(H.ok("ada", 91, 5, seq: 4, ""), before: .quiet)
            .inserting(seen, before: .quiet).inserting(alsoSeen, before: .quiet)
        let verdict = HistoryChecker.check(history)
        #expect(verdict.isGood, "\(verdict.report(of: history))")
        #expect(HistoryChecker.check(history.inserting(H.element("note", "at 9"))).violated == [.fold])
    }

    @Test func countsAreTheHistorysAndWhatFollowsFromIt() {
        let verdict = HistoryChecker.check(Histories.good.inserting(H.count("faults.kill.committer", 3)))
        #expect(verdict.counts["faults.kill.committer"] == 5)
        #expect(verdict.counts["acks"] == 3)
        #expect(verdict.counts["unknowns"] == 2)
        #expect(verdict.missing(["acks", "faults.kill.committer", "snow"]) == ["snow"])
    }

    @Test func theReportShowsTheRecords() {
        let history = Histories.good.changing(.element) { $0.body = "at 5" }
        let report = HistoryChecker.check(history).report(of: history)
        #expect(report.contains("I4 state is the fold of the log: checked 1, violations 1\n"))
        #expect(report.contains(#""kind":"element","room":"r","element":"note","body":"at 5""#))
        #expect(report.contains("acks 3\n"))
    }

    /// A thousand times the rows must not take a million times the steps.
    @Test(.timeLimit(.minutes(15))) func longHistoriesAreJudgedToo() {
        var history = [H.snapshot("ada", 0, seq: 0, [:]), H.snapshot("bob", 0, seq: 0, [:])]
        let count: UInt64 = 20_000
        for n in 1...count {
            let (body, event) = ("at \(n)", n == 1 ? "created" : "transformed")
            history.append(H.previewSent("ada", Double(n), "note", gesture: n))
            history.append(H.preview("bob", Double(n), "note", from: "ada", gesture: n))
            history.append(H.invoke("ada", Double(n), n, "element:transform", "note", gesture: n, asks: body))
            history.append(H.ok("ada", Double(n), n, seq: n, body))
            history.append(H.deliver("ada", Double(n), seq: n, event, n, "note", body))
            history.append(H.deliver("bob", Double(n), seq: n, event, n, "note", body))
        }
        history.append(HistoryRecord(.quiet, time: Double(count)))
        for n in 1...count {
            history.append(H.log(seq: n, gseq: n, n, n == 1 ? "created" : "transformed", "note", "at \(n)"))
        }
        history += [H.room(seq: count), H.shard(gseq: count), H.element("note", "at \(count)")]
        let verdict = HistoryChecker.check(history)
        #expect(verdict.isGood)
        #expect(verdict.counts["previews"] == Int64(count))
    }
}
