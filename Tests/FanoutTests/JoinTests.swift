import Canvas
import DatabaseTestKit
import FanoutCore
import JSONBytes
import Synchronization
import Testing
import Timing
import Wire

@Suite struct JoinTests {
    @Test func theFirstJoinLoadsTheRoomAndGetsItWhole() {
        var scene = Scene()
        let json = Scene.element("e")
        scene.database.commit("e", json)
        scene.join("ann", 1)
        #expect(scene.asked() == [.room("r")])
        #expect(scene.take() == [])
        scene.answer()
        var rules = JSONWriter()
        RulesTable.defaults.encode(into: &rules)
        let joined = JoinReply.Joined(
            position: Position(epoch: "epoch-1", seq: 1), content: .elements(Array("[\(json)]".utf8)),
            members: [.named("ann")], session: "s-ann.good", sid: "s-ann", sessionEpoch: 1, number: 0,
            rules: rules.bytes, awareness: [[.init(ShownAwareness(sid: "s-ann"), of: 1)]])
        let reply = JoinReply(request: 1, room: "r", connection: 1, outcome: .success(joined))
        #expect(scene.take() == [.send(.joinReply(reply), to: Scene.g1)])
    }

    @Test func aLaterJoinAsksNothingAndOthersHearOfIt() {
        var scene = Scene()
        scene.member("ann", 1)
        scene.join("ben", 2, at: Scene.g2)
        #expect(scene.asked() == [])
        let actions = scene.take()
        guard case .send(.joinReply(let reply), let gateway) = actions.first else {
            Issue.record("no answer")
            return
        }
        #expect(gateway == Scene.g2)
        #expect([GatewayRecord.joinReply(reply)].joined.first?.members == [.named("ann"), .named("ben")])
        let news = Presence(room: "r", hasJoined: true, member: .named("ben"), except: 2)
        #expect(
            actions.dropFirst() == [.broadcast(.presence(news), to: [Scene.g1, Scene.g2], except: nil)])
    }

    @Test func aSecondConnectionOfAUserIsNoNewMember() {
        var scene = Scene()
        scene.member("ann", 1)
        scene.join("ann", 2)
        let records = scene.taken(by: Scene.g1)
        #expect(records.joined.first?.members == [.named("ann")])
        #expect(records.presence == [])
        scene.member("ben", 3)
        scene.leave(1)
        #expect(scene.taken(by: Scene.g1).presence == [])
        scene.leave(2)
        #expect(scene.taken(by: Scene.g1).presence == ["-ann"])
    }

    @Test func theNewestConnectionDecidesHowItsUserIsCalled() {
        var scene = Scene()
        scene.member("ann", 1)
        scene.member("ben", 9)
        let (old, new) = (Member.named("ann"), Member(user: "ann", name: "Annie", color: "#000"))
        func told(_ renamed: MemberRenamed?) -> [Presence] {
            if let renamed { scene.rename(renamed) }
            return scene.take().compactMap { action in
                guard case .broadcast(.presence(let presence), _, _) = action else { return nil }
                return presence
            }
        }
        scene.send(Join(request: 77, room: "r", connection: 2, member: new, session: ""), from: Scene.g2)
        #expect(told(nil) == [Presence(room: "r", hasJoined: true, member: new, except: 2)])
        // The older one says nothing new when it joins once more, or is named again.
        scene.join("ann", 1)
        #expect(told(nil) == [])
        // With a new token it does.
        #expect(told(MemberRenamed(room: "r", connection: 1, member: old)) == [])
        let other = Member(user: "ann", name: "Ann B.", color: "#000")
        let news = Presence(room: "r", hasJoined: true, member: other, except: 0)
        #expect(told(MemberRenamed(room: "r", connection: 1, member: other)) == [news])
        #expect(told(MemberRenamed(room: "r", connection: 1, member: other)) == [])
        // Nobody is renamed by a connection that is another user's, or not here.
        for (room, connection) in [("r", 9), ("r", 5), ("other", 1)] as [(Identifier, UInt64)] {
            #expect(told(MemberRenamed(room: room, connection: connection, member: new)) == [])
        }
        scene.join("eve", 4)
        #expect(scene.taken(by: Scene.g1).joined.first?.members == [other, .named("ben"), .named("eve")])
    }

    @Test func joiningTwiceIsFine() {
        var scene = Scene()
        scene.member("ben", 9)
        scene.member("ann", 1)
        scene.join("ann", 1)
        let records = scene.taken(by: Scene.g1)
        #expect(records.joined.count == 1)
        #expect(records.presence == [])
        scene.leave(1)
        #expect(scene.taken(by: Scene.g1).presence == ["-ann"])
        scene.leave(1)
        #expect(scene.take() == [])
    }

    /// A shard that moves to another fan-out and back while joins wait, as both start: the gateway says that the
    /// connection leaves, and asks again.
    @Test func whoLeftWhileJoiningAndCameBackStays() {
        var scene = Scene(isReady: false)
        let join = Join(request: 1, room: "r", connection: 1, member: .named("ann"), session: "")
        scene.send(join, from: Scene.g1)
        scene.leave(1)
        scene.send(join, from: Scene.g1)
        scene.identify()
        scene.answer()
        #expect(scene.taken(by: Scene.g1).joined.count == 1)
        scene.commit()
        #expect(scene.taken(by: Scene.g1).seqs == [1])
    }

    /// The same, where the other fan-out has answered: a second session would hide what the connection shows.
    @Test func whoJoinedElsewhereMeanwhileIsNotAnsweredAgain() {
        var scene = Scene(isReady: false)
        scene.join("ann", 1)
        scene.interest([], seq: 0)
        scene.interest([("ann", 1)], seq: 0)
        scene.identify()
        scene.answer()
        #expect(scene.taken(by: Scene.g1).joined.isEmpty)
        scene.commit()
        #expect(scene.taken(by: Scene.g1).seqs == [1])
    }

    /// A join still waits when its connection leaves and joins once more: only the later one is answered.
    @Test func anEarlierJoinDoesNotEndALaterOne() {
        var scene = Scene()
        scene.member("ben", 9)
        scene.join("ann", 1, session: "s-ann.good")
        scene.leave(1)
        scene.join("ann", 1, session: "s-ann.good")
        for epoch: UInt32 in 2...3 {
            scene.answerClaim(of: "ann", with: .claim(.granted(sessionEpoch: epoch, number: 0)))
        }
        #expect(scene.taken(by: Scene.g1).joined.map(\.sessionEpoch) == [3])
        #expect(scene.fanout.rooms.connectionCount(in: "r") == 2)
    }

    /// The database could answer two claims of one session in either order, and the session would be that of a connection
    /// that is gone.
    @Test func claimsOfASessionFollowEachOtherInTheOrderOfJoins() {
        var scene = Scene()
        scene.member("ben", 9)
        for connection: UInt64 in 1...3 { scene.join("ann", connection, session: "s-ann.good") }
        scene.join("eve", 4, session: "s-eve.good")
        #expect(scene.claims() == ["s-ann", "s-eve"])
        scene.answerClaim(of: "ann", with: .claim(.granted(sessionEpoch: 2, number: 0)))
        #expect(scene.claims() == ["s-eve", "s-ann"])
        // It failed, and is still the first one.
        scene.answerClaim(of: "ann", with: .failed)
        #expect(scene.claims() == ["s-eve"])
        scene.pass(1000)
        for sessionEpoch: UInt32 in 3...4 {
            #expect(scene.claims() == ["s-eve", "s-ann"])
            scene.answerClaim(of: "ann", with: .claim(.granted(sessionEpoch: sessionEpoch, number: 0)))
        }
        #expect(scene.claims() == ["s-eve"])
        #expect(scene.taken(by: Scene.g1).joined.map(\.sessionEpoch) == [2, 3, 4])
    }

    /// A join that was sent twice is answered first, and its copy refused: the database went away in between.
    @Test func whoLeavesIsGoneWhateverBecomesOfAnotherJoin() {
        var scene = Scene()
        scene.member("ben", 9, at: Scene.g2)
        scene.member("ann", 1)
        scene.join("ann", 1, session: "s-ann.good")
        scene.leave(1)
        #expect(scene.taken(by: Scene.g2).presence == ["-ann"])
        scene.pass(6000)
        #expect(scene.taken(by: Scene.g1).refusals.map(\.code) == [.unavailable])
        #expect(scene.fanout.rooms.connectionCount(in: "r") == 1)
    }

    /// A shard that moves away and back while a join waits, and then away for good.
    @Test func whoIsNamedNoMoreIsGone() {
        var scene = Scene(isReady: false)
        scene.join("ann", 1)
        scene.leave(1)
        scene.interest([("ann", 1)], seq: 0)
        scene.interest([], seq: 0)
        scene.identify()
        scene.answer()
        #expect(scene.taken(by: Scene.g1).joined.isEmpty)
        scene.commit()
        #expect(scene.taken(by: Scene.g1).seqs == [])
        #expect(scene.fanout.rooms.count == 0)
    }

    @Test func updatesDuringTheLoadFollowTheAnswer() {
        var scene = Scene()
        scene.database.commit()
        let snapshot = scene.database.snapshot(of: "r")
        scene.join("ann", 1)
        scene.commit()
        scene.commit()
        scene.answer(with: .room(snapshot))
        let records = scene.taken(by: Scene.g1)
        // All that came meanwhile is in the answer: nothing stands between it and the stream.
        #expect(records.joined.first?.position.seq == 3)
        #expect(records.seqs == [])
        scene.commit()
        #expect(scene.taken(by: Scene.g1).seqs == [4])
    }

    @Test func resumeGivesExactlyWhatWasMissed() {
        var scene = Scene()
        scene.member("ben", 9)
        for _ in 1...5 { scene.commit() }
        _ = scene.take()
        for from in 0...5 {
            scene.join("ann", 1, resume: Position(epoch: "epoch-1", seq: UInt64(from)))
            let joined = scene.taken(by: Scene.g1).joined.first
            let updates = scene.database.log(of: "r").dropFirst(from).map(\.update)
            #expect(joined?.content == .updates(updates))
            #expect(joined?.position.seq == 5)
        }
        #expect(scene.asked() == [])
    }

    @Test func resumeReachesIntoTheLog() {
        var scene = Scene()
        for _ in 1...5 { scene.database.commit() }
        scene.join("ann", 1, resume: Position(epoch: "epoch-1", seq: 2))
        scene.answer(with: .room(scene.database.snapshot(of: "r")))
        #expect(scene.asked() == [.roomLog("r", after: 2, limit: 1000)])
        // The room goes on while the log is read.
        scene.member("ben", 9)
        scene.join("ann", 1, resume: Position(epoch: "epoch-1", seq: 2))
        #expect(scene.taken(by: Scene.g1).joined == [])
        let rows = scene.database.log(of: "r").dropFirst(2).map(\.update)
        scene.commit()
        scene.answer(with: .log(rows))
        let joined = scene.taken(by: Scene.g1).joined.first
        #expect(joined?.content == .updates(scene.database.log(of: "r").dropFirst(2).map(\.update)))
        #expect(joined?.position.seq == 6)
    }

    @Test(arguments: [
        Position(epoch: "epoch-1", seq: 6), Position(epoch: "epoch-2", seq: 5), Position(epoch: "epoch-1", seq: .max),
    ])
    func aPlaceThatDoesNotExistGetsTheWholeRoom(position: Position) {
        var scene = Scene()
        scene.member("ben", 9)
        for _ in 1...5 { scene.commit() }
        _ = scene.take()
        scene.join("ann", 1, resume: position)
        if position.epoch == "epoch-1" {
            // It may exist: this fan-out may be behind, until the shard's head is read.
            scene.pass(1000)
            #expect(scene.taken(by: Scene.g1).joined == [])
            scene.answer()
            scene.pass(250)
        }
        let joined = scene.taken(by: Scene.g1).joined.first
        #expect(joined?.content == .elements(Array("[\(Scene.element("e"))]".utf8)))
        #expect(joined?.position == Position(epoch: "epoch-1", seq: 5))
    }

    /// The app was connected to a gateway that another fan-out served, and has seen more than this one.
    @Test func aPlaceAheadOfTheRoomWaitsForIt() {
        var scene = Scene()
        scene.member("ben", 9)
        scene.commit()
        _ = scene.take()
        scene.join("ann", 1, resume: Position(epoch: "epoch-1", seq: 2))
        #expect(scene.taken(by: Scene.g1).joined == [])
        scene.commit()
        let joined = scene.taken(by: Scene.g1).joined.first
        #expect(joined?.content == .updates([]) && joined?.position.seq == 2)
    }

    /// The update that its app has seen was published to the former fan-out, and the database takes its time.
    @Test func aJoinIsNotAnsweredFromBeforeWhatItsAppHasSeenHoweverSlowTheDatabaseIs() {
        var scene = Scene()
        scene.member("ben", 9)
        scene.commit()
        scene.database.commit()
        scene.send(Join(request: 90, room: "r", connection: 2, member: .named("ann"), after: 2), from: Scene.g1)
        scene.pass(4000)
        #expect(scene.taken(by: Scene.g1).joined == [])
        scene.answer()
        scene.pass(250)
        #expect(scene.taken(by: Scene.g1).joined == [], "the head has it, the log was not read yet")
        scene.answer()
        #expect(scene.taken(by: Scene.g1).joined.map(\.position.seq) == [2])
    }

    @Test func aJoinAheadOfTheRoomIsRefusedWhenNothingCanBeProven() {
        var scene = Scene()
        scene.member("ben", 9)
        scene.commit()
        _ = scene.take()
        scene.send(Join(request: 90, room: "r", connection: 2, member: .named("ann"), after: 2), from: Scene.g1)
        for _ in 1...20 {
            #expect(scene.taken(by: Scene.g1).refusals == [])
            scene.pass(250)
            scene.failAll()
        }
        #expect(scene.taken(by: Scene.g1).refusals.map(\.code) == [.unavailable])
    }

    @Test func aLogThatNoLongerReachesBackGivesTheWholeRoom() {
        var scene = Scene()
        for _ in 1...5 { scene.database.commit() }
        for seq in UInt64(1)...3 { scene.database.forget(seq, in: "r") }
        scene.join("ann", 1, resume: Position(epoch: "epoch-1", seq: 2))
        scene.answer()
        #expect(scene.taken(by: Scene.g1).joined.first?.content == .elements(Array("[\(Scene.element("e"))]".utf8)))
    }

    @Test func tooMuchMissedGivesTheWholeRoom() {
        var limits = FanoutLimits()
        limits.replay = 3
        var scene = Scene(limits: limits)
        scene.member("ben", 9)
        for _ in 1...5 { scene.commit() }
        _ = scene.take()
        scene.join("ann", 1, resume: Position(epoch: "epoch-1", seq: 1))
        #expect(scene.asked() == [])
        #expect(scene.taken(by: Scene.g1).joined.first?.content == .elements(Array("[\(Scene.element("e"))]".utf8)))
        scene.join("ann", 1, resume: Position(epoch: "epoch-1", seq: 2))
        #expect(
            scene.taken(by: Scene.g1).joined.first?.content
                == .updates(scene.database.log(of: "r").dropFirst(2).map(\.update)))
    }

    @Test func whoLeavesBeforeTheAnswerIsNotLetIn() {
        var scene = Scene()
        scene.member("ben", 9, at: Scene.g2)
        scene.join("ann", 1, session: "s-ann.good")
        scene.leave(1)
        scene.answer()
        #expect(scene.take().count == 1 && scene.fanout.rooms.connectionCount(in: "r") == 1)
        scene.commit()
        #expect(scene.taken(by: Scene.g1) == [])
    }

    @Test func aJoinSentTwiceIsAnsweredOnceWhileItWaits() {
        var scene = Scene()
        let join = Join(request: 5, room: "r", connection: 1, member: .named("ann"))
        var actions: [FanoutAction] = []
        scene.fanout.joinReceived(join, from: Scene.g1, at: scene.now, into: &actions)
        scene.fanout.joinReceived(join, from: Scene.g1, at: scene.now, into: &actions)
        #expect(scene.fanout.waitingCount == 1)
        #expect(actions.count == 1)
    }

    @Test func nothingIsAskedBeforeTheDatabaseIsKnown() {
        var scene = Scene(isReady: false)
        scene.join("ann", 1, session: "s-ann.good")
        scene.join("eve", 2, session: "forged")
        #expect(scene.asked() == [])
        scene.identify()
        scene.answer()
        let records = scene.taken(by: Scene.g1)
        #expect(records.joined.map(\.sid) == ["s-ann"])
        #expect(records.refusals.map(\.code) == [.sessionExpired])
    }

    @Test func joinsWaitForTheDatabaseOnlySoLong() {
        var limits = FanoutLimits()
        limits.joinDeadline = .seconds(2)
        var scene = Scene(limits: limits)
        scene.join("ann", 1)
        scene.failAll()
        #expect(scene.take() == [])
        scene.pass(250)
        #expect(scene.asked().contains(.room("r")))
        scene.failAll()
        scene.pass(2000)
        #expect(scene.taken(by: Scene.g1).refusals.map(\.code) == [.unavailable])
        #expect(scene.fanout.waitingCount == 0)
        // Nobody needs the room any more.
        scene.failAll()
        #expect(scene.fanout.rooms.count == 0)
    }

    /// The deadline of a join that was answered means nothing to the room that is still being loaded.
    @Test func roomBeingLoadedOutlivesARefusedJoin() {
        var scene = Scene()
        scene.join("eve", 1, session: "forged")
        #expect(scene.taken(by: Scene.g1).refusals.map(\.code) == [.sessionExpired])
        scene.pass(6_000)
        #expect(scene.fanout.rooms.count == 1)
        scene.answer()
        #expect(scene.fanout.rooms.count == 0)
    }

    @Test func loadedRoomsGoOnWithoutTheDatabase() {
        var scene = Scene()
        scene.member("ann", 1)
        scene.pass(250)
        scene.failAll()
        scene.commit()
        #expect(scene.taken(by: Scene.g1).seqs == [1])
        scene.join("ben", 2)
        #expect(scene.taken(by: Scene.g1).joined.count == 1)
    }

    @Test func tooManyWaitingJoinsAreRefused() {
        var limits = FanoutLimits()
        limits.waiting = 2
        var scene = Scene(limits: limits)
        for connection in UInt64(1)...3 { scene.join("ann", connection) }
        #expect(scene.taken(by: Scene.g1).refusals.map(\.code) == [.busy])
    }

    @Test func aRoomThatNoLinkCarriesIsRefusedWithTheWayOn() {
        var limits = FanoutLimits()
        limits.roomBytes = 1
        var scene = Scene(limits: limits)
        scene.join("ann", 1)
        scene.answer()
        let refusals = scene.taken(by: Scene.g1).refusals
        #expect(refusals.map(\.code) == [.tooLarge] && refusals.first?.field == "roomId")
        #expect(refusals.first?.message.contains("operator") == true)
    }

    @Test func tooManyRoomsAreRefused() {
        var limits = FanoutLimits()
        limits.rooms = 1
        var scene = Scene(limits: limits)
        scene.member("ann", 1, room: "one")
        scene.join("ann", 1, room: "two")
        #expect(scene.taken(by: Scene.g1).refusals.map(\.code) == [.busy])
        scene.read("two", request: 9)
        #expect(
            scene.take() == [.send(.roomState(RoomState(request: 9, room: "two", outcome: .unavailable)), to: Scene.g1)]
        )
    }
}

