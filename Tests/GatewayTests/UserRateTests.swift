import Testing
import Wire

@testable import GatewayCore

/// What one user may do in all, over connections and HTTP.
@Suite struct UserRateTests {
    private static let transform = #"{"roomId":"r","elementId":"e","positionX":1}"#

    private static func numbered(_ n: Int) -> String { #"{"roomId":"r","elementId":"e","positionX":1,"n":\#(n)}"# }

    private var limits: GatewayLimits {
        var limits = GatewayLimits()
        (limits.commitBurst, limits.commitsPerSecond) = (3, 1)
        (limits.userCommitBurst, limits.userCommitsPerSecond) = (4, 10)
        (limits.userRequestBurst, limits.userRequestsPerSecond) = (3, 10)
        return limits
    }

    private func create(as user: Identifier, session: Identifier, in scene: inout Scene) -> String? {
        scene.post(#"{"type":"note"}"#, session: session, as: user)
        for case .http(_, 429, let json) in scene.actions { return String(decoding: json, as: UTF8.self) }
        return nil
    }

    @Test func connectionsOfAUserShareARateOfCommits() throws {
        var scene = Scene(limits: self.limits)
        let (phone, desk) = (try scene.member("ada", sid: "s1"), try scene.member("ada", sid: "s2"))
        let bob = try scene.member("bob")
        for n in 1...3 { scene.send(phone, "element:transform", Self.numbered(n)) }
        for n in 1...2 { scene.send(desk, "element:transform", Self.numbered(n), ack: UInt64(n)) }
        scene.send(bob, "element:transform", Self.transform)
        let actions = scene.take()
        #expect(actions.commits.map(\.user) == ["ada", "ada", "ada", "ada", "bob"])
        let refusal = try #require(actions.texts(for: desk).first)
        #expect(refusal.contains("This user sends commits too fast.") && refusal.contains(#""retryAfterMs":100"#))
        #expect(scene.gateway.commits.overUserRateTotal == 1)
        // The refused commit counted nowhere: after the pause the connection still has its own rate.
        scene.advance(100)
        scene.send(desk, "element:transform", Self.numbered(2), ack: 3)
        #expect(scene.take().commits.map(\.number) == [2])
    }

    @Test func aCommitWithoutANumberWaitsForTheUsersRate() throws {
        var scene = Scene(limits: self.limits)
        let (phone, desk) = (try scene.member("ada", sid: "s1"), try scene.member("ada", sid: "s2"))
        for n in 1...3 { scene.send(phone, "element:transform", Self.numbered(n)) }
        scene.send(desk, "element:transform", Self.numbered(1))
        for commit in scene.take().commits {
            scene.gateway.resultReceived(
                result(of: commit, seq: 1, elements: 1), at: scene.moment, into: &scene.actions)
        }
        scene.send(desk, "element:transform", Self.transform)
        _ = scene.take()
        scene.advance(50)
        #expect(scene.take().commits.isEmpty)
        scene.advance(50)
        #expect(scene.take().commits.count == 1)
        #expect(scene.gateway.commits.overUserRateTotal == 0)
    }

    /// Otherwise an app that sends all again whenever it may would spend on the later ones what the first one waits for.
    @Test func behindANumberThatARateRefusedIsAGapThatCostsNothing() throws {
        var limits = GatewayLimits()
        (limits.commitBurst, limits.commitsPerSecond) = (5, 1)
        var scene = Scene(limits: limits)
        let ada = try scene.member("ada")
        for n in 1...3 { scene.send(ada, "element:transform", Self.numbered(n)) }
        #expect(scene.take().commits.count == 3)
        // An undo counts for several commits.
        scene.send(ada, "history:undo", #"{"roomId":"r","n":4}"#, ack: 4)
        for _ in 1...10 { scene.send(ada, "element:transform", Self.numbered(5), ack: 5) }
        let texts = scene.actions.texts(for: ada)
        #expect(scene.take().commits.isEmpty && texts.count == 11 && texts[0].contains(#""code":"rate_limited""#))
        #expect(texts[1...].allSatisfy { $0.contains(#""code":"gap""#) && $0.contains(#""expected":4"#) })
        scene.advance(2_000)
        _ = scene.take()
        scene.send(ada, "history:undo", #"{"roomId":"r","n":4}"#, ack: 6)
        #expect(scene.take().commits.map(\.number) == [4])
        scene.advance(1_000)
        _ = scene.take()
        scene.send(ada, "element:transform", Self.numbered(5), ack: 7)
        #expect(scene.take().commits.map(\.number) == [5])
    }

    /// An app that sends a commit again although it was accepted has nothing to repeat before it goes on.
    @Test func aRepeatedNumberThatARateRefusedLeavesNoGap() throws {
        var limits = GatewayLimits()
        (limits.commitBurst, limits.commitsPerSecond) = (1, 1)
        var scene = Scene(limits: limits)
        let ada = try scene.member("ada")
        scene.send(ada, "element:transform", Self.numbered(1), ack: 1)
        let first = try #require(scene.take().commits.first)
        scene.gateway.resultReceived(result(of: first, seq: 1), at: scene.moment, into: &scene.actions)
        scene.send(ada, "element:transform", Self.numbered(1), ack: 2)
        #expect(scene.take().texts(for: ada).last?.contains(#""code":"rate_limited""#) == true)
        scene.advance(1_000)
        _ = scene.take()
        scene.send(ada, "element:transform", Self.numbered(2), ack: 3)
        #expect(scene.take().commits.map(\.number) == [2])
    }

    @Test func aUserMayAlwaysDoWhatOneConnectionMay() throws {
        var limits = self.limits
        (limits.commitBurst, limits.commitsPerSecond) = (20, 20)
        var scene = Scene(limits: limits)
        let ada = try scene.member("ada")
        for n in 1...20 { scene.send(ada, "element:transform", Self.numbered(n)) }
        #expect(scene.take().commits.count == 20)
    }

    /// Twenty elements count like a commit, for the connection and for the user, as soon as the result tells of them.
    @Test func aCommitCountsForTheElementsThatItChanged() throws {
        var limits = self.limits
        (limits.userCommitBurst, limits.userCommitsPerSecond) = (15, 10)
        var scene = Scene(limits: limits)
        let (phone, desk) = (try scene.member("ada", sid: "s1"), try scene.member("ada", sid: "s2"))
        scene.send(phone, "element:transform", Self.numbered(1))
        let first = try #require(scene.take().commits.first)
        scene.gateway.resultReceived(
            result(of: first, seq: 1, elements: 259), at: scene.moment, into: &scene.actions)
        scene.send(phone, "element:transform", Self.numbered(2), ack: 2)
        scene.send(desk, "element:transform", Self.numbered(1))
        scene.send(desk, "element:transform", Self.numbered(2))
        scene.send(desk, "element:transform", Self.numbered(3), ack: 3)
        let actions = scene.take()
        // 3 − 1 − 12 of the connection: eleven seconds until there is one again. 15 − 1 − 12 of the user.
        #expect(try #require(actions.texts(for: phone).first).contains(#""retryAfterMs":11000"#))
        #expect(actions.commits.map(\.number) == [1, 2])
        #expect(try #require(actions.texts(for: desk).first).contains("This user sends commits too fast."))
    }

    @Test func aUserOwesAllThatAResultTells() throws {
        var scene = Scene(limits: self.limits)
        let (phone, desk) = (try scene.member("ada", sid: "s1"), try scene.member("ada", sid: "s2"))
        scene.send(phone, "element:transform", Self.numbered(1))
        let commit = try #require(scene.take().commits.first)
        scene.gateway.resultReceived(
            result(of: commit, seq: 1, elements: 40_000), at: scene.moment, into: &scene.actions)
        // 4 − 1 − 2000, and ten more a second.
        scene.advance(199_000)
        scene.send(desk, "element:transform", Self.numbered(1), ack: 1)
        let refused = scene.take()
        #expect(refused.commits.isEmpty && refused.texts(for: desk).first?.contains(#""retryAfterMs":800"#) == true)
        scene.advance(800)
        scene.send(desk, "element:transform", Self.numbered(1))
        #expect(scene.take().commits.count == 1)
    }

    /// No commit waits longer for what its user owes than for a result.
    @Test func commitsWithoutANumberDoNotWaitForALongDebt() throws {
        var scene = Scene(limits: self.limits)
        let (phone, desk) = (try scene.member("ada", sid: "s1"), try scene.member("ada", sid: "s2"))
        scene.send(phone, "element:transform", Self.numbered(1))
        let commit = try #require(scene.take().commits.first)
        for ack in 1...4 { scene.send(desk, "element:transform", Self.transform, ack: UInt64(ack)) }
        #expect(scene.take().commits.map(\.number) == [1])
        scene.gateway.resultReceived(
            result(of: commit, seq: 1, elements: 40_000), at: scene.moment, into: &scene.actions)
        scene.send(desk, "element:transform", Self.transform, ack: 5)
        let refusals = scene.take().texts(for: desk)
        #expect(refusals.count == 1 && refusals[0].contains("This user sends commits too fast."))
        // Those that waited before are answered in time, and never sent.
        scene.advance(11_000)
        #expect(scene.take().texts(for: desk).filter { $0.contains("unavailable") }.count == 3)
        scene.advance(189_200)
        #expect(scene.take().commits.allSatisfy { $0.number == 1 })
    }

    @Test func requestsOfAUserHaveARateWhateverTheyAreFor() throws {
        var scene = Scene(limits: self.limits)
        let ada = Identity(member: Member(user: "ada", name: "", color: ""))
        _ = scene.gateway.requestReceived(.room("r"), as: ada, at: scene.moment, seconds: 0, into: &scene.actions)
        _ = scene.gateway.requestReceived(
            .history(of: "r", after: nil, limit: nil), as: ada, at: scene.moment, seconds: 0, into: &scene.actions)
        #expect(self.create(as: "ada", session: "h:1", in: &scene) == nil)
        let refusal = try #require(self.create(as: "ada", session: "h:2", in: &scene))
        #expect(refusal.contains("This user sends requests too fast.") && refusal.contains(#""retryAfterMs":100"#))
        #expect(scene.gateway.requests.overUserRateTotal == 1 && scene.gateway.commits.overUserRateTotal == 0)
        _ = scene.take()
        #expect(self.create(as: "bob", session: "h:3", in: &scene) == nil)
    }

    @Test func creationsOverHTTPCountAsCommits() throws {
        var limits = self.limits
        limits.userRequestBurst = 100
        var scene = Scene(limits: limits)
        let ada = try scene.member("ada")
        for n in 1...3 { scene.send(ada, "element:transform", Self.numbered(n)) }
        #expect(self.create(as: "ada", session: "h:1", in: &scene) == nil)
        #expect(self.create(as: "ada", session: "h:2", in: &scene)?.contains("sends commits too fast") == true)
        #expect(scene.gateway.commits.overUserRateTotal == 1)
    }
}
