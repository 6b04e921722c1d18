import HistoryChecker
import Testing

typealias H = Histories

/// A good history spoilt in one way, and what that must be called.
struct Spoilt: CustomTestStringConvertible, Sendable {
    var how: String
    var violates: Set<Invariant>
    var history: [HistoryRecord]

    init(_ how: String, _ violates: Set<Invariant>, _ history: [HistoryRecord]) {
        self.how = how
        self.violates = violates
        self.history = history
    }

    var testDescription: String { self.how }

    static let all: [Spoilt] =
        Self.log + Self.answers + Self.requests + Self.views + Self.times + Self.previews + Self.groups
        + Self.lives + Self.undos + Self.legacy + Self.viewports + Self.people + Self.clients + Self.motions

    private static let log: [Spoilt] = [
        Spoilt(
            "an acknowledged commit is not in the log", [.durable, .prefix, .fold, .convergence],
            H.good.without(.log) { $0.seq == 3 }.changing(.room) { $0.seq = 2 }.changing(.shard) { $0.gseq = 2 }),
        Spoilt(
            "a commit has two rows",
            [.durable, .noPhantom, .sessionOrder, .convergence],
            H.good.inserting(H.log(seq: 4, gseq: 4, 4, "transformed", "note", "at 9"), before: .room)
                .changing(.room) { $0.seq = 4 }.changing(.shard) { $0.gseq = 4 }),
        Spoilt(
            "a row that nobody asked for", [.noPhantom, .convergence],
            H.good.inserting(H.log(seq: 4, gseq: 4, 9, "transformed", "note", "at 9"), before: .room)
                .changing(.room) { $0.seq = 4 }.changing(.shard) { $0.gseq = 4 }),
        Spoilt(
            "a row of what was refused for good", [.noPhantom, .unknowns, .sessionOrder, .convergence, .fold, .groups],
            H.good.inserting(H.log(seq: 4, gseq: 4, 3, "transformed", "gone", "at 1"), before: .room)
                .changing(.room) { $0.seq = 4 }.changing(.shard) { $0.gseq = 4 }),
        Spoilt(
            "a row is not what was asked for", [.noPhantom],
            H.good.changing(.invoke, where: { $0.number == 2 }) { $0.request = ["note": "at 7"] }),
        Spoilt(
            "a row is of another element", [.groups],
            H.good.changing(.invoke, where: { $0.number == 2 }) { ($0.element, $0.request) = ("photo", [:]) }),
        Spoilt(
            "a gap in the room's order", [.durable, .gapless, .prefix, .convergence],
            H.good.changing(.log, where: { $0.seq == 3 }) { $0.seq = 4 }.changing(.room) { $0.seq = 4 }),
        Spoilt(
            "a room ends beyond its log", [.gapless, .convergence], H.good.changing(.room) { $0.seq = 4 }),
        Spoilt(
            "a gap in the shard's order", [.gapless],
            H.good.changing(.log, where: { $0.gseq == 3 }) { $0.gseq = 4 }.changing(.shard) { $0.gseq = 4 }),
        Spoilt("a shard ends beyond its log", [.gapless], H.good.changing(.shard) { $0.gseq = 4 }),
        Spoilt("a shard's number twice", [.gapless], H.good.changing(.log, where: { $0.gseq == 2 }) { $0.gseq = 1 }),
        Spoilt(
            "room and shard disagree", [.gapless],
            H.good.changing(.log, where: { $0.seq == 1 }) { $0.gseq = 2 }
                .changing(.log, where: { $0.seq == 2 }) { $0.gseq = 1 }),
        Spoilt(
            "a room in two shards", [.gapless], H.good.changing(.log, where: { $0.seq == 2 }) { $0.shard = 6 }),
        Spoilt("the state is not the log's", [.fold], H.good.changing(.element) { $0.body = "at 5" }),
        Spoilt("an element of which the log knows nothing", [.fold], H.good.inserting(H.element("x", "at 1"))),
        Spoilt("an element is missing", [.fold], H.good.without(.element)),
        Spoilt(
            "a session out of order", [.sessionOrder],
            H.good.changing(.invoke, where: { $0.number == 2 }) { $0.number = 5 }
                .changing(.ok, where: { $0.number == 2 }) { $0.number = 5 }
                .changing(.log, where: { $0.number == 2 }) { $0.number = 5 }
                .changing(.deliver, where: { $0.number == 2 }) { $0.number = 5 }
                .changing(.deliver, where: { $0.number == 2 }) { $0.number = 5 }),
    ]