@Suite struct SessionTests {
    /// A slow database is not asked what nobody waits for, and the claim is not raised for nobody.
    @Test func theClaimOfAJoinThatWasRefusedIsNotWanted() throws {
        var limits = FanoutLimits()
        limits.joinDeadline = .seconds(2)
        var scene = Scene(limits: limits)
        scene.member("ben", 9)
        scene.join("ann", 1, session: "s-ann.good")
        #expect(scene.asked() == [.claim(room: "r", sid: "s-ann", user: "ann")])
        let tag = try #require(scene.questions.first?.tag)
        #expect(scene.fanout.isWanted(tag))
        scene.pass(2000)
        #expect(scene.taken(by: Scene.g1).refusals.map(\.code) == [.unavailable])
        #expect(!scene.fanout.isWanted(tag))
        scene.answer(with: .failed)
        #expect(scene.claims() == [] && !scene.fanout.isWanted(tag))
    }

    @Test func aGoodSecretIsClaimedBeforeTheAnswer() {
        var scene = Scene()
        for _ in 1...7 { scene.database.commit() }
        scene.member("ann", 1, at: Scene.g1)
        scene.join("ann", 2, at: Scene.g2, session: "s-ann.good")
        #expect(scene.asked() == [.claim(room: "r", sid: "s-ann", user: "ann")])
        #expect(scene.take() == [])
        scene.answer()
        let actions = scene.take()
        let claimed = SessionClaimed(room: "r", sid: "s-ann", sessionEpoch: 2)
        #expect(actions.first == .broadcast(.sessionClaimed(claimed), to: [Scene.g1, Scene.g2], except: nil))
        guard case .send(.joinReply(let reply), _) = actions.last, case .success(let joined) = reply.outcome else {
            Issue.record("no answer")
            return
        }
        #expect(joined.sessionEpoch == 2)
        #expect(joined.number == 7)
        #expect(joined.session == "s-ann.good")
    }

