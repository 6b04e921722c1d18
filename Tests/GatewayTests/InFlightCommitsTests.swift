import Testing
import Timing
import Wire

@testable import GatewayCore

@Suite("The bounds of commits in flight, and credit")
struct InFlightCommitsTests {
    private static func transform(_ element: String, n: Int? = nil) -> String {
        #"{"roomId":"r","elementId":"\#(element)","positionX":1\#(n.map { #","n":\#($0)"# } ?? "")}"#
    }

    @Test("when too many are in flight the app is told to come again, and its number is not used")
    func fullInNumber() throws {
        var limits = GatewayLimits()
        limits.inFlightCommits = 2
        var scene = Scene(limits: limits)
        let ada = try scene.member("ada")
        for n in 1...3 { scene.send(ada, "element:transform", Self.transform("e", n: n), ack: UInt64(n)) }
        let actions = scene.take()
        #expect(actions.commits.map(\.number) == [1, 2])
        let text = try #require(actions.texts(for: ada).first)
        #expect(text.contains(#""code":"busy""#) && text.contains(#""retryAfterMs":500"#))
        #expect(scene.gateway.busyTotal == 1)
        scene.gateway.resultReceived(result(of: actions.commits[0], seq: 1), at: scene.moment, into: &scene.actions)
        scene.send(ada, "element:transform", Self.transform("e", n: 3), ack: 4)
        #expect(scene.take().commits.map(\.number) == [3])
    }

