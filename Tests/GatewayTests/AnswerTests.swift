import Auth
import Canvas
import Testing
import Timing
import Wire

@testable import GatewayCore

/// Whatever apps send in one write, each request gets its one answer.
@Suite struct AnswerTests {
    private static func transform(x: Int = 1, n: Int? = nil) -> String {
        #"{"roomId":"r","elementId":"e","positionX":\#(x)\#(n.map { #","n":\#($0)"# } ?? "")}"#
    }

    // MARK: Copies

    @Test func copiesOfACommitInFlightGetItsResult() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        for ack in UInt64(1)...5 { scene.send(ada, "element:transform", Self.transform(n: 1), ack: ack) }
        let commits = scene.take().commits
        #expect(commits.count == 1)
        scene.gateway.resultReceived(result(of: commits[0], seq: 4), at: scene.moment, into: &scene.actions)
        let actions = scene.take()
        #expect(actions.acknowledged == [1, 2, 3, 4, 5])
        #expect(Set(actions.texts(for: ada)) == [#"{"ok":true,"seq":4}"#])
    }

    @Test func copiesBeyondSixteenAreBusy() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        for ack in UInt64(1)...40 { scene.send(ada, "element:transform", Self.transform(n: 1), ack: ack) }
        let actions = scene.take()
        #expect(actions.acknowledged == Array(17...40))
        #expect(actions.texts(for: ada).allSatisfy { $0.contains(#""code":"busy""#) })
        let commit = try #require(actions.commits.first)
        scene.gateway.resultReceived(result(of: commit, seq: 1), at: scene.moment, into: &scene.actions)
        #expect(scene.take().acknowledged == Array(1...16))
    }

    @Test func whoTakesASessionOverWhileSixteenWaitIsAskedToWaitForThem() throws {
        var scene = Scene()
        let old = try scene.member("ada")
        for ack in UInt64(1)...16 { scene.send(old, "element:transform", Self.transform(n: 1), ack: ack) }
        let commit = try #require(scene.take().commits.first)
        let new = try scene.connect("ada")
        scene.send(new, "room:join", #"{"roomId":"r","session":"secret"}"#, ack: 0)
        scene.answerJoins(sid: "s-ada", sessionEpoch: 2)
        _ = scene.take()
        scene.send(new, "element:transform", Self.transform(n: 1), ack: 17)
        let refusal = try #require(scene.take().texts(for: new).first)
        #expect(refusal.contains(#""code":"busy""#))
        scene.gateway.resultReceived(result(of: commit, seq: 1), at: scene.moment, into: &scene.actions)
        #expect(scene.take().acknowledged == Array(1...16))
    }

    @Test func anotherBodyUnderANumberInFlightIsAConflict() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        scene.send(ada, "element:transform", Self.transform(x: 10, n: 1), ack: 1)
        scene.send(ada, "element:transform", Self.transform(x: 11, n: 1), ack: 2)
        let actions = scene.take()
        #expect(actions.commits.count == 1 && actions.acknowledged == [2])
        #expect(actions.texts(for: ada)[0].contains(#""code":"conflict""#))
        #expect(actions.texts(for: ada)[0].contains(#""field":"n""#))
        scene.gateway.resultReceived(result(of: actions.commits[0], seq: 1), at: scene.moment, into: &scene.actions)
        #expect(scene.take().acknowledged == [1])
    }

    @Test func bothConnectionsOfASessionAreAnsweredAfterATakeover() throws {
        var scene = Scene()
        let old = try scene.member("ada")
        scene.send(old, "element:transform", Self.transform(n: 1), ack: 1)
        let first = try #require(scene.take().commits.first)
        let new = try scene.connect("ada")
        scene.send(new, "room:join", #"{"roomId":"r","session":"secret"}"#, ack: 0)
        scene.gateway.relay.sessionClaimed(SessionClaimed(room: "r", sid: "s-ada", sessionEpoch: 2))
        scene.answerJoins(sid: "s-ada", sessionEpoch: 2)
        scene.send(new, "element:transform", Self.transform(n: 1), ack: 2)
        let actions = scene.take()
        #expect(actions.commits.map(\.sessionEpoch) == [2])
        scene.send(old, "element:transform", Self.transform(n: 1), ack: 3)
        #expect(scene.take().texts(for: old)[0].contains(#""code":"session_expired""#))
        scene.gateway.resultReceived(result(of: first, seq: 1), at: scene.moment, into: &scene.actions)
        let answers = scene.take()
        #expect(answers.texts(for: old) == [#"{"ok":true,"seq":1}"#])
        #expect(answers.texts(for: new) == [#"{"ok":true,"seq":1}"#])
    }

    // MARK: Joins and leaves

    @Test func joinsAndLeavesTakeEffectInTheirOrder() throws {
        var scene = Scene()
        let ada = try scene.connect("ada")
        scene.send(ada, "room:join", #"{"roomId":"r"}"#, ack: 1)
        scene.send(ada, "room:leave", #"{"roomId":"r"}"#, ack: 2)
        scene.send(ada, "room:join", #"{"roomId":"r"}"#, ack: 3)
        scene.send(ada, "element:transform", Self.transform(), ack: 4)
        let first = scene.take()
        scene.answerJoins(first, sid: "s1", seq: 0)
        let second = scene.take()
        #expect(second.acknowledged == [1, 2] && second.commits.isEmpty)
        scene.answerJoins(second, sid: "s2", seq: 0)
        let third = scene.take()
        #expect(third.acknowledged == [3])
        #expect(third.commits.map(\.session) == ["s2.1"])
        #expect(scene.gateway.relay.rooms.streams.contains(ada, in: "r"))
    }

    @Test func memberThatJoinsAgainAndLeavesGetsBothAnswers() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        scene.send(ada, "room:join", #"{"roomId":"r"}"#, ack: 1)
        scene.send(ada, "room:leave", #"{"roomId":"r"}"#, ack: 2)
        #expect(scene.actions.acknowledged.isEmpty)
        scene.answerJoins(sid: "s2")
        #expect(scene.take().acknowledged == [1, 2])
        #expect(!scene.gateway.relay.rooms.streams.contains(ada, in: "r"))
    }

    @Test func memberWhoseNewJoinIsRefusedStaysAMember() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        scene.send(ada, "room:join", #"{"roomId":"r","session":"foreign"}"#, ack: 1)
        scene.send(ada, "element:transform", Self.transform(), ack: 2)
        guard case .fanout(_, .join(let join))? = scene.take().first else { throw Unexpected() }
        scene.gateway.joinAnswered(
            JoinReply(
                request: join.request, room: "r", connection: join.connection,
                outcome: .failure(Refusal(.sessionExpired, "not known"))),
            at: scene.moment, seconds: 0, into: &scene.actions)
        let actions = scene.take()
        #expect(actions.acknowledged == [1] && actions.commits.count == 1)
        #expect(scene.gateway.relay.rooms.streams.contains(ada, in: "r"))
    }

    @Test func tokenWithoutTheRightAnswersWhatWaitsForTheJoin() async throws {
        var scene = Scene(tokens: try await TestTokens.verifier())
        let ada = try await scene.connect(TestTokens.token(user: "ada", rooms: [("r", .commit)]))
        scene.send(ada, "room:join", #"{"roomId":"r"}"#, ack: 1)
        scene.send(ada, "element:create", #"{"roomId":"r","element":{"type":"note"}}"#, ack: 2)
        let token = try await TestTokens.token(user: "ada", rooms: [("other", .view)])
        scene.send(ada, "auth:refresh", #"{"token":"\#(token)"}"#, ack: 3)
        let actions = scene.take()
        #expect(Set(actions.acknowledged) == [1, 2, 3])
        #expect(actions.texts(for: ada).count { $0.contains(#""code":"forbidden""#) } == 2)
        #expect(scene.gateway.joins.count == 0)
    }

    @Test func previewsDuringAJoinLeaveRoomForWhatNeedsAnAnswer() throws {
        var scene = Scene()
        let ada = try scene.connect("ada")
        scene.send(ada, "room:join", #"{"roomId":"r"}"#, ack: 1)
        for x in 1...100 {
            scene.send(ada, "element:transforming", #"{"roomId":"r","elementId":"e","positionX":\#(x)}"#)
        }
        scene.send(ada, "element:transform", Self.transform(), ack: 2)
        scene.send(ada, "room:leave", #"{"roomId":"r"}"#, ack: 3)
        scene.answerJoins(scene.take(), sid: "s", seq: 0)
        let actions = scene.take()
        #expect(actions.acknowledged == [1, 3])
        #expect(actions.commits.count == 1)
        #expect(actions.previews.map(\.fields.positionX) == [100])
        #expect(actions.previews.map(\.folded) == [100])
    }

    @Test func eventsBeyondTheBoundOfAJoinAreBusy() throws {
        var scene = Scene()
        let ada = try scene.connect("ada")
        scene.send(ada, "room:join", #"{"roomId":"r"}"#, ack: 0)
        for ack in UInt64(1)...65 { scene.send(ada, "room:leave", #"{"roomId":"r"}"#, ack: ack) }
        let actions = scene.take()
        #expect(actions.acknowledged == [65])
        #expect(actions.texts(for: ada)[0].contains(#""code":"busy""#))
    }

    // MARK: Commits that wait

    @Test func commitsWithoutNumberWaitForTheirTurn() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        for ack in UInt64(1)...100 { scene.send(ada, "element:transform", Self.transform(), ack: ack) }
        var answered: [UInt64] = []
        var number: UInt64 = 0
        while number < 100 {
            let commits = scene.take().commits
            #expect(commits.count == 1)
            if commits.isEmpty { return }
            for commit in commits {
                number += 1
                #expect(commit.number == number)
                scene.gateway.resultReceived(
                    result(of: commit, seq: number), at: scene.moment, into: &scene.actions)
            }
            answered += scene.actions.acknowledged
        }
        #expect(answered == Array(1...100))
    }

    @Test func commitsBeyondTheWaitingOnesAreBusy() throws {
        var limits = GatewayLimits()
        limits.waitingCommits = 4
        var scene = Scene(limits: limits)
        let ada = try scene.member("ada")
        for ack in UInt64(1)...6 { scene.send(ada, "element:transform", Self.transform(), ack: ack) }
        let actions = scene.take()
        #expect(actions.commits.count == 1 && actions.acknowledged == [6])
        #expect(actions.texts(for: ada)[0].contains(#""code":"busy""#))
    }

    /// 20 commits of which the rate allows one immediately, and ten in each second.
    private static func delayed() throws -> (Scene, ada: Slot) {
        var limits = GatewayLimits()
        limits.commitBurst = 1
        limits.commitsPerSecond = 10
        var scene = Scene(limits: limits)
        let ada = try scene.member("ada")
        for ack in UInt64(1)...20 { scene.send(ada, "element:transform", Self.transform(), ack: ack) }
        #expect(scene.actions.commits.count == 1)
        return (scene, ada)
    }

    /// Answers each commit as it comes, for four seconds.
    /// - Returns: their numbers, and the events that were acknowledged.
    private static func answered(_ scene: inout Scene) -> (numbers: [UInt64], acknowledged: [UInt64]) {
        var (numbers, acknowledged) = ([UInt64](), [UInt64]())
        for _ in 0..<40 {
            let actions = scene.take()
            acknowledged += actions.acknowledged
            for commit in actions.commits {
                numbers.append(commit.number)
                scene.gateway.resultReceived(
                    result(of: commit, seq: commit.number), at: scene.moment, into: &scene.actions)
            }
            scene.advance(100)
        }
        return (numbers, acknowledged)
    }

    @Test func leaveActsImmediatelyAndCommitsBeforeItAreApplied() throws {
        var (scene, ada) = try Self.delayed()
        scene.send(ada, "room:leave", #"{"roomId":"r"}"#, ack: 21)
        #expect(scene.actions.acknowledged == [21])
        let (numbers, acknowledged) = Self.answered(&scene)
        #expect(numbers == Array(1...20) && acknowledged == [21] + Array(1...20))
    }

    @Test func commitsOfAClosedConnectionAreSentAtItsRateOneAtATime() throws {
        var (scene, ada) = try Self.delayed()
        scene.gateway.disconnected(ada, at: scene.moment, into: &scene.actions)
        let first = try #require(scene.take().commits.first)
        scene.advance(100)
        #expect(scene.take().commits.isEmpty)
        scene.gateway.resultReceived(result(of: first, seq: 1), at: scene.moment, into: &scene.actions)
        // One that stops waits for these, too.
        #expect(!scene.gateway.commits.inFlight.isEmpty)
        let (numbers, acknowledged) = Self.answered(&scene)
        #expect(numbers == Array(2...20) && acknowledged == [])
        #expect(!scene.gateway.commits.hasLeftBehind && scene.gateway.commits.inFlight.isEmpty)
        #expect(scene.gateway.nextDeadline == nil)
    }

    /// The database is away for longer than a commit may wait. What was sent is followed to its result, what was not never
    /// goes.
    @Test func ofAClosedConnectionOnlyWhatWasSentIsFollowed() throws {
        var (scene, ada) = try Self.delayed()
        scene.gateway.disconnected(ada, at: scene.moment, into: &scene.actions)
        for _ in 0..<400 { scene.advance(100) }
        let sent = Set(scene.take().commits.map(\.number))
        #expect(sent == [1] && !scene.gateway.commits.hasLeftBehind && scene.gateway.commits.inFlight.count == 1)
        scene.advance(8000)
        let again = try #require(scene.take().commits.first)
        scene.gateway.resultReceived(result(of: again, seq: 1), at: scene.moment, into: &scene.actions)
        #expect(scene.gateway.commits.inFlight.isEmpty && scene.gateway.commits.inFlight.bytes == 0)
        #expect(scene.take().acknowledged.isEmpty && scene.gateway.nextDeadline == nil)
    }

    // MARK: Rights

    @Test func commitWithoutTheRightUsesUpItsNumber() async throws {
        var scene = Scene(tokens: try await TestTokens.verifier())
        let ada = try await scene.connect(TestTokens.token(user: "ada", rooms: [("r", .view)]))
        scene.send(ada, "room:join", #"{"roomId":"r"}"#, ack: 0)
        scene.answerJoins(scene.take(), sid: "s", seq: 0)
        _ = scene.take()
        scene.send(ada, "element:transform", Self.transform(n: 1), ack: 1)
        scene.send(ada, "element:transform", Self.transform(), ack: 2)
        let actions = scene.take()
        #expect(actions.acknowledged == [2])
        let commit = try #require(actions.commits.first)
        #expect(commit.number == 1 && commit.edit.refusal?.refusal.code == .forbidden)
    }

    @Test func tokenEndsForALiveConnectionWhenItDoesAtTheDoor() async throws {
        var scene = Scene(tokens: try await TestTokens.verifier())
        let ada = try await scene.connect(TestTokens.token(user: "ada", rooms: [("r", .view)]))
        func texts(_ scene: inout Scene, at seconds: Int64) -> [String] {
            scene.gateway.checkTokens(at: seconds, into: &scene.actions)
            return scene.actions.texts(for: ada)
        }
        #expect(texts(&scene, at: 969).isEmpty)
        #expect(texts(&scene, at: 970).count == 1)
        #expect(texts(&scene, at: 1059).count == 1)
        #expect(!scene.actions.contains(.disconnect(ada)))
        #expect(texts(&scene, at: 1060).count == 2)
        #expect(scene.actions.contains(.disconnect(ada)))
    }

    private struct Unexpected: Error {}
}

/// Tokens that are valid in a ``Scene``, where no second passes.
private enum TestTokens {
    private static let secret = Array("0123456789abcdef0123456789abcdef".utf8)

    static func verifier() async throws -> TokenVerifier {
        try await TokenVerifier(keys: KeySet(secret: Self.secret), issuer: "i", audience: "a")
    }

    static func token(user: String, rooms: [(String, Right)]) async throws -> String {
        try await TokenSigner(secret: Self.secret).token(
            user: user, rooms: rooms.map { (id: $0, right: $1) }, issuer: "i", audience: "a", at: 0, lifetime: 1000)
    }
}

extension Scene {
    /// A user of the token mode connects.
    fileprivate mutating func connect(_ token: String) throws -> Slot {
        let handshake = try HandshakeFields(
            auth: nil, query: { "\($0)" == "token" ? token : nil }, header: { _ in nil })
        let identity = try self.gateway.authenticator.identify(handshake, guest: "guest", seconds: 0)
        return self.gateway.connected(identity: identity, handshake: handshake, at: self.moment, into: &self.actions)
    }
}