    @Test func aBadSecretIsToldAtOnce() {
        var scene = Scene()
        scene.join("eve", 1, session: "s-ann.good")
        #expect(scene.taken(by: Scene.g1).refusals.map(\.code) == [.sessionExpired])
        #expect(scene.fanout.waitingCount == 0)
        scene.answer()
        #expect(scene.fanout.rooms.count == 0)
    }

    @Test func aSessionThatTheDatabaseRefusesHasExpired() {
        var scene = Scene()
        scene.database.endSession("s-ann", in: "r")
        scene.join("ann", 1, session: "s-ann.good")
        scene.answer()
        #expect(scene.taken(by: Scene.g1).refusals.map(\.code) == [.sessionExpired])
        #expect(scene.fanout.rooms.count == 0)
    }

    @Test func aClaimThatFailedIsTriedAgain() {
        var scene = Scene()
        scene.member("ben", 9)
        scene.join("ann", 1, session: "s-ann.good")
        scene.failAll()
        #expect(scene.asked() == [])
        scene.pass(250)
        scene.answer()
        #expect(scene.taken(by: Scene.g1).joined.map(\.sessionEpoch) == [2])
    }

    /// Its answer was lost, or is still on its way, perhaps while its gateway has turned to another fan-out and back.
    @Test(arguments: ["", "s-ann.good"], [false, true])
    func aJoinThatComesAgainGetsTheSameSession(_ secret: String, wasAway: Bool) {
        var scene = Scene(isReady: false)
        let issued = Atomic(0)
        scene.identify(
            SessionIssuer(
                issue: { _, _ in
                    let number = issued.add(1, ordering: .relaxed).newValue
                    return (Identifier("s-\(number)"), "secret-\(number)")
                }, verify: { secret, _, _ in secret == "s-ann.good" ? "s-ann" : nil }))
        scene.member("ben", 9, at: Scene.g2)
        let join = Join(request: 90, room: "r", connection: 1, member: .named("ann"), session: secret)
        scene.send(join, from: Scene.g1)
        scene.answer()
        let first = scene.taken(by: Scene.g1).joined
        if wasAway { scene.interest([], seq: 0) }
        scene.send(join, from: Scene.g1)
        #expect(scene.asked() == [])
        let second = scene.taken(by: Scene.g1).joined
        #expect(first.count == 1 && second.map(\.sid) == first.map(\.sid))
        #expect(
            second.map(\.session) == first.map(\.session) && second.map(\.sessionEpoch) == first.map(\.sessionEpoch))
    }

    /// It was held up by a cut link, and its connection may be gone long since.
    @Test(arguments: [false, true])
    func aJoinThatComesAgainTakesNoSessionBack(hasLeft: Bool) {
        var scene = Scene()
        let join = Join(request: 90, room: "r", connection: 1, member: .named("ann"), session: "s-ann.good")
        scene.send(join, from: Scene.g1)
        scene.answer()
        scene.join("ann", 2, at: Scene.g2, session: "s-ann.good")
        scene.answer()
        if hasLeft { scene.leave(1) }
        _ = scene.take()
        scene.send(join, from: Scene.g1)
        #expect(scene.asked() == [])
        #expect(scene.taken(by: Scene.g1).refusals.map(\.code) == [.unavailable])
        scene.join("ann", 1, session: "s-ann.good")
        scene.answer()
        #expect(scene.taken(by: Scene.g1).joined.map(\.sessionEpoch) == [4], "its app asks once more")
    }

    @Test func theOlderConnectionsPreviewsAreDropped() {
        var scene = Scene()
        scene.member("ann", 1)
        scene.member("ben", 9, at: Scene.g2)
        scene.commit()
        scene.join("ann", 2, session: "s-ann.good")
        scene.answer()
        _ = scene.take()
        scene.preview(.by("s-ann", 1))
        #expect(scene.taken(by: Scene.g2).previews == [])
        #expect(scene.fanout.counters.previewsDropped[.superseded] == 1)
        scene.preview(.by("s-ann", 2))
        #expect(scene.taken(by: Scene.g2).previews.count == 1)
    }
}

extension Scene {
    /// The sessions whose claims wait for an answer.
    fileprivate mutating func claims() -> [Identifier] {
        self.asked().compactMap { if case .claim(_, let sid, _) = $0 { sid } else { nil } }
    }

    /// Answers the claim of a user's session, and asks what that leads to.
    fileprivate mutating func answerClaim(of user: Identifier, with reply: DatabaseReply) {
        let query = DatabaseRequest.Query.claim(room: "r", sid: Identifier("s-\(user)"), user: user)
        guard let index = self.asked().firstIndex(of: query) else { return }
        self.answer(index, with: reply)
        self.pass(0)
    }
}