    private static let answers: [Spoilt] = [
        Spoilt(
            "acknowledged under another number", [.durable],
            H.good.changing(.ok, where: { $0.number == 4 }) { $0.seq = 2 }),
        Spoilt(
            "acknowledged with another state", [.durable],
            H.good.changing(.ok, where: { $0.number == 4 }) { $0.body = "at 8" }),
        Spoilt(
            "acknowledged twice, differently", [.durable, .unknowns],
            H.good.inserting(H.ok("ada", 72, 4, seq: 2, "at 9"), before: .resumed) { $0.client == "bob" }),
        Spoilt(
            "acknowledged, then refused", [.noPhantom, .unknowns],
            H.good.inserting(H.refused("ada", 75, 4, "conflict", final: true), before: .quiet)),
        Spoilt(
            "an unknown outcome ends with a lie", [.durable, .realTime, .unknowns],
            H.good.changing(.refused, where: { $0.isFinal }) {
                $0 = H.ok("ada", 55, 3, seq: 3, "at 9")
            }),
        Spoilt("never answered", [.liveness], H.good.without(.ok) { $0.number == 4 }),
        Spoilt(
            "only ever refused for now", [.liveness, .unknowns], H.good.without(.refused) { $0.isFinal }),
        Spoilt(
            "answered late", [.liveness],
            H.good.without(.ok) { $0.number == 4 }.inserting(H.ok("ada", 10_071, 4, seq: 3, "at 9"), before: .quiet)),
        Spoilt(
            "took effect before what was acknowledged before", [.realTime],
            H.good.without(.invoke) { $0.number == 2 }
                .inserting(
                    H.invoke("ada", 71, 2, "element:transform", "note", gesture: 1, asks: "at 5"), before: .resumed
                ) { $0.client == "bob" }),
    ]

    private static let requests: [Spoilt] = [
        Spoilt("a request without an answer", [.answers], H.good.without(.answer) { $0.client == "bob" }),
        Spoilt("no answer, and the connection stays", [.answers], H.good.without(.closed)),
        Spoilt("answered twice", [.answers], H.good.inserting(H.answer("ada", 8, 1), before: .left)),
        Spoilt(
            "an answer nobody asked for", [.answers], H.good.inserting(H.answer("bob", 90, 7), before: .quiet)),
        Spoilt("an answer that names no row", [.answers], H.good.changing(.answer) { $0.seq = 9 }),
        Spoilt(
            "answered after ten seconds", [.answers],
            H.good.inserting(H.request("bob", 75, 8), before: .quiet)
                .inserting(H.answer("bob", 10_080, 8), before: .quiet)),
    ]

    private static let views: [Spoilt] = [
        Spoilt(
            "an update is missing", [.prefix],
            H.good.without(.deliver) { $0.client == "bob" && $0.seq == 1 }),
        Spoilt(
            "an update comes twice", [.prefix],
            H.good.inserting(H.deliver("bob", 26, seq: 2, "transformed", 2, "note", "at 5"), before: .resumed)),
        Spoilt(
            "an update with another state", [.prefix],
            H.good.changing(.deliver, where: { $0.seq == 2 }) { $0.body = "at 6" }),
        Spoilt(
            "an update of another kind", [.prefix],
            H.good.changing(.deliver, where: { $0.seq == 2 }) { $0.event = "deleted" }),
        Spoilt(
            "an update under another's name", [.prefix],
            H.good.changing(.deliver, where: { $0.seq == 2 }) { $0.number = 7 }),
        Spoilt(
            "an update that is not in the log", [.prefix, .convergence],
            H.good.inserting(H.deliver("bob", 90, seq: 4, "transformed", 5, "note", "at 1"), before: .quiet)),
        Spoilt(
            "an update without a connection", [.prefix],
            H.good.inserting(H.deliver("ada", 22, seq: 2, "transformed", 2, "note", "at 5"), before: .resumed)),
        Spoilt(
            "a snapshot that the log does not give", [.prefix],
            H.good.without(.deliver) { $0.client == "bob" && $0.time == 80 }
                .changing(.resumed, where: { $0.client == "bob" }) {
                    $0 = H.snapshot("bob", 80, seq: 3, ["note": "at 5"])
                }),
        Spoilt(
            "a snapshot from the past", [.prefix, .convergence],
            H.good.without(.deliver) { $0.client == "bob" && $0.time == 80 }
                .changing(.resumed, where: { $0.client == "bob" }) {
                    $0 = H.snapshot("bob", 80, seq: 1, ["note": "at 0"])
                }),
        Spoilt(
            "a snapshot from the future", [.prefix, .convergence],
            H.good.without(.deliver) { $0.client == "bob" && $0.time == 80 }
                .changing(.resumed, where: { $0.client == "bob" }) {
                    $0 = H.snapshot("bob", 80, seq: 4, ["note": "at 9"])
                }),
        Spoilt(
            "resumed elsewhere", [.prefix],
            H.good.changing(.resumed, where: { $0.client == "bob" }) { $0.seq = 1 }),
        Spoilt(
            "a room that was never joined", [.isolation],
            H.good.inserting(H.deliver("eve", 30, seq: 2, "transformed", 2, "note", "at 5"), before: .heal)),
        Spoilt(
            "a preview of a room that was never joined", [.isolation],
            H.good.inserting(H.preview("eve", 41, "note", from: "ada", gesture: 2), before: .heal)),
    ]

