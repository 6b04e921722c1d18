import HistoryChecker
import Testing

@Suite struct MotionTests {
    @Test func aGoodHistoryOfAMotionIsGood() throws {
        let verdict = HistoryChecker.check(H.motion)
        #expect(verdict.isGood, "\(verdict.report(of: H.motion))")
        let counts = ["poses", "poses-on-time", "poses-joined", "poses-late", "poses-halted", "motions-in-silence"]
        #expect(counts.map { verdict.counts[$0] } == [5, 5, 2, 1, 3, 0])
        let text = H.motion.map(\.line).joined(separator: "\n")
        #expect(try HistoryReader.records(Array(text.utf8)) == H.motion)
    }

    @Test func aMotionThatIsNotCaughtEnds() {
        let verdict = HistoryChecker.check(H.untilTheEnd)
        #expect(verdict.isGood, "\(verdict.report(of: H.untilTheEnd))")
        #expect(verdict.counts["motions-in-silence"] == 1)
        #expect(verdict.counts["poses-at-rest"] == 1)
    }

    /// What the user set is shown at once, wherever the rest is.
    @Test func whatTheUserSetIsShownSo() {
        #expect(HistoryChecker.check(Self.atBob(H.posed("bob", 610, seq: 2, 7, stored: 7))).isGood)
    }

    @Test func byAClockThatWasAheadItMayBeOver() {
        let over = Self.atBob(H.posed("bob", 610, seq: 2, 100, stored: 100))
        #expect(HistoryChecker.check(over).violated == [.poses])
        let ahead = over.changing(.shown, where: { $0.client == "bob" && $0.seq == 1 }, { $0.at = 612 })
        #expect(HistoryChecker.check(ahead).isGood)
    }

    /// Bob's client shows the note otherwise.
    private static func atBob(_ posed: HistoryRecord) -> [HistoryRecord] {
        H.motion.map { $0.kind == .posed && $0.client == posed.client && $0.time == posed.time ? posed : $0 }
    }

    /// It began on Dora's screen when she heard of it; a later change that repeats it changes nothing.
    @Test func whatIsRepeatedGoesOn() {
        let good = HistoryChecker.check(Self.raised(dora: 80))
        #expect(good.isGood, "\(good.report(of: Self.raised(dora: 80)))")
        #expect(HistoryChecker.check(Self.raised(dora: 90)).violated == [.poses])
    }

    /// Ada raises the note while it moves; where Dora's client shows it then.
    private static func raised(dora: Double) -> [HistoryRecord] {
        let raised = H.moving.replacing("\"rev\":2", with: "\"zIndex\":1,\"rev\":3")
        var change = [H.invoke("ada", 799, 3, "element:update", "note"), H.ok("ada", 801, 3, seq: 3, raised)]
        change.append(H.deliver("ada", 800, seq: 3, "updated", 3, "note", raised))
        for client in ["bob", "carl", "dora"] {
            change.append(H.deliver(client, 800, seq: 3, "updated", 3, "note", raised))
            change.append(H.drawn(client, 800, seq: 3, raised))
        }
        change.append(H.posed("bob", 910, seq: 3, 90, stored: 100))
        change.append(H.posed("dora", 910, seq: 3, dora, stored: 100))
        let before = H.untilTheEnd.without(.posed) { $0.time == 1010 }
        var history = change.reduce(before) { $0.inserting($1, before: .heal) }
        history = history.inserting(H.log(seq: 3, gseq: 3, 3, "updated", "note", raised), before: .room)
        for place in history.indices where history[place].kind == .shown && history[place].isFinal {
            (history[place].seq, history[place].elements) = (3, ["note": raised])
        }
        return history.changing(.room) { $0.seq = 3 }.changing(.shard) { $0.gseq = 3 }
            .changing(.element) { $0.body = raised }
    }
}

extension Spoilt {
    static let motions: [Spoilt] = [
        Spoilt(
            "an element is elsewhere on its way", [.poses],
            H.motion.changing(.posed, where: { $0.client == "bob" }) { $0.elements["note"] = #"{"positionX":21}"# }),
        Spoilt(
            "what a join brings starts when it is heard of", [.poses],
            H.motion.changing(.posed, where: { $0.client == "carl" }) { $0.elements["note"] = #"{"positionX":1}"# }),
        Spoilt(
            "what is heard of late starts when the server says", [.poses],
            H.motion.changing(.posed, where: { $0.client == "dora" }) { $0.elements["note"] = #"{"positionX":50}"# }),
        Spoilt(
            "a motion goes on that was stopped", [.poses],
            H.motion.changing(.posed, where: { $0.time == 910 }) { $0.elements["note"] = #"{"positionX":90}"# }),
        Spoilt(
            "an element comes to rest beside where it is stored", [.poses],
            H.untilTheEnd.changing(.posed, where: { $0.time == 1010 }) { $0.elements["note"] = #"{"positionX":99.9}"# }),
        Spoilt(
            "a field that does not move is shown otherwise", [.poses],
            H.motion.changing(.posed) { $0.elements["note"] = #"{"positionX":20,"opacity":0.999}"# }),
        Spoilt(
            "what the user set is not shown", [.poses],
            H.motion.changing(.posed, where: { $0.client == "bob" }) { $0.geometry["note"] = #"{"positionX":7}"# }),
        Spoilt(
            "a track leads elsewhere", [.poses],
            H.motion.map { $0.replacing("\"to\":100", with: "\"to\":90") }),
        Spoilt(
            "a server with another clock", [.poses],
            H.motion.changing(.answer, where: { $0.client == "bob" }) { $0.at = 5 }),
        Spoilt(
            "somebody sends where a moving element is", [.silence],
            H.motion.inserting(H.previewSent("ada", 600, "note", gesture: 1), before: .stir)),
        Spoilt(
            "something passes between the daemons while an element moves", [.silence],
            H.motion.changing(.stir) { $0.value = 1 }),
    ]
}

extension HistoryRecord {
    /// The record with another text in all states.
    fileprivate func replacing(_ text: String, with other: String) -> HistoryRecord {
        var record = self
        record.body = record.body.replacing(text, with: other)
        record.elements = record.elements.mapValues { $0.replacing(text, with: other) }
        if record.kind == .posed { record.elements = record.elements.mapValues { Self.scaled($0) } }
        return record
    }

    /// Nine tenths of the way, if it is not over.
    private static func scaled(_ pose: String) -> String {
        let x = Double(pose.drop { !$0.isNumber }.dropLast()) ?? 0
        return x == 80 ? pose : #"{"positionX":\#(x * 0.9)}"#
    }
}
