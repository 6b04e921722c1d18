import Testing
import Wire

@testable import GatewayCore

@Suite("Commits in flight")
struct CommitTests {
    static let transform = #"{"roomId":"r","elementId":"e","transform":{"rotation":30}}"#
    static let numbered = #"{"roomId":"r","elementId":"e","transform":{"rotation":30},"n":1}"#

    @Test("commits without a number go one at a time, numbered by the gateway in a stream of its own")
    func numbering() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        scene.send(ada, "element:transform", Self.transform, ack: 1)
        scene.send(ada, "element:transform", Self.transform, ack: 2)
        let first = try #require(scene.take().commits.first)
        #expect(first.number == 1 && first.session == "s-ada.1" && scene.gateway.commits.inFlight.count == 1)
        scene.gateway.resultReceived(result(of: first, seq: 8), at: scene.moment, into: &scene.actions)
        let actions = scene.take()
        #expect(actions.first == .acknowledge(ada, id: 1, json: Array(#"{"ok":true,"seq":8}"#.utf8)))
        #expect(actions.commits.map(\.number) == [2] && actions.commits.map(\.session) == ["s-ada.1"])
        #expect(scene.gateway.commits.inFlight.count == 1)
    }

    /// Numbers are the connection's, so those of one room have holes.
    @Test func roomsDoNotWaitForEachOther() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        scene.send(ada, "room:join", #"{"roomId":"q"}"#)
        scene.answerJoins(sid: "s-q")
        _ = scene.take()
        for _ in 1...2 {
            scene.send(ada, "element:transform", Self.transform)
            scene.send(ada, "element:transform", #"{"roomId":"q","elementId":"e","positionX":1}"#)
        }
        let commits = scene.take().commits
        #expect(commits.map(\.room) == ["r", "q"] && commits.map(\.number) == [1, 2])
        for commit in commits.reversed() {
            scene.gateway.resultReceived(result(of: commit, seq: 1), at: scene.moment, into: &scene.actions)
        }
        let next = scene.take().commits
        #expect(next.map(\.room) == ["q", "r"] && next.map(\.number) == [3, 4])
    }

    @Test("without a result a commit is sent again after 1, 2 and 4 s")
    func repetition() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        scene.send(ada, "element:transform", Self.numbered, ack: 1)
        var times: [UInt64] = []
        let start = scene.now
        for _ in 0..<80 {
            for _ in scene.take().commits { times.append(scene.now - start) }
            scene.advance(100)
        }
        #expect(times == [0, 1_000, 3_000, 7_000])
    }

    @Test func theCoalescerHearsOnceThatACommitEndsAGesture() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        scene.send(ada, "element:transforming", #"{"roomId":"r","elementId":"e","transform":{"rotation":20}}"#)
        _ = scene.take()
        scene.send(ada, "element:transform", Self.numbered, ack: 1)
        let end = GestureEnd(
            room: "r", element: "e", user: "ada", sid: "s-ada", gesture: 1,
            connection: scene.gateway.relay.connections.id(in: ada))
        var ends: [GestureEnd] = []
        for action in scene.take() { if case .previewsEnd(_, let end) = action { ends.append(end) } }
        scene.advance(1_000)
        let again = scene.take()
        for action in again { if case .previewsEnd(_, let end) = action { ends.append(end) } }
        #expect(ends == [end] && again.commits.count == 1)
    }

    @Test func atTheDeadlineANumberedCommitIsGivenBackAsUnavailableAndForgotten() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        scene.send(ada, "element:transform", Self.numbered, ack: 1)
        _ = scene.take()
        scene.advance(10_000)
        #expect(scene.take().texts(for: ada).first?.contains(#""code":"unavailable""#) == true)
        #expect(scene.gateway.commits.inFlight.count == 0)
    }

    @Test("a commit that the gateway numbered is followed to its result under its number, however long that takes")
    func deadlineOfOwnNumber() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        scene.send(ada, "element:transform", Self.transform, ack: 1)
        let commit = try #require(scene.take().commits.first)
        for _ in 1...100 { scene.advance(1000) }
        let actions = scene.take()
        #expect(actions.texts(for: ada).isEmpty && Set(actions.commits.map(\.number)) == [commit.number])
        scene.gateway.resultReceived(result(of: commit, seq: 1), at: scene.moment, into: &scene.actions)
        #expect(scene.take().acknowledged == [1])
        #expect(scene.gateway.commits.inFlight.count == 0)
    }

    @Test("a committer that came or went: what is in flight goes out again at once")
    func committersChanged() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        scene.send(ada, "element:transform", Self.numbered, ack: 1)
        #expect(scene.take().commits.count == 1)
        for _ in 1...2 {
            scene.gateway.commits.inFlight.linksChanged(
                shards: [Shard.of(room: "r")], at: scene.moment, into: &scene.actions)
            #expect(scene.take().commits.count == 1)
        }
    }

    @Test("a gap behind a commit in flight is the gateway's own business; a gap of the app is the app's")
    func gap() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        scene.send(ada, "element:transform", Self.numbered, ack: 1)
        scene.send(ada, "element:delete", #"{"roomId":"r","elementId":"e","n":2}"#, ack: 2)
        let commits = scene.take().commits
        let gap = Refusal(.gap, "a number was skipped", expected: 1)
        scene.gateway.resultReceived(result(of: commits[1], refusal: gap), at: scene.moment, into: &scene.actions)
        #expect(scene.take().isEmpty)
        scene.advance(150)
        #expect(scene.take().commits.map(\.number) == [1, 2])
        scene.gateway.resultReceived(result(of: commits[0], seq: 1), at: scene.moment, into: &scene.actions)
        _ = scene.take()
        scene.gateway.resultReceived(result(of: commits[1], refusal: gap), at: scene.moment, into: &scene.actions)
        #expect(scene.take().texts(for: ada) == [#"{"ok":false}"#])
    }

    @Test("busy is passed to an app that numbers, and tried again for one that does not")
    func busy() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        let busy = Refusal(.busy, "later", retryAfterMs: 300)
        scene.send(ada, "element:transform", Self.transform, ack: 2)
        scene.send(ada, "element:transform", Self.numbered, ack: 1)
        let commits = scene.take().commits
        for commit in commits {
            scene.gateway.resultReceived(result(of: commit, refusal: busy), at: scene.moment, into: &scene.actions)
        }
        #expect(scene.take().texts(for: ada).count == 1)
        scene.advance(300)
        #expect(scene.take().commits.map(\.session) == ["s-ada.1"])
    }

    @Test("a fault found by the gateway consumes the number, so the committer hears of it")
    func faultConsumesNumber() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        scene.send(ada, "element:transforming", PreviewTests.preview(1))
        _ = scene.take()
        scene.send(
            ada, "element:transform", #"{"roomId":"r","elementId":"e","transform":{"rotation":"x"},"n":1}"#, ack: 1)
        let actions = scene.take()
        #expect(actions.gestureEnds.map(\.gesture) == [1])
        let commit = try #require(actions.commits.first)
        let refusal = try #require(commit.edit.refusal).refusal
        #expect(refusal.code == .invalid)
        #expect(refusal.field == "transform.rotation")
    }

    @Test(arguments: ["0", "-1", "1.5", "\"1\"", "null", "9007199254740992"])
    func aNumberThatIsNoneIsRefusedAndConsumesNothing(number: String) throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        scene.send(ada, "element:delete", #"{"roomId":"r","elementId":"e","n":\#(number)}"#, ack: 1)
        let actions = scene.take()
        #expect(actions.commits.isEmpty)
        #expect(actions.texts(for: ada).first?.contains(#""field":"n""#) == true)
    }

    @Test("an undo, which has a transaction of its own, counts for four commits")
    func undoRate() throws {
        var limits = GatewayLimits()
        limits.commitBurst = 9
        limits.commitsPerSecond = 10
        var scene = Scene(limits: limits)
        let ada = try scene.member("ada")
        for n in 1...2 { scene.send(ada, "history:undo", #"{"roomId":"r","n":\#(n)}"#) }
        for commit in scene.take().commits {
            scene.gateway.resultReceived(result(of: commit, seq: 1), at: scene.moment, into: &scene.actions)
        }
        scene.send(ada, "history:undo", #"{"roomId":"r"}"#, ack: 3)
        scene.advance(200)
        #expect(scene.take().commits.isEmpty)
        scene.advance(100)
        #expect(scene.take().commits.count == 1)
        scene.send(ada, "history:redo", #"{"roomId":"r","n":3}"#, ack: 4)
        #expect(scene.take().texts(for: ada).first?.contains(#""retryAfterMs":400"#) == true)
    }

    @Test("over the rate a numbered commit is refused with a time, one without a number waits")
    func rate() throws {
        var limits = GatewayLimits()
        limits.commitBurst = 1
        limits.commitsPerSecond = 10
        var scene = Scene(limits: limits)
        let ada = try scene.member("ada")
        scene.send(ada, "element:transform", Self.transform, ack: 1)
        scene.send(ada, "element:transform", Self.numbered, ack: 2)
        scene.send(ada, "element:transform", Self.transform, ack: 3)
        let actions = scene.take()
        let first = try #require(actions.commits.first)
        #expect(actions.commits.count == 1)
        #expect(actions.texts(for: ada).first?.contains(#""code":"rate_limited","message""#) == true)
        #expect(actions.texts(for: ada).first?.contains(#""retryAfterMs":100"#) == true)
        scene.gateway.resultReceived(result(of: first, seq: 1), at: scene.moment, into: &scene.actions)
        #expect(scene.take().commits.isEmpty)
        scene.advance(100)
        #expect(scene.take().commits.map(\.number) == [2])
    }

    @Test func onlySoManyNumberedCommitsOfASessionMayBeWithoutAResult() throws {
        var limits = GatewayLimits()
        limits.unacknowledged = 2
        var scene = Scene(limits: limits)
        let ada = try scene.member("ada")
        for n in UInt64(1)...3 {
            scene.send(ada, "element:transform", #"{"roomId":"r","elementId":"e","positionX":1,"n":\#(n)}"#, ack: n)
        }
        let actions = scene.take()
        #expect(actions.commits.count == 2)
        #expect(actions.texts(for: ada).first?.contains(#""code":"busy""#) == true)
    }

    @Test func aCommitToARoomThatWasNotJoinedIsForbidden() throws {
        var scene = Scene()
        let ada = try scene.connect("ada")
        scene.send(ada, "element:transform", Self.transform)
        let text = try #require(scene.take().texts(for: ada).first)
        #expect(text.hasPrefix(#"["transform:error",{"event":"element:transform","code":"forbidden""#))
    }

    @Test func aSessionThatAnotherConnectionTookOverRefusesNumberedCommitsAndOnePreviewASecond() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        scene.gateway.relay.sessionClaimed(SessionClaimed(room: "r", sid: "s-ada", sessionEpoch: 2))
        scene.send(ada, "element:transform", Self.numbered, ack: 1)
        #expect(scene.take().texts(for: ada).first?.contains(#""code":"session_expired""#) == true)
        for _ in 0..<3 { scene.send(ada, "element:transforming", Self.transform) }
        let actions = scene.take()
        #expect(actions.count == 1)
        let prefix = #"["transform:error",{"event":"element:transforming","code":"session_expired""#
        #expect(actions.texts(for: ada).first?.hasPrefix(prefix) == true)
        scene.advance(1000)
        scene.send(ada, "cursor:moving", #"{"roomId":"r","x":1,"y":2}"#)
        #expect(scene.take().texts(for: ada).first?.contains(#""code":"session_expired""#) == true)
    }

    @Test("that an older owner's copy was refused says nothing about a commit sent again by the newest owner")
    func expiredCopy() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        let expired = Refusal(.sessionExpired, "the session has another owner")
        scene.send(ada, "element:transform", Self.numbered, ack: 1)
        let older = try #require(scene.take().commits.first)
        scene.send(ada, "room:join", #"{"roomId":"r","session":"secret"}"#, ack: 2)
        scene.answerJoins(sid: "s-ada", sessionEpoch: 2)
        scene.send(ada, "element:transform", Self.numbered, ack: 3)
        let newer = try #require(scene.take().commits.first)
        #expect(newer.sessionEpoch == 2)
        scene.gateway.resultReceived(result(of: older, refusal: expired), at: scene.moment, into: &scene.actions)
        #expect(scene.take().isEmpty)
        scene.advance(50)
        #expect(scene.take().commits == [newer])
        scene.gateway.resultReceived(result(of: newer, refusal: expired), at: scene.moment, into: &scene.actions)
        #expect(scene.take().acknowledged == [3, 1])
    }

    @Test func aRefusalForAnEarlierConnectionsCopyIsNotTheNewerConnections() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        scene.send(ada, "element:transform", Self.numbered, ack: 1)
        var older = try #require(scene.take().commits.first)
        older.connection += 1
        let expired = Refusal(.sessionExpired, "the session has another owner")
        scene.gateway.resultReceived(result(of: older, refusal: expired), at: scene.moment, into: &scene.actions)
        #expect(scene.take().isEmpty)
        #expect(scene.gateway.commits.inFlight.count == 1)
    }

    @Test(arguments: [
        ("{}", "invalid"), ("[]", "invalid"), ("[1]", "invalid"), (#"["room:join"]"#, "invalid"),
        (#"["room:join",7]"#, "invalid"), (#"["toString",{}]"#, "unknown_event"),
        (#"["x",{"a":1,"a":2}]"#, "unknown_event"), (#"["room:join",{"a":1,"a":2}]"#, "invalid"),
        (#"["x",{"#, "invalid"), ("\u{feff}[]", "invalid"),
    ])
    func whatIsNoEventIsAnswered(json: String, code: String) throws {
        var scene = Scene()
        let ada = try scene.connect("ada")
        scene.gateway.eventReceived(
            Array(json.utf8), ackID: 5, from: ada, at: scene.moment, seconds: 0, into: &scene.actions)
        #expect(scene.take().texts(for: ada).first?.contains(#""code":"\#(code)""#) == true)
    }
}
