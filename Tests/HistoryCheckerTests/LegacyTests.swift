import HistoryChecker
import Testing

extension Histories {
    /// Cid's app, of the 1.0 contract, comes when the note is there, gets both later updates, and stays to the end.
    static let withLegacyApp =
        good.inserting(legacy("cid", 26, seq: 2, "transformed", "note", "at 5"), before: .resumed)
        .inserting(legacy("cid", 72, seq: 3, "transformed", "note", "at 9"), before: .quiet)

    /// The same after a group: update 4 moves two elements.
    static let withLegacyGroup: [HistoryRecord] = {
        var group = log(seq: 4, gseq: 4, 5, "several transformed", "", "")
        group.session = "ada.1"
        group.elements = ["note": "at 11", "photo": "at 12"]
        var photo = log(seq: 5, gseq: 5, 6, "updated", "note", "at 11")
        photo.session = "ada.1"
        return
            withLegacyApp
            .changing(.log, where: { $0.seq == 1 }) { $0.elements = ["photo": "at 0"] }
            .without(.legacy) { $0.seq == 1 }
            .without(.deliver).without(.resumed).without(.snapshot).without(.resync).without(.preview)
            .without(.left) { $0.client == "bob" }
            .changing(.invoke, where: { $0.number == 1 }) { $0.targets = ["photo"] }
            .inserting(legacy("cid", 81, seq: 4, "transformed", "photo", "at 12", part: 1, of: 2), before: .quiet)
            .inserting(legacy("cid", 82, seq: 4, "transformed", "note", "at 11", part: 2, of: 2), before: .quiet)
            .inserting(group, before: .room).inserting(photo, before: .room)
            .changing(.room) { $0.seq = 5 }.changing(.shard) { $0.gseq = 5 }
            .changing(.element) { $0.body = "at 11" }.inserting(element("photo", "at 12"))
    }()
}

extension Spoilt {
    static let legacy: [Spoilt] = [
        Spoilt(
            "a 1.0 app misses an update", [.legacy],
            H.withLegacyGroup.without(.legacy) { $0.seq == 3 }),
        Spoilt(
            "a 1.0 app gets an update twice", [.legacy],
            H.withLegacyApp.inserting(H.legacy("cid", 73, seq: 3, "transformed", "note", "at 9"), before: .quiet)),
        Spoilt(
            "a 1.0 app gets an older update again", [.legacy],
            H.withLegacyApp.inserting(H.legacy("cid", 73, seq: 2, "transformed", "note", "at 5"), before: .quiet)
                .inserting(H.legacy("cid", 74, seq: 3, "transformed", "note", "at 9"), before: .quiet)),
        Spoilt(
            "a 1.0 app gets another state", [.legacy],
            H.withLegacyApp.changing(.legacy, where: { $0.seq == 2 }) { $0.body = "at 6" }),
        Spoilt(
            "a 1.0 app gets what never was", [.legacy],
            H.withLegacyApp.inserting(H.legacy("cid", 73, seq: 4, "transformed", "note", "at 9"), before: .quiet)),
        Spoilt(
            "a 1.0 app misses the end", [.legacy], H.withLegacyApp.without(.legacy) { $0.seq == 3 }),
        Spoilt(
            "a 1.0 app gets a part of a group", [.legacy], H.withLegacyGroup.without(.legacy) { $0.part == 2 }),
        Spoilt(
            "a 1.0 app gets a group without its parts", [.legacy],
            H.withLegacyGroup.changing(.legacy, where: { $0.part == 1 }) { ($0.part, $0.parts) = (0, 0) }),
        Spoilt(
            "a 1.0 app gets a group in another order", [.legacy],
            H.withLegacyGroup.changing(.legacy, where: { $0.part == 1 }) { $0.part = 2 }),
        Spoilt(
            "a 1.0 app gets a part of what is whole", [.legacy],
            H.withLegacyApp.changing(.legacy, where: { $0.seq == 3 }) { ($0.part, $0.parts) = (1, 1) }),
        Spoilt(
            "a 1.0 app gets what it cannot know", [.legacy],
            H.withLegacyGroup.inserting(H.legacy("cid", 83, seq: 5, "updated", "note", "at 12"), before: .quiet)),
        Spoilt(
            "a 1.0 app gets an update that is no transform as one", [.legacy],
            H.withLegacyGroup.inserting(H.legacy("cid", 83, seq: 5, "transformed", "note", "at 11"), before: .quiet)),
        Spoilt(
            "a 1.0 app misses what came after its own commit", [.legacy],
            H.withLegacyApp.without(.legacy) { $0.seq == 2 }
                .inserting(H.request("cid", 20, 1), before: .resumed)
                .inserting(H.answer("cid", 22, 1, seq: 2), before: .resumed)),
    ]
}

@Suite struct LegacyTests {
    @Test func elementsOfA1_0AppStandStill() {
        let moving = #"{"x":5,"motion":{"x":1},"animation":{"ms":9}}"#
        for (body, isRight) in [(#"{"x":5}"#, true), (moving, false), (#"{"x":6}"#, false)] {
            let told = H.withLegacyApp.map { record in
                var record = record
                if record.seq == 2, record.kind == .log { record.body = moving }
                if record.seq == 2, record.kind == .legacy { record.body = body }
                return record
            }
            #expect(HistoryChecker.check(told).violated.contains(.legacy) != isRight, "\(body)")
        }
    }

    @Test(arguments: [H.withLegacyApp, H.withLegacyGroup]) func whatA1_0AppGetsIsJudged(_ history: [HistoryRecord]) {
        let verdict = HistoryChecker.check(history)
        #expect(verdict.violated.allSatisfy { $0 != .legacy }, "\(verdict.report(of: history))")
        #expect(verdict.findings[.legacy].map { $0.checked > 3 } == true)
    }

    @Test func theEndOfAGestureRepeatsAnOldNumber() {
        let ended = H.legacy("cid", 73, seq: 2, "ended", "note", "at 5")
        #expect(HistoryChecker.check(H.withLegacyApp.inserting(ended, before: .quiet)).isGood)
    }

    @Test func theEndOfAGestureMayHaveANumberThatTheAppNeverGot() {
        let shown = H.legacy("cid", 83, seq: 5, "shown", "note", "at 11")
        let history = H.withLegacyGroup.inserting(shown, before: .quiet)
        #expect(HistoryChecker.check(history).findings[.legacy]?.violations == [])
        let other = H.withLegacyGroup.inserting(H.legacy("cid", 83, seq: 5, "shown", "note", "at 12"), before: .quiet)
        #expect(HistoryChecker.check(other).violated.contains(.legacy))
    }

    @Test func aLostConnectionExcusesWhatIsMissing() {
        let history = H.withLegacyGroup.without(.legacy) { $0.part == 2 }.inserting(H.left("cid", 82), before: .quiet)
        #expect(HistoryChecker.check(history).findings[.legacy]?.violations == [])
        let back = history.inserting(H.legacy("cid", 90, seq: 2, "transformed", "note", "at 5"), before: .quiet)
        #expect(HistoryChecker.check(back).violated.contains(.legacy))
    }
}
