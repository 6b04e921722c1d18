import Testing
import Timing
import Wire

@testable import GatewayCore

@Suite struct CommitTraceTests {
    private static let id = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let recorded = "00-\(id)-00f067aa0ba902b7-01"
    private static let unrecorded = "00-\(id)-00f067aa0ba902b7-00"

    private func scene(share: Double = 0, perSecond: Int = 10) -> Scene {
        var limits = GatewayLimits()
        limits.traceShare = share
        limits.tracesPerSecond = perSecond
        return Scene(limits: limits)
    }

    private func move(_ parent: String? = nil, n: Int? = nil) -> String {
        let members = [parent.map { #","traceparent":"\#($0)""# }, n.map { ",\"n\":\($0)" }].compactMap(\.self)
        return #"{"roomId":"r","elementId":"e","positionX":1\#(members.joined())}"#
    }

    @Test func onlyACommitWhoseAppRecordsItsTraceIsTraced() throws {
        var scene = self.scene()
        let ada = try scene.member("ada")
        for (n, parent) in [nil, Self.unrecorded, Self.recorded].enumerated() {
            scene.send(ada, "element:transform", self.move(parent, n: n + 1))
        }
        let traces = scene.take().commits.map(\.trace)
        #expect(traces == [nil, nil, TraceID(Self.id)])
        #expect(scene.gateway.commits.traces.tracedTotal == 1)
    }

    @Test func aShareOfOneTracesAllAndKeepsTheAppsIDs() throws {
        var scene = self.scene(share: 1)
        let ada = try scene.member("ada")
        for (n, parent) in [nil, nil, Self.unrecorded].enumerated() {
            scene.send(ada, "element:transform", self.move(parent, n: n + 1))
        }
        let traces = scene.take().commits.map(\.trace)
        #expect(traces.allSatisfy { $0 != nil } && Set(traces).count == 3 && traces[2] == TraceID(Self.id))
    }

    @Test func aShareIsDrawnWithItsSeed() {
        var limits = GatewayLimits()
        limits.traceShare = 0.25
        limits.tracesPerSecond = 100_000
        func traced(_ seed: UInt64) -> [Bool] {
            var sampler = TraceSampler(limits: limits, seed: seed)
            return (0..<10_000).map { _ in sampler.next(nil, at: Instant(milliseconds: 1)) != nil }
        }
        #expect((2_300...2_700).contains(traced(1).count { $0 }))
        #expect(traced(1) == traced(1) && traced(1) != traced(2))
    }

    @Test func noMoreThanTheirNumberASecondAreTraced() throws {
        var scene = self.scene(share: 1, perSecond: 2)
        let ada = try scene.member("ada")
        for n in 1...5 { scene.send(ada, "element:transform", self.move(Self.recorded, n: n)) }
        #expect(scene.take().commits.map { $0.trace != nil } == [true, true, false, false, false])
        #expect(scene.gateway.commits.traces.tracedTotal == 2 && scene.gateway.commits.traces.overRateTotal == 3)
        scene.now += 1000
        for n in 6...8 { scene.send(ada, "element:transform", self.move(n: n)) }
        #expect(scene.take().commits.map { $0.trace != nil } == [true, true, false])
    }

    @Test func noneAreTracedWithALimitOfZero() throws {
        var scene = self.scene(share: 1, perSecond: 0)
        let ada = try scene.member("ada")
        scene.send(ada, "element:transform", self.move(Self.recorded))
        #expect(scene.take().commits.map(\.trace) == [nil])
        #expect(scene.gateway.commits.traces.overRateTotal == 0)
    }

    @Test(arguments: [#""""#, "5", "null", #""00-00000000000000000000000000000000-00f067aa0ba902b7-01""#])
    func aMalformedTraceparentIsRefusedAndUsesUpTheNumber(value: String) throws {
        var scene = self.scene()
        let ada = try scene.member("ada")
        let payload = #"{"roomId":"r","elementId":"e","positionX":1,"traceparent":\#(value)"#
        scene.send(ada, "element:transform", payload + "}", ack: 1)
        #expect(scene.take().texts(for: ada)[0].contains(#""code":"invalid","message":"A traceparent"#))
        scene.send(ada, "element:transform", payload + #","n":1}"#, ack: 2)
        let refusal = try #require(scene.take().commits.first?.edit.refusal).refusal
        #expect(refusal.code == .invalid && refusal.field == "traceparent")
    }

    @Test func anotherTraceparentIsTheSameCommit() throws {
        var scene = self.scene()
        let ada = try scene.member("ada")
        scene.send(ada, "element:transform", self.move(Self.recorded, n: 1), ack: 1)
        scene.send(ada, "element:transform", self.move(nil, n: 1), ack: 2)
        let sent = scene.take()
        #expect(sent.commits.count == 1 && sent.texts(for: ada).isEmpty, "the copy waits for the first one's result")
        scene.gateway.resultReceived(result(of: sent.commits[0], seq: 1), at: scene.moment, into: &scene.actions)
        #expect(scene.take().acknowledged == [1, 2])
    }

    @Test(arguments: [
        #"{"roomId":"r","n":1}"#, #"{"roomId":"r","n":1,"traceparent":"\#(recorded)"}"#,
        #"{"traceparent":"\#(unrecorded)","roomId":"r","n":1}"#, #"{"roomId":"r","traceparent":"\#(recorded)","n":1}"#,
    ])
    func aFaultyBodyIsTheSameWithAnyTraceparent(body: String) throws {
        var scene = self.scene()
        let ada = try scene.member("ada")
        scene.send(ada, "element:transform", body)
        let edit = try #require(scene.take().commits.first).edit
        #expect(edit.refusal?.refusal.field == "elementId")
        #expect(edit.bodyHash == FNV1a.hash(#"{"roomId":"r","n":1}"#.utf8))
    }

    @Test func aRequestOverHTTPIsTracedLikeAnEvent() throws {
        var scene = self.scene()
        for parent in [Self.recorded, Self.unrecorded] {
            scene.post(#"{"type":"note"}"#, session: Identifier("h:\(parent)"), parent: TraceParent(parent))
        }
        let actions = scene.take()
        #expect(actions.commits.map(\.trace) == [TraceID(Self.id), nil])
        #expect(actions.marks.map(\.facts[.event]) == ["element:create"])
    }

    @Test func theGatewaysStepsAreMarked() throws {
        var scene = self.scene()
        let (ada, ben) = (try scene.member("ada"), try scene.member("ben"))
        scene.send(ada, "element:transform", self.move(Self.recorded, n: 1), ack: 1)
        let commit = try #require(scene.actions.commits.first)
        scene.gateway.resultReceived(result(of: commit, seq: 1), at: scene.moment, into: &scene.actions)
        scene.gateway.relay.updateReceived(update(1, trace: commit.trace), into: &scene.actions)
        let marks = scene.take().marks
        #expect(marks.map(\.step) == [.accepted, .acknowledged, .delivered])
        #expect(marks.allSatisfy { $0.trace == TraceID(Self.id) && $0.facts[.room] == "r" })
        #expect(marks[0].facts[.number] == "1" && marks[0].facts[.event] == "element:transform")
        #expect(marks[2].facts[.members] == "2" && marks[2].facts[.seq] == "1")
        _ = ben
    }

    @Test func aCommitThatWaitsForItsTurnIsAcceptedBeforeItIsSent() throws {
        var limits = GatewayLimits()
        limits.traceShare = 0
        limits.commitBurst = 1
        limits.commitsPerSecond = 1
        var scene = Scene(limits: limits)
        let ada = try scene.member("ada")
        scene.send(ada, "element:transform", self.move())
        let first = try #require(scene.take().commits.first)
        scene.gateway.resultReceived(result(of: first, seq: 1), at: scene.moment, into: &scene.actions)
        _ = scene.take()
        scene.send(ada, "element:transform", self.move(Self.recorded))
        var actions = scene.take()
        #expect(actions.marks.map(\.step) == [.accepted] && actions.commits.isEmpty)
        scene.advance(1000)
        actions = scene.take()
        #expect(actions.commits.map(\.trace) == [TraceID(Self.id)] && actions.marks.isEmpty)
    }

    @Test func aCommitWithoutAResultIsMarkedWithItsRefusal() throws {
        var scene = self.scene()
        let ada = try scene.member("ada")
        scene.send(ada, "element:transform", self.move(Self.recorded, n: 1), ack: 1)
        _ = scene.take()
        scene.advance(10_000)
        let mark = try #require(scene.take().marks.last)
        #expect(mark.step == .acknowledged && mark.facts[.refusal] == "unavailable")
    }
}

extension [GatewayAction] {
    /// The steps of traces among them.
    fileprivate var marks: [TraceMark] {
        self.compactMap { if case .traced(let mark) = $0 { mark } else { nil } }
    }
}