    private static let times: [Spoilt] = [
        Spoilt(
            "an app stays behind", [.convergence],
            H.good.without(.deliver) { $0.client == "bob" && $0.time == 80 }),
        Spoilt(
            "an app never comes back", [.convergence],
            H.good.without(.resumed) { $0.client == "bob" }.without(.deliver) { $0.client == "bob" && $0.time == 80 }),
        Spoilt(
            "an app comes back late", [.convergence],
            H.good.changing(.resumed, where: { $0.client == "bob" }) { $0.time = 5071 }),
        Spoilt(
            "a change comes late", [.convergence],
            H.good.changing(.deliver, where: { $0.time == 80 }) { $0.time = 5081 }),
        Spoilt("no quiet end", [.convergence], H.good.without(.quiet)),
    ]

    private static let previews: [Spoilt] = [
        Spoilt(
            "a preview comes back to its sender", [.previews],
            H.good.inserting(H.preview("ada", 42, "note", from: "ada", gesture: 2), before: .invoke) {
                $0.number == 3
            }),
        Spoilt(
            "a preview that nobody sent", [.previews],
            H.good.changing(.preview, where: { $0.gesture == 2 }) { $0.gesture = 3 }),
        Spoilt(
            "a preview after its commit", [.previews],
            H.good.changing(.preview, where: { $0.gesture == 2 }) { $0.gesture = 1 }),
        Spoilt(
            "a preview after a later gesture's commit", [.previews],
            H.good.inserting(H.preview("ada", 81, "note", from: "bob", gesture: 1), before: .quiet)
                .inserting(H.previewSent("bob", 3, "note", gesture: 1), before: .preview)
                .inserting(H.invokeOfBob, before: .heal).inserting(H.okOfBob, before: .quiet)
                .changing(.log, where: { $0.seq == 3 }) { $0 = H.logOfBob }
                .changing(.deliver, where: { $0.seq == 3 }) { $0 = H.updateOfBob("ada", 70) }
                .changing(.deliver, where: { $0.seq == 3 && $0.client == "bob" }) { $0 = H.updateOfBob("bob", 80) }
                .without(.invoke, where: { $0.number == 4 && $0.client == "ada" })
                .without(.ok, where: { $0.number == 4 && $0.client == "ada" })),
    ]
}

extension Histories {
    fileprivate static let invokeOfBob = invoke("bob", 60, 4, "element:transform", "note", gesture: 2, asks: "at 9")
    fileprivate static let okOfBob = ok("bob", 81, 4, seq: 3, "at 9")
    fileprivate static let logOfBob = bobs(log(seq: 3, gseq: 3, 4, "transformed", "note", "at 9"))

    fileprivate static func updateOfBob(_ client: String, _ time: Double) -> HistoryRecord {
        bobs(deliver(client, time, seq: 3, "transformed", 4, "note", "at 9"))
    }

    private static func bobs(_ record: HistoryRecord) -> HistoryRecord {
        var record = record
        record.session = "bob's"
        return record
    }
}

@Suite struct InvariantTests {
    @Test func aGoodHistoryViolatesNothing() {
        let verdict = HistoryChecker.check(Histories.good)
        #expect(verdict.isGood, "\(verdict.report(of: Histories.good))")
        let verdicts = [
            verdict, HistoryChecker.check(Histories.looks), HistoryChecker.check(Histories.client),
            HistoryChecker.check(Histories.motion),
        ]
        for invariant in Invariant.allCases {
            let isChecked = verdicts.contains { $0.findings[invariant].map { $0.checked > 0 } == true }
            #expect(isChecked, "\(invariant) was not checked")
        }
    }

    @Test(arguments: Spoilt.all) func aBadHistoryViolatesJustThat(_ spoilt: Spoilt) {
        let verdict = HistoryChecker.check(spoilt.history)
        #expect(Set(verdict.violated) == spoilt.violates, "\(verdict.report(of: spoilt.history))")
    }

    @Test func everyInvariantHasABadHistory() {
        #expect(Spoilt.all.reduce(into: Set()) { $0.formUnion($1.violates) } == Set(Invariant.allCases))
    }
}
