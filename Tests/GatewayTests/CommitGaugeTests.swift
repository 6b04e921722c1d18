import Testing
import Timing
import Wire

@testable import GatewayCore

@Suite("Commits that take longer than usual")
struct CommitGaugeTests {
    /// How late previews are on a gateway that has nothing else to do, and on one that is busy but keeps up, µs.
    private static let idle: UInt64 = 50
    private static let busy: UInt64 = 600

    /// Windows of time in which ten commits each take that long.
    private struct Windows {
        var gauge = CommitGauge()
        var now: UInt64 = 10_000

        mutating func pass(_ windows: Int = 1, time: UInt64, lateness: UInt64) -> LatenessGauge.Verdict {
            var verdict = LatenessGauge.Verdict.calm
            for _ in 0..<windows {
                for _ in 0..<10 { self.gauge.note(.microseconds(time)) }
                self.now += 100
                verdict = self.gauge.verdict(
                    at: Instant(milliseconds: self.now), lateness: .microseconds(lateness))
            }
            return verdict
        }
    }

    @Test("twice the usual is late, three quarters of that are not, and what is between says nothing")
    func relative() {
        var scene = Windows()
        #expect(scene.pass(50, time: 5000, lateness: Self.idle) == .calm)
        #expect(scene.gauge.usual == .milliseconds(5))
        #expect(scene.pass(time: 7400, lateness: Self.busy) == .calm)
        #expect(scene.pass(time: 9900, lateness: Self.busy) == .steady)
        #expect(scene.pass(time: 10_100, lateness: Self.busy) == .late)
        #expect(scene.gauge.mean == .microseconds(10_100))
    }

    @Test func aFewMillisecondsAreNeverLate() {
        var scene = Windows()
        _ = scene.pass(50, time: 500, lateness: Self.idle)
        #expect(scene.pass(time: 2900, lateness: Self.busy) == .steady)
        #expect(scene.pass(time: 3100, lateness: Self.busy) == .late)
    }

    @Test("as long as previews find the gateway idle they are not the reason, and what commits take becomes usual")
    func slowDatabase() {
        var scene = Windows()
        _ = scene.pass(50, time: 2000, lateness: Self.idle)
        for _ in 0..<50 { #expect(scene.pass(time: 30_000, lateness: Self.idle) == .calm) }
        #expect(scene.gauge.usual.map { (.milliseconds(29)...(.milliseconds(30))).contains($0) } == true)
        #expect(scene.pass(time: 40_000, lateness: Self.busy) == .calm)
    }

    @Test("beside previews the usual only falls: overload never becomes usual, and a beginning in it is mended")
    func learning() {
        var scene = Windows()
        _ = scene.pass(50, time: 20_000, lateness: Self.busy)
        #expect(scene.gauge.usual == .milliseconds(20))
        _ = scene.pass(50, time: 3000, lateness: Self.busy)
        #expect(scene.gauge.usual.map { (.milliseconds(3)...(.microseconds(3100))).contains($0) } == true)
        for _ in 0..<50 { #expect(scene.pass(time: 20_000, lateness: Self.busy) == .late) }
        #expect(scene.gauge.usual.map { $0 <= .microseconds(3100) } == true)
    }

    @Test func withoutCommitsNothingIsLateAndNothingIsLearned() {
        var gauge = CommitGauge()
        #expect(gauge.verdict(at: Instant(milliseconds: 10_000), lateness: .microseconds(Self.busy)) == .calm)
        #expect(gauge.usual == nil)
    }

    @Test("a commit counts from acceptance to its result; one that was sent again does not")
    func fromAcceptanceToResult() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        func send(_ n: Int, _ scene: inout Scene) -> Commit? {
            scene.send(ada, "element:transform", #"{"roomId":"r","elementId":"e","positionX":1,"n":\#(n)}"#, ack: 1)
            return scene.take().commits.first
        }
        let first = try #require(send(1, &scene))
        scene.now += 7
        scene.gateway.resultReceived(result(of: first, seq: 1), at: scene.moment, into: &scene.actions)
        scene.gateway.previewTimeReached(scene.moment, into: &scene.actions)
        #expect(scene.gateway.rooms.paces.commitTime == .milliseconds(7))
        #expect(scene.gateway.rooms.paces.usualCommitTime == .milliseconds(7))
        let second = try #require(send(2, &scene))
        scene.advance(1000)
        #expect(scene.take().commits == [second])
        scene.gateway.resultReceived(result(of: second, seq: 2), at: scene.moment, into: &scene.actions)
        scene.gateway.previewTimeReached(scene.moment, into: &scene.actions)
        #expect(scene.gateway.rooms.paces.commitTime == .zero)
        #expect(scene.gateway.rooms.paces.usualCommitTime == .milliseconds(7))
    }

    // MARK: What becomes of it

    /// A room that is delivered within half a millisecond as a rule, while commits take as long as its pace makes them.
    private func paces(_ windows: Int, time: (Pace) -> UInt64, lateness: (Pace) -> UInt64) -> [Pace] {
        var paces = RoomPaces(late: .milliseconds(8), calm: .seconds(1))
        var now = Instant(milliseconds: 10_000)
        return (0..<windows).map { _ in
            let pace = paces.pace(of: "r")
            for _ in 0..<10 {
                if pace < .commitsOnly {
                    paces.flushed("r", deliveries: 10, lateness: .microseconds(lateness(pace)), at: now)
                }
                paces.commitAnswered(after: .microseconds(time(pace)))
            }
            now = now + .milliseconds(100)
            _ = paces.review(at: now)
            return paces.pace(of: "r")
        }
    }

    @Test("a room is slowed down for commits while its own previews are in time, as far as it takes")
    func thinning() {
        var window = 0
        let paces = self.paces(30) { pace in
            window += 1
            return window <= 100 || pace >= .quarter ? 2000 : 40_000
        } lateness: { _ in
            window <= 100 ? Self.idle : Self.busy
        }
        #expect(paces.prefix(10).allSatisfy { $0 == .full })
        #expect(paces.contains(.half) && paces.max() == .quarter)
    }

    @Test("a database that becomes slow by itself slows a busy room down for a while, not for good")
    func notForGood() {
        var commits = 0
        let paces = self.paces(200) { _ in
            commits += 1
            return commits <= 100 ? 2000 : 40_000
        } lateness: { pace in
            pace == .full ? Self.busy : Self.idle
        }
        #expect(paces.contains(.half))
        #expect(paces.suffix(100).allSatisfy { $0 == .full })
    }
}
