import Testing
import Timing
import Wire

@testable import GatewayCore

/// What groups count for against the rates of commits: their elements at once, what only the result tells afterwards.
@Suite struct GroupRateTests {
    /// Ten commits at once, one a second, for a connection and for its user.
    private static var ten: GatewayLimits {
        var limits = GatewayLimits()
        (limits.commitBurst, limits.commitsPerSecond) = (10, 1)
        (limits.userCommitBurst, limits.userCommitsPerSecond) = (10, 1)
        return limits
    }

    private static func group(of count: Int, n: Int? = nil) -> String {
        let ids = (0..<count).map { #""e\#($0)""# }.joined(separator: ",")
        let number = n.map { #","n":\#($0)"# } ?? ""
        return #"{"roomId":"r","elements":[\#(ids)],"pivot":{"x":0,"y":0},"translation":{"x":1,"y":0}\#(number)}"#
    }

    /// Sends a group of forty elements under the number 1, and returns the commit.
    private func fortySent(by app: Slot, in scene: inout Scene) throws -> Commit {
        scene.send(app, "elements:gesture", Self.group(of: 40, n: 1), ack: 1)
        let commits = scene.take().commits
        return try #require(commits.first)
    }

    /// How many commits of one element may still go.
    private func countLeft(to app: Slot, in scene: inout Scene) -> Int {
        for n in 2...15 {
            scene.send(app, "element:transform", #"{"roomId":"r","elementId":"e","positionX":1,"n":\#(n)}"#)
        }
        return scene.take().commits.count
    }

    @Test func fewLargeGroupsOfAUserAreUnderWayBeforeTheFirstResult() throws {
        var scene = Scene()
        for index in 1...8 {
            let app = try scene.member("ada", sid: Identifier("s\(index)"))
            for n in 1...10 { scene.send(app, "elements:gesture", Self.group(of: 500, n: n)) }
            // Each counts for 26, and a connection has 120.
            let expected = index <= 3 ? 5 : index == 4 ? 4 : 0
            #expect(scene.take().commits.count == expected)
        }
        #expect(scene.gateway.commits.inFlight.count == 19)
    }

    @Test(arguments: [(40, 7), (59, 7), (100, 4)] as [(UInt32, Int)])
    func theResultCountsForTheRestOnly(elements: UInt32, left: Int) throws {
        var scene = Scene(limits: Self.ten)
        let ada = try scene.member("ada")
        let commit = try self.fortySent(by: ada, in: &scene)
        let applied = result(of: commit, seq: 1, elements: elements)
        // A second result is nobody's.
        for _ in 1...2 { scene.gateway.resultReceived(applied, at: scene.moment, into: &scene.actions) }
        #expect(self.countLeft(to: ada, in: &scene) == left)
    }

    @Test func aRepetitionCountsAsACommitWithoutElements() throws {
        var scene = Scene(limits: Self.ten)
        let ada = try scene.member("ada")
        let commit = try self.fortySent(by: ada, in: &scene)
        let repeated = result(of: commit, seq: 1, elements: 0)
        scene.gateway.resultReceived(repeated, at: scene.moment, into: &scene.actions)
        #expect(self.countLeft(to: ada, in: &scene) == 9)
    }

    @Test(arguments: [(.forbidden, 7), (.unavailable, 9)] as [(RefusalCode, Int)])
    func aRefusedGroupHasCountedUnlessItIsToBeSentAgain(code: RefusalCode, left: Int) throws {
        var scene = Scene(limits: Self.ten)
        let ada = try scene.member("ada")
        let commit = try self.fortySent(by: ada, in: &scene)
        let refused = result(of: commit, refusal: Refusal(code, "no"))
        scene.gateway.resultReceived(refused, at: scene.moment, into: &scene.actions)
        #expect(self.countLeft(to: ada, in: &scene) == left)
    }

    /// The next owner of the session sends again what has no result.
    @Test func theElementsOfACopyThatReplacesAnotherCountOnce() throws {
        var scene = Scene(limits: Self.ten)
        let ada = try scene.member("ada")
        _ = try self.fortySent(by: ada, in: &scene)
        scene.send(ada, "room:join", #"{"roomId":"r","session":"secret"}"#, ack: 2)
        scene.answerJoins(sid: "s-ada", sessionEpoch: 2)
        _ = scene.take()
        let again = try self.fortySent(by: ada, in: &scene)
        #expect(again.sessionEpoch == 2 && scene.gateway.commits.inFlight.count == 1)
        let applied = result(of: again, seq: 1, elements: 40)
        scene.gateway.resultReceived(applied, at: scene.moment, into: &scene.actions)
        #expect(self.countLeft(to: ada, in: &scene) == 6)
    }

    @Test func aGroupThatCountsForMoreThanTheBurstGoesAndIsOwed() throws {
        var scene = Scene(limits: Self.ten)
        let ada = try scene.member("ada")
        scene.send(ada, "elements:gesture", Self.group(of: 500, n: 1))
        #expect(scene.take().commits.count == 1)
        // 10 − 26: seventeen seconds until there is one again.
        scene.send(ada, "elements:gesture", Self.group(of: 500, n: 2), ack: 2)
        let refused = scene.take()
        #expect(refused.commits.isEmpty && refused.texts(for: ada).first?.contains(#""retryAfterMs":17000"#) == true)
        scene.advance(17_000)
        _ = scene.take()
        scene.send(ada, "elements:gesture", Self.group(of: 500, n: 2))
        #expect(scene.take().commits.count == 1)
    }

    @Test func groupsThatWaitGoAsTheRateAllows() throws {
        var scene = Scene(limits: Self.ten)
        let ada = try scene.member("ada")
        for _ in 1...4 { scene.send(ada, "elements:gesture", Self.group(of: 100)) }
        // Six each: 10, 4, −2; three seconds later 1, −5; six seconds later the last one.
        let steps: [(UInt64, [UInt64])] = [(0, [1, 2]), (2000, []), (1000, [3]), (5000, []), (1000, [4])]
        for (pause, numbers) in steps {
            scene.advance(pause)
            var sent: [UInt64] = []
            while let commit = scene.take().commits.first {
                sent.append(commit.number)
                let applied = result(of: commit, seq: commit.number, elements: 100)
                scene.gateway.resultReceived(applied, at: scene.moment, into: &scene.actions)
            }
            #expect(sent == numbers)
        }
    }

    @Test func aGroupOfFiveHundredMayBeCommittedEverySecond() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        for n in 1...60 {
            scene.send(ada, "elements:gesture", Self.group(of: 500, n: n))
            let commit = try #require(scene.take().commits.first)
            let applied = result(of: commit, seq: UInt64(n), elements: 500)
            scene.gateway.resultReceived(applied, at: scene.moment, into: &scene.actions)
            scene.advance(1000)
            _ = scene.take()
        }
    }

    @Test func groupsOverHTTPCountLikewise() throws {
        var limits = Self.ten
        (limits.userCommitBurst, limits.userCommitsPerSecond) = (30, 10)
        var scene = Scene(limits: limits)
        let items = Array(repeating: #"{"type":"note"}"#, count: 500).joined(separator: ",")
        for index in 1...3 {
            scene.post(#"{"elements":[\#(items)]}"#, session: Identifier("h:\(index)"))
        }
        // 30, 4, −22.
        let actions = scene.take()
        #expect(actions.commits.map(\.session) == ["h:1", "h:2"])
        let refusals = actions.compactMap { action -> String? in
            if case .http(_, 429, let json) = action { String(decoding: json, as: UTF8.self) } else { nil }
        }
        #expect(refusals.count == 1 && refusals[0].contains(#""retryAfterMs":2300"#))
    }

    @Test func whatIsGivenBackDoesNotOverfillABucket() {
        var budget = RateBudget<Int>(perSecond: 1, burst: 10)
        budget.charge(4, of: 1, at: .start)
        budget.charge(-9, of: 1, at: .start)
        #expect(budget.spend(10, of: 1, at: .start) == nil)
        #expect(budget.spend(of: 1, at: .start) == 1000)
    }
}
