import Testing
import Wire

@Suite struct TraceTests {
    private static let id = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let parent = "00f067aa0ba902b7"

    @Test func aTracesTextComesBack() throws {
        let trace = try #require(TraceID(Self.id))
        #expect(trace.description == Self.id)
        #expect(TraceID(high: 0, low: 0xf)?.description == "0000000000000000000000000000000f")
        for text in [
            "", String(repeating: "0", count: 32), Self.id.uppercased(), Self.id + "0", String(Self.id.dropLast()),
            "x" + Self.id.dropFirst(), "4bf92f3577b34da6-a3ce929d0e0e473",
        ] {
            #expect(TraceID(text) == nil, "\(text)")
        }
    }

    @Test(arguments: [("00", false), ("01", true), ("02", false), ("03", true), ("ff", true)])
    func onlyTheFlagSampledCounts(flags: String, isSampled: Bool) throws {
        let parent = try #require(TraceParent("00-\(Self.id)-\(Self.parent)-\(flags)"))
        #expect(parent.id == TraceID(Self.id) && parent.isSampled == isSampled)
    }

    @Test(arguments: ["01-\(id)-\(parent)-01", "cc-\(id)-\(parent)-01-what-may-come", "fe-\(id)-\(parent)-01-"])
    func aLaterVersionMayHaveMoreFields(text: String) {
        #expect(TraceParent(text)?.id == TraceID(Self.id))
    }

    @Test(arguments: [
        "", "00", "00-\(id)-\(parent)", "00-\(id)-\(parent)-1", "00-\(id)-\(parent)-011", "00-\(id)-\(parent)-01-",
        "00-\(id)-\(parent)-01-00", "ff-\(id)-\(parent)-01", "01-\(id)-\(parent)-01.", "0x-\(id)-\(parent)-01",
        "00-\(id)-\(parent)-0g", "00_\(id)-\(parent)-01", "00-\(id)_\(parent)-01", "00-\(id)-\(parent)_01",
        "00-00000000000000000000000000000000-\(parent)-01", "00-\(id)-0000000000000000-01",
        "00-\(id.uppercased())-\(parent)-01", "00-\(id)-\(parent.uppercased())-01", " 00-\(id)-\(parent)-01",
        "00-\(id)-\(parent)-01 ", "00-\(id)-\(parent)-0\u{0661}",
    ])
    func aMalformedTraceparentIsNone(text: String) {
        #expect(TraceParent(text) == nil)
    }

    @Test func aTraceIsNoPartOfACommitsBody() {
        var commit = Samples.transform
        let body = commit.edit.bodyHash
        commit.trace = Samples.trace
        #expect(commit.edit.bodyHash == body && commit != Samples.transform)
    }

    @Test func anAnswerToAJoinHasUpdatesAsTheyAre() throws {
        let updates = [Samples.tracedUpdate, Samples.moved]
        var joined = Samples.resumed
        guard case .success(var success) = joined.outcome else { return #expect(Bool(false)) }
        success.content = .updates(updates)
        joined.outcome = .success(success)
        let read = try decode(JoinReply.self, encode(joined))
        guard case .updates(let found) = try read.outcome.get().content else { return #expect(Bool(false)) }
        #expect(found == updates)
    }

    @Test func theFactsOfAMarkAreThoseOfItsCommit() {
        let mark = TraceMark(Samples.trace, .received, Samples.transform)
        #expect(mark.facts == [.room: "r1", .session: "s", .number: "7"])
        #expect(TraceMark(Samples.trace, .answered, Samples.applied).facts[.seq] == "11")
        #expect(TraceMark(Samples.trace, .answered, Samples.refused).facts[.refusal] == "gap")
        #expect(TraceMark(Samples.trace, .applied, Samples.moved, [.gateways: "2"]).facts[.gateways] == "2")
    }
}
