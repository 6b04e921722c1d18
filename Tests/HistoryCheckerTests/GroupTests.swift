import HistoryChecker
import Testing

extension Spoilt {
    static let groups: [Spoilt] = [
        Spoilt(
            "a group is applied in part", [.groups],
            H.groups.changing(seq: 2) { ($0.elements["note"], $0.geometry["note"]) = (nil, nil) }
                .changing(.element) { $0.body = "at 2" }),
        Spoilt(
            "a group changes another element, too", [.groups],
            H.groups.changing(.invoke, where: { $0.number == 2 }) { $0.targets = ["photo"] }),
        Spoilt(
            "a group is delivered in part", [.prefix],
            H.groups.changing(.deliver, where: { $0.seq == 2 }) { $0.elements["note"] = nil }),
        Spoilt(
            "a group is acknowledged with other geometry", [.durable],
            H.groups.changing(.ok, where: { $0.seq == 2 }) { $0.geometry["note"] = "7" }),
        Spoilt(
            "a group is not what was asked for", [.noPhantom],
            H.groups.changing(.invoke, where: { $0.number == 2 }) { $0.request = ["photo": "5", "note": "7"] }),
        Spoilt(
            "a preview of one element after its group's commit", [.previews],
            H.groups.inserting(H.preview("bob", 10, "note", from: "ada", gesture: 1), before: .heal)),
        Spoilt(
            "a deletion is acknowledged without the annotation", [.durable],
            H.groups.changing(.ok, where: { $0.seq == 3 }) { $0.elements["mark"] = nil }),
        Spoilt(
            "a deletion includes what is no annotation", [.groups],
            H.groups.changing(.log, where: { $0.seq == 3 }) { $0.parents = [:] }),
    ]

    static let lives: [Spoilt] = [
        Spoilt(
            "an annotation outlives its parent", [.groups],
            H.groups.changing(seq: 3) { $0.elements["mark"] = nil }
                .changing(.log, where: { $0.seq == 3 }) { $0.parents = [:] }
                .inserting(H.element("mark", "at 1"))),
        Spoilt(
            "an annotation at the end has no parent", [.groups],
            H.groups.changing(.element) { $0.parent = "photo" }),
        Spoilt(
            "an annotation of what does not exist", [.groups],
            H.groups.changing(.log, where: { $0.seq == 1 }) { $0.parents = ["mark": "gone"] }),
        Spoilt(
            "an element changes that never existed", [.groups],
            H.groups.changing(seq: 2) { $0.elements["gone"] = "at 9" }
                .changing(.invoke, where: { $0.number == 2 }) { $0.targets.append("gone") }
                .inserting(H.element("gone", "at 9"))),
        Spoilt(
            "an element is deleted twice", [.groups],
            H.groups.changing(seq: 2) {
                ($0.event, $0.geometry, $0.parents) = ("deleted", [:], ["mark": "photo"])
                $0.elements = ["photo": "", "mark": "", "note": ""]
            }.without(.element)),
        Spoilt(
            "an element is created twice", [.groups],
            H.groups.changing(seq: 3) { ($0.event, $0.elements, $0.parents) = ("created", ["photo": "at 7"], [:]) }
                .inserting(H.element("photo", "at 7")).inserting(H.element("mark", "at 1"))),
    ]
}

@Suite struct GroupTests {
    @Test func aGoodHistoryOfGroupsViolatesNothing() {
        let verdict = HistoryChecker.check(Histories.groups)
        #expect(verdict.isGood, "\(verdict.report(of: Histories.groups))")
        #expect(verdict.counts["groups"] == 3)
        #expect(verdict.counts["cascades"] == 1)
        #expect(verdict.counts["refused-groups"] == 1)
    }

    @Test func elementsFromBelowTheFloorMayChange() {
        let history = H.groups.without(.log) { $0.seq == 1 }.changing(.room) { $0.floor = 1 }
        let verdict = HistoryChecker.check(history)
        #expect(verdict.isGood, "\(verdict.report(of: history))")
    }

    @Test func everyRecordOfAGroupComesBackFromItsLine() throws {
        let text = H.groups.map(\.line).joined(separator: "\n")
        #expect(try HistoryReader.records(Array(text.utf8)) == H.groups)
    }
}