    @Test("bytes are bounded too, those of commits that wait included, and given back with the result")
    func fullInBytes() throws {
        var limits = GatewayLimits()
        limits.inFlightBytes = 4000
        limits.commitBurst = 1
        limits.commitsPerSecond = 1
        var scene = Scene(limits: limits)
        let ada = try scene.member("ada")
        let text = String(repeating: "x", count: 2000)
        let update = #"{"roomId":"r","elementId":"e","set":{"content":"\#(text)"}}"#
        scene.send(ada, "element:update", "\(update.dropLast()),\"n\":1}", ack: 1)
        // The second one waits for its turn, and counts.
        scene.send(ada, "element:update", #"{"roomId":"r","elementId":"e","set":{"content":"y"}}"#, ack: 2)
        scene.send(ada, "element:update", update, ack: 3)
        let actions = scene.take()
        #expect(actions.commits.count == 1)
        #expect(actions.texts(for: ada).count { $0.contains(#""code":"busy""#) } == 1)
        scene.gateway.resultReceived(result(of: actions.commits[0], seq: 1), at: scene.moment, into: &scene.actions)
        #expect(scene.gateway.commits.inFlight.bytes > 0)
        scene.gateway.disconnected(ada, at: scene.moment, into: &scene.actions)
        #expect(scene.gateway.commits.inFlight.bytes > 0)
        _ = scene.take()
        scene.advance(1000)
        let last = try #require(scene.take().commits.first)
        scene.gateway.resultReceived(result(of: last, seq: 2), at: scene.moment, into: &scene.actions)
        #expect(scene.gateway.commits.inFlight.bytes == 0 && scene.gateway.commits.inFlight.count == 0)
    }

    /// Each connection leaves behind what waits for its rate.
    @Test func whatOneUserHasLeftBehindLeavesRoomForOthers() throws {
        var limits = GatewayLimits()
        limits.inFlightCommits = 80
        limits.commitBurst = 1
        limits.commitsPerSecond = 1
        var scene = Scene(limits: limits)
        let bob = try scene.member("bob")
        var busy = 0
        for round in 1...20 {
            let ada = try scene.member("ada", sid: Identifier("s-\(round)"))
            for ack in 1...4 as ClosedRange<UInt64> {
                scene.send(ada, "element:transform", Self.transform("e"), ack: ack)
            }
            busy += scene.take().texts(for: ada).count { $0.contains(#""code":"busy""#) }
            scene.gateway.disconnected(ada, at: scene.moment, into: &scene.actions)
        }
        let inFlight = scene.gateway.commits.inFlight
        #expect(inFlight.reservedCount + inFlight.count == 10)
        #expect(busy == 70)
        _ = scene.take()
        scene.send(bob, "element:transform", Self.transform("e", n: 1), ack: 1)
        #expect(scene.take().commits.map(\.user) == ["bob"])
    }

    /// The database is away, and each connection leaves one behind that has no result.
    @Test func whatOneUserHasUnderWayLeavesRoomForOthers() throws {
        var limits = GatewayLimits()
        limits.inFlightCommits = 80
        var scene = Scene(limits: limits)
        let bob = try scene.member("bob")
        var (sent, busy) = ([Commit](), 0)
        for round in 1...12 {
            let ada = try scene.member("ada", sid: Identifier("s-\(round)"))
            for ack in 1...4 as ClosedRange<UInt64> {
                scene.send(ada, "element:transform", Self.transform("e"), ack: ack)
            }
            let actions = scene.take()
            sent += actions.commits
            busy += actions.texts(for: ada).count { $0.contains(#""code":"busy""#) }
            scene.gateway.disconnected(ada, at: scene.moment, into: &scene.actions)
            scene.advance(10_000)
        }
        _ = scene.take()
        #expect(sent.count == 10 && scene.gateway.commits.inFlight.count == 10)
        #expect(busy == 14 && scene.gateway.commits.inFlight.reservedCount == 0)
        scene.send(bob, "element:transform", Self.transform("e"), ack: 1)
        #expect(scene.take().commits.map(\.user) == ["bob"])
        for commit in sent {
            scene.gateway.resultReceived(result(of: commit, seq: commit.number), at: scene.moment, into: &scene.actions)
        }
        let ada = try scene.member("ada")
        scene.send(ada, "element:transform", Self.transform("e"), ack: 1)
        #expect(scene.take().commits.count == 1)
    }

    @Test("without credit commits wait in order, and go one by one when it is back")
    func credit() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        scene.send(ada, "element:transform", Self.transform("e", n: 1), ack: 1)
        let first = try #require(scene.take().commits.first)
        scene.gateway.commits.inFlight.commitNotSent(first)
        // Behind one that waits, the next ones wait too.
        for n in 2...3 { scene.send(ada, "element:transform", Self.transform("e", n: n), ack: UInt64(n)) }
        #expect(scene.take().commits == [])
        #expect(scene.gateway.commits.inFlight.heldCount == 3)
        // The clock sends nothing that has no credit.
        for _ in 0..<50 { scene.advance(100) }
        #expect(scene.take().commits == [])
        let shard = Shard.of(room: "r")
        for n in 1...3 as ClosedRange<UInt64> {
            scene.gateway.commits.inFlight.sendHeld(in: shard, at: scene.moment, into: &scene.actions)
            #expect(scene.take().commits.map(\.number) == [n])
        }
        #expect(scene.gateway.commits.inFlight.heldCount == 0)
        // Sent now, so from now on the usual pauses count.
        scene.advance(1000)
        #expect(scene.take().commits.count == 3)
    }

    /// Its app was told that it is not applied, and has used the number for something else.
    @Test func theLateResultOfAnotherBodyEndsNothing() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        scene.send(ada, "element:transform", Self.transform("given-up", n: 1), ack: 1)
        let former = try #require(scene.take().commits.first)
        let busy = Refusal(.busy, "full", retryAfterMs: 100)
        scene.gateway.resultReceived(result(of: former, refusal: busy), at: scene.moment, into: &scene.actions)
        #expect(scene.take().acknowledged == [1])
        scene.send(ada, "element:transform", Self.transform("wanted", n: 1), ack: 2)
        let commit = try #require(scene.take().commits.first)
        scene.gateway.resultReceived(result(of: former, seq: 7), at: scene.moment, into: &scene.actions)
        #expect(scene.take().acknowledged == [])
        // An older committer does not say which body it was.
        var result = result(of: commit, refusal: Refusal(.conflict, "another body", field: "n"))
        result.bodyHash = 0
        scene.gateway.resultReceived(result, at: scene.moment, into: &scene.actions)
        #expect(scene.take().acknowledged == [2])
    }

    /// As many commits of an app as may be without a result.
    private static func twoUnderWay() throws -> (Scene, ada: Slot, commits: [Commit]) {
        var limits = GatewayLimits()
        limits.unacknowledged = 2
        var scene = Scene(limits: limits)
        let ada = try scene.member("ada")
        for n in 1...2 { scene.send(ada, "element:transform", Self.transform("e", n: n), ack: UInt64(n)) }
        let commits = scene.take().commits
        return (scene, ada, commits)
    }

    /// The room's former session had them, and so had its former membership.
    @Test(arguments: ["", #","session":"secret""#])
    func commitsWithoutAResultCountWhicheverSessionOfTheConnectionSentThem(resumed: String) throws {
        var (scene, ada, former) = try Self.twoUnderWay()
        scene.send(ada, "room:leave", #"{"roomId":"r"}"#, ack: 3)
        scene.send(ada, "room:join", #"{"roomId":"r"\#(resumed)}"#, ack: 4)
        scene.answerJoins(sid: resumed.isEmpty ? "s-next" : "s-ada", sessionEpoch: resumed.isEmpty ? 1 : 2)
        let first = resumed.isEmpty ? 1 : 3
        scene.send(ada, "element:transform", Self.transform("e", n: first), ack: 5)
        #expect(scene.take().texts(for: ada).count { $0.contains(#""code":"busy""#) } == 1)
        for commit in former {
            scene.gateway.resultReceived(result(of: commit, seq: commit.number), at: scene.moment, into: &scene.actions)
        }
        _ = scene.take()
        for n in first...first + 1 {
            scene.send(ada, "element:transform", Self.transform("e", n: n), ack: UInt64(n + 9))
        }
        #expect(scene.take().commits.map(\.number) == [UInt64(first), UInt64(first + 1)])
    }

    /// While there is no credit it is given up and sent again, any number of times, behind one that waits all the time.
    @Test func whatIsGivenUpAndSentAgainWithoutCreditWaitsOnce() throws {
        var scene = Scene()
        let (ada, bob) = try (scene.member("ada"), scene.member("bob"))
        scene.send(bob, "element:transform", #"{"roomId":"r","elementId":"e","transform":{"rotation":1}}"#, ack: 1)
        scene.gateway.commits.inFlight.commitNotSent(try #require(scene.take().commits.first))
        for round in 1...200 {
            scene.send(ada, "element:transform", Self.transform("e", n: 1), ack: UInt64(round))
            #expect(scene.gateway.commits.inFlight.count == 2 && scene.gateway.commits.inFlight.heldCount == 2)
            scene.advance(10_000)
            #expect(scene.take().acknowledged.contains(UInt64(round)))
        }
        #expect(scene.gateway.commits.inFlight.heldCount == 1)
    }

    @Test func entriesOfThoseThatDoNotWaitAnyMoreAreFew() {
        var held = HeldCommits()
        func key(_ number: UInt64) -> InFlightKey { InFlightKey(room: "r", session: "s", number: number) }
        _ = held.append(key(0), in: 7)
        for number in 1...1000 as ClosedRange<UInt64> { held.remove(held.append(key(number), in: 7), in: 7) }
        #expect(held.count == 1 && held.entryCount < 100)
        _ = held.append(key(1), in: 7)
        #expect(held.first(in: 7) == key(0))
        #expect(held.removeAll(in: 7) == [key(0), key(1)])
        #expect(held.count == 0 && held.entryCount == 0 && !held.areWaiting(in: 7))
    }

    @Test func aCommitThatWasAnsweredWhileItWaitedIsNotSentAnyMore() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        for n in 1...2 { scene.send(ada, "element:transform", Self.transform("e", n: n), ack: UInt64(n)) }
        let commits = scene.take().commits
        for commit in commits { scene.gateway.commits.inFlight.commitNotSent(commit) }
        scene.gateway.resultReceived(result(of: commits[0], seq: 1), at: scene.moment, into: &scene.actions)
        _ = scene.take()
        let shard = Shard.of(room: "r")
        #expect(scene.gateway.commits.inFlight.heldCount == 1)
        scene.gateway.commits.inFlight.sendHeld(in: shard, at: scene.moment, into: &scene.actions)
        #expect(scene.take().commits.map(\.number) == [2])
    }

    @Test func whenAnotherPeerTakesTheShardOverWhatWaitedGoesOutAtOnce() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        for n in 1...3 { scene.send(ada, "element:transform", Self.transform("e", n: n), ack: UInt64(n)) }
        for commit in scene.take().commits { scene.gateway.commits.inFlight.commitNotSent(commit) }
        scene.gateway.commits.inFlight.linksChanged(
            shards: [Shard.of(room: "r")], at: scene.moment, into: &scene.actions)
        #expect(scene.take().commits.map(\.number) == [1, 2, 3])
        #expect(scene.gateway.commits.inFlight.heldCount == 0)
    }

    /// One that was sent may have been applied, so its app gets the result whenever there is one.
    @Test func whatHasWaitedForItsTurnUntilTheDeadlineIsNeverSent() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        for ack in 1...3 as ClosedRange<UInt64> { scene.send(ada, "element:transform", Self.transform("e"), ack: ack) }
        let sent = try #require(scene.take().commits.first)
        scene.advance(9999)
        #expect(scene.take().acknowledged == [])
        scene.advance(1)
        let actions = scene.take()
        #expect(actions.acknowledged.sorted() == [2, 3])
        #expect(actions.texts(for: ada).allSatisfy { $0.contains(#""code":"unavailable""#) })
        for _ in 0..<10 { scene.advance(1000) }
        #expect(Set(scene.take().commits.map(\.number)) == [sent.number])
        scene.gateway.resultReceived(result(of: sent, seq: 1), at: scene.moment, into: &scene.actions)
        let last = scene.take()
        #expect(last.acknowledged == [1] && last.commits.isEmpty)
        #expect(scene.gateway.commits.inFlight.bytes == 0)
        // What came of them: the gestures that they ended are over, and a new commit goes.
        scene.send(ada, "element:transform", Self.transform("e"), ack: 4)
        #expect(scene.take().commits.map(\.number) == [2])
    }

    @Test func theGestureOfACommitThatIsNeverSentEnds() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        scene.send(ada, "element:transform", Self.transform("other"), ack: 1)
        scene.send(ada, "element:transforming", Self.transform("e"))
        scene.send(ada, "element:transform", Self.transform("e"), ack: 2)
        _ = scene.take()
        scene.advance(10_000)
        #expect(scene.take().gestureEnds.map(\.element) == ["e"])
    }

    @Test func oneWithoutANumberWaitsForNumberedOnesAndNumberedOnesBehindItAreBusy() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        scene.send(ada, "element:transform", Self.transform("e", n: 1), ack: 1)
        scene.send(ada, "element:transform", Self.transform("e"), ack: 2)
        scene.send(ada, "element:transform", Self.transform("e", n: 2), ack: 3)
        let actions = scene.take()
        let numbered = try #require(actions.commits.first)
        #expect(actions.commits.count == 1 && actions.acknowledged == [3])
        #expect(actions.texts(for: ada)[0].contains(#""code":"busy""#))
        scene.gateway.resultReceived(result(of: numbered, seq: 1), at: scene.moment, into: &scene.actions)
        let own = try #require(scene.take().commits.first)
        #expect(own.session == "s-ada.1" && own.number == 1)
        // It waits no more: numbered ones go, in a stream of their own.
        scene.send(ada, "element:transform", Self.transform("e", n: 2), ack: 4)
        #expect(scene.take().commits.map(\.session) == ["s-ada"])
    }

    @Test func aHeldCommitIsGivenBackAtItsDeadlineLikeAnyOther() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        scene.send(ada, "element:transform", Self.transform("e", n: 1), ack: 1)
        scene.gateway.commits.inFlight.commitNotSent(try #require(scene.take().commits.first))
        scene.advance(10_000)
        #expect(scene.take().texts(for: ada).first?.contains(#""code":"unavailable""#) == true)
        #expect(scene.gateway.commits.inFlight.bytes == 0)
        #expect(scene.gateway.commits.inFlight.heldCount == 0)
    }

    @Test("a read carries the number that was just acknowledged, and forgets it after a while")
    func readsFollow() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        let identity = try #require(scene.gateway.relay.connections.bySlot[ada]?.identity)
        scene.send(ada, "element:transform", Self.transform("e", n: 1), ack: 1)
        let commit = try #require(scene.take().commits.first)
        scene.gateway.resultReceived(result(of: commit, seq: 41), at: scene.moment, into: &scene.actions)
        _ = scene.take()
        func after(_ scene: inout Scene) -> [UInt64] {
            _ = scene.gateway.requestReceived(
                .room("r"), as: identity, at: scene.moment, seconds: 0, into: &scene.actions)
            scene.send(ada, "room:join", #"{"roomId":"r"}"#, ack: 9)
            let actions = scene.take()
            scene.answerJoins(actions, sid: "s-ada", seq: 41)
            return actions.compactMap { action in
                switch action {
                case .fanout(_, .read(let read)): read.after
                case .fanout(_, .join(let join)): join.after
                default: nil
                }
            }
        }
        #expect(after(&scene) == [41, 41])
        scene.advance(2000)
        scene.advance(2000)
        _ = scene.take()
        #expect(after(&scene) == [0, 0])
    }
}

@Suite struct RecentNumberTests {
    /// Another fan-out may serve the room by then, and be behind the one whose updates the app has seen.
    @Test func aJoinCarriesTheNumberUpToWhichTheRoomWasShownBeforeItWasLeft() throws {
        var scene = Scene()
        let ada = try scene.member("ada", seq: 28)
        scene.gateway.relay.updateReceived(update(29), into: &scene.actions)
        scene.send(ada, "room:leave", #"{"roomId":"r"}"#, ack: 1)
        _ = scene.take()
        scene.send(ada, "room:join", #"{"roomId":"r"}"#, ack: 2)
        let join = try #require(scene.take().joins.first)
        #expect(join.after == 29)
    }

    @Test func anAnswerThatIsAheadOfTheStreamCountsToo() throws {
        var scene = Scene()
        _ = try scene.member("ada", seq: 28)
        let ben = try scene.member("ben", seq: 30)
        scene.send(ben, "room:leave", #"{"roomId":"r"}"#, ack: 1)
        _ = scene.take()
        scene.send(ben, "room:join", #"{"roomId":"r"}"#, ack: 2)
        let join = try #require(scene.take().joins.first)
        #expect(join.after == 30)
    }
}

@Suite("Many apps at once")
struct StormTests {
    @Test func joinsGoOutAtARateInOrderAndNoneIsLost() throws {
        var limits = GatewayLimits()
        limits.joinsPerSecond = 50
        var scene = Scene(limits: limits)
        for index in 0..<120 {
            let slot = try scene.connect("user-\(index)")
            scene.send(slot, "room:join", #"{"roomId":"r"}"#, ack: 1)
        }
        var sent: [String] = []
        // Those without an answer are repeated after a second, by the clock and not at this rate.
        func news() -> [String] {
            scene.take().compactMap { action in
                guard case .fanout(_, .join(let join)) = action, !sent.contains(join.member.user.text) else {
                    return nil
                }
                return join.member.user.text
            }
        }
        sent += news()
        #expect(sent.count == 50)
        for _ in 0..<80 {
            scene.advance(20)
            let now = news()
            #expect(now.count <= 2)
            sent += now
        }
        #expect(sent == (0..<120).map { "user-\($0)" })
    }

    @Test func whoWentAwayWhileWaitingIsNotJoinedAnyMore() throws {
        var limits = GatewayLimits()
        limits.joinsPerSecond = 1
        var scene = Scene(limits: limits)
        let slots = try (0..<3).map { index in
            let slot = try scene.connect("user-\(index)")
            scene.send(slot, "room:join", #"{"roomId":"r"}"#, ack: 1)
            return slot
        }
        _ = scene.take()
        scene.gateway.disconnected(slots[1], at: scene.moment, into: &scene.actions)
        _ = scene.take()
        scene.advance(1000)
        let joins = scene.take().compactMap { action in
            if case .fanout(_, .join(let join)) = action { join.member.user.text } else { nil }
        }
        #expect(joins.contains("user-2") && !joins.contains("user-1"))
        #expect(scene.gateway.joins.queuedCount == 0)
    }

    @Test func tooManyJoinsOfAllConnectionsAreRefusedAsBusy() throws {
        var limits = GatewayLimits()
        limits.joinsWaiting = 3
        var scene = Scene(limits: limits)
        let ada = try scene.connect("ada")
        for room in 1...2 { scene.send(ada, "room:join", #"{"roomId":"r\#(room)"}"#, ack: UInt64(room)) }
        let bob = try scene.connect("bob")
        for room in 1...2 { scene.send(bob, "room:join", #"{"roomId":"r\#(room)"}"#, ack: UInt64(room)) }
        let actions = scene.take()
        #expect(actions.acknowledged == [2])
        #expect(actions.texts(for: bob).count { $0.contains(#""code":"busy""#) } == 1)
    }

    @Test func refusedCommitsEndABoundedNumberOfGestures() throws {
        var limits = GatewayLimits()
        limits.group = 3
        limits.commitsPerSecond = 1
        var scene = Scene(limits: limits)
        let ada = try scene.member("ada")
        for index in 0..<5 {
            scene.send(ada, "element:transforming", #"{"roomId":"r","elementId":"e\#(index)","positionX":1}"#)
            scene.send(ada, "element:transform", #"{"roomId":"r","elementId":"e\#(index)"}"#, ack: UInt64(index))
        }
        let actions = scene.take()
        #expect(actions.acknowledged == [0, 1, 2, 3, 4] && actions.gestureEnds.map(\.element) == ["e0", "e1", "e2"])
        // What goes on ends with the next commit.
        scene.send(ada, "element:transform", #"{"roomId":"r","elementId":"e4","positionX":1,"n":1}"#, ack: 9)
        #expect(scene.take().commits.first?.gestures.map(\.gesture) == [5])
    }

    @Test func oneConnectionCannotHoldMoreElementsOfAllItsRoomsInHandThanItMay() throws {
        var scene = Scene()
        let ada = try scene.member("ada", of: "r0")
        for room in 0..<6 {
            if room > 0 {
                scene.send(ada, "room:join", #"{"roomId":"r\#(room)"}"#, ack: 0)
                scene.answerJoins(sid: Identifier("s\(room)"))
                _ = scene.take()
            }
            for index in 0..<1000 {
                let move = #"{"roomId":"r\#(room)","elementId":"e\#(index)","positionX":1}"#
                scene.send(ada, "element:transforming", move)
            }
        }
        let tracks = try #require(scene.gateway.relay.connections.bySlot[ada]).memberships.entries.map(\.elements.count)
        #expect(tracks == [1000, 1000, 1000, 1000, 96, 32])
    }

    @Test func elementsInHandAreCountedInAllRooms() throws {
        var scene = Scene()
        let ada = try scene.member("ada", of: "r0")
        var most = 0
        for step in 0..<120 {
            let room = "r\(step % 3)"
            switch step % 20 {
            case 0, 1, 2:
                // Under another session: what it had in hand is forgotten.
                scene.send(ada, "room:join", #"{"roomId":"\#(room)"}"#, ack: 0)
                scene.answerJoins(sid: Identifier("s\(step)"))
            case 19: scene.send(ada, "room:leave", #"{"roomId":"\#(room)"}"#)
            default:
                let ids = (0..<100).map { #""e\#(step)-\#($0)""# }.joined(separator: ",")
                let group = #"{"roomId":"\#(room)","elements":[\#(ids)],"pivot":{"x":0,"y":0},"rotation":5}"#
                if step % 4 > 0 { scene.send(ada, "elements:gesturing", group) }
                if step % 2 > 0 { scene.send(ada, "elements:gesture", group) }
            }
            for commit in scene.take().commits {
                scene.gateway.resultReceived(result(of: commit, seq: 1), at: scene.moment, into: &scene.actions)
            }
            scene.advance(100)
            let memberships = try #require(scene.gateway.relay.connections.bySlot[ada]).memberships
            let count = memberships.entries.reduce(0) { $0 + $1.elements.count }
            #expect(memberships.trackCount == count)
            most = max(most, count)
        }
        #expect(most > Membership.maxTracks)
    }

    @Test func oneConnectionCannotHoldMoreElementsInHandThanItMay() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        for index in 0..<2000 {
            scene.send(ada, "element:transforming", #"{"roomId":"r","elementId":"e\#(index)","positionX":1}"#)
        }
        #expect(
            scene.gateway.relay.connections.bySlot[ada]?.memberships["r"]?.elements.count == Membership.maxOpenTracks)
        #expect(scene.gateway.relay.connections.previewsDroppedTotal == 2000 - UInt64(Membership.maxOpenTracks))
    }
}

@Suite("Farewell")
struct FarewellTests {
    @Test func everybodysTurnComesWithinTheSpreadAndNotAllAtOnce() {
        var random = SplitMix64(seed: 3)
        var farewell = Farewell(Array(0..<1000), spread: .seconds(4), at: .start) {
            $0.lowerBound + random.next() % 4000
        }
        var closed: [Slot] = []
        var largest = 0
        for now in stride(from: 0, through: 4000, by: 100) {
            let step = farewell.timeReached(Instant(milliseconds: UInt64(now))) { _ in false }
            #expect(step.leaving == step.closing)
            largest = max(largest, step.closing.count)
            closed += step.closing
        }
        #expect(closed.sorted() == Array(0..<1000) && farewell.isOver)
        #expect(largest < 60)
    }

    @Test("who is owed results is closed when they are there, at the latest at the end")
    func owed() {
        var farewell = Farewell([1, 2, 3], spread: .zero, at: .start) { $0.lowerBound }
        #expect(farewell.timeReached(.start) { $0 != 1 } == Farewell.Step(leaving: [3, 2, 1], closing: [1]))
        #expect(farewell.timeReached(Instant(milliseconds: 50)) { $0 == 2 } == Farewell.Step(leaving: [], closing: [3]))
        #expect(!farewell.isOver)
        #expect(farewell.timeReached(farewell.end) { _ in true }.closing == [2])
        #expect(farewell.isOver)
    }

    @Test func aFewAreNotKeptWaiting() {
        let farewell = Farewell([7], spread: .seconds(4), at: .start) { $0.upperBound - 1 }
        #expect(farewell.end <= .start + .milliseconds(5) + Farewell.patience)
    }

    @Test func fromAnAppWhoseTurnHasComeNoCommitIsTaken() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        scene.send(ada, "element:transform", CommitTests.numbered, ack: 1)
        let commit = try #require(scene.take().commits.first)
        #expect(scene.gateway.relay.connections.owesResults(ada))
        scene.send(ada, "element:transform", CommitTests.transform, ack: 3)
        scene.gateway.startLeaving(ada, into: &scene.actions)
        scene.send(ada, "element:delete", #"{"roomId":"r","elementId":"e","n":2}"#, ack: 2)
        let actions = scene.take()
        #expect(actions.commits == [] && actions.acknowledged == [3, 2])
        #expect(actions.texts(for: ada).allSatisfy { $0.contains(#""code":"unavailable""#) })
        scene.gateway.resultReceived(result(of: commit, seq: 1), at: scene.moment, into: &scene.actions)
        #expect(!scene.gateway.relay.connections.owesResults(ada))
    }
}
