import Testing
import Timing
import Wire

@testable import FanoutCore

@Suite struct OpenQuestionTests {
    private var questions = OpenQuestions()
    private var actions: [FanoutAction] = []

    @Test mutating func questionIsAnsweredOnceAndNotAfterItWasWithdrawn() {
        let first = self.questions.ask(.heads, for: .heads, into: &self.actions)
        let second = self.questions.ask(.room("r"), for: .room("r", .load), into: &self.actions)
        #expect(
            self.actions
                == [
                    .read(DatabaseRequest(tag: first, query: .heads)),
                    .read(DatabaseRequest(tag: second, query: .room("r"))),
                ])
        #expect(self.questions.answered(first) == .heads)
        #expect(self.questions.answered(first) == nil)
        self.questions.withdraw(second)
        #expect(self.questions.answered(second) == nil)
    }

    @Test mutating func retriesComeInTheOrderInWhichTheyFailed() {
        self.questions.retry(.load, of: "a", at: .start + .milliseconds(1))
        self.questions.retry(.claim(3), of: "b", at: .start + .milliseconds(2))
        #expect(self.questions.popRetry(at: .start) == nil)
        #expect(self.questions.popRetry(at: .start + .milliseconds(2))?.room == "a")
        #expect(self.questions.nextRetry == .start + .milliseconds(2))
        #expect(self.questions.popRetry(at: .start + .milliseconds(2))?.purpose == .claim(3))
        #expect(self.questions.nextRetry == .never)
    }
}

@Suite struct DatabaseHistoryTests {
    @Test func staleHistoryIsResumedByNobodyUntilItsEpochMoves() {
        var history = DatabaseHistory()
        #expect(!history.isKnown && history.beginMove() == nil)
        #expect(history.follow("one") && !history.follow("one"))
        let position = history.position(at: 3)
        #expect(history.isResumable(position) && history.beginMove() == nil)
        history.replaced()
        #expect(!history.isResumable(position) && history.includes(position))
        #expect(history.beginMove() == "one" && history.beginMove() == nil)
        // Failed: it is asked again.
        history.endMove()
        #expect(history.beginMove() == "one")
        history.endMove()
        #expect(history.follow("two") && history.beginMove() == nil)
        #expect(!history.isResumable(position) && history.isResumable(history.position(at: 3)))
    }
}

@Suite struct ShardStreamTests {
    private var streams: ShardStreams
    private let limits: FanoutLimits
    private let now = Instant.start + .seconds(1)

    init() {
        var limits = FanoutLimits()
        limits.catchUp = 2
        self.limits = limits
        self.streams = ShardStreams(limits: limits)
    }

    private mutating func load(at gseq: UInt64, tag: UInt64 = 1, lastTag: UInt64 = 1) {
        let mark = ShardCursor.Mark(gseq)
        #expect(self.streams.snapshotReceived(mark, of: 0, tag: tag, lastTag: lastTag, at: self.now) == true)
    }

    @Test mutating func logOfAHoleIsReadOnceAfterItsTime() {
        self.load(at: 5)
        #expect(self.streams.nextLogRead == .never)
        #expect(self.streams.headReceived(ShardCursor.Mark(7), of: 0, at: self.now) == true)
        // Seen again later: its time stays.
        #expect(self.streams.headReceived(ShardCursor.Mark(7), of: 0, at: self.now + .milliseconds(1)) == true)
        let deadline = self.now + self.limits.holePatience
        #expect(self.streams.nextLogRead == deadline && self.streams.lag == 2)
        #expect(self.streams.popLogReads(at: deadline) == [0])
        #expect(self.streams.popLogReads(at: deadline) == [])
        #expect(self.streams.logRead(of: 0) == .after(5))
        self.streams.logAsked(of: 0, tag: 9)
        #expect(self.streams.logRead(of: 0) == .needless)
        #expect(self.streams.restart(0) == 9)
        #expect(!self.streams.isFollowed(0) && self.streams.logRead(of: 0) == .needless)
    }

    @Test mutating func logThatCouldNotBeReadIsReadAWhileLater() {
        self.load(at: 5)
        #expect(self.streams.headReceived(ShardCursor.Mark(6), of: 0, at: self.now) == true)
        let deadline = self.now + self.limits.holePatience
        #expect(self.streams.popLogReads(at: deadline) == [0])
        #expect(self.streams.logRead(of: 0) == .after(5))
        self.streams.logAsked(of: 0, tag: 9)
        self.streams.logAnswered(of: 0)
        self.streams.logFailed(of: 0, at: deadline)
        #expect(self.streams.nextLogRead == deadline + self.limits.retryDelay)
    }

    @Test mutating func aHoleThatIsTooWideIsNotRead() {
        self.load(at: 5)
        #expect(self.streams.headReceived(ShardCursor.Mark(8), of: 0, at: self.now) == true)
        #expect(self.streams.logRead(of: 0) == .tooFar)
    }

    /// The second room's snapshot is newer than what was seen of the shard.
    @Test mutating func aHoleThatASnapshotShowsIsWatched() {
        self.load(at: 5)
        self.load(at: 7)
        #expect(self.streams.isBehind(0) && self.streams.nextLogRead == self.now + self.limits.holePatience)
    }

    /// Between an older snapshot and the cursor lies what nobody has seen for that room.
    @Test mutating func snapshotAskedForBeforeTheCursorBeganMayTakeItBack() {
        self.load(at: 9, tag: 2, lastTag: 3)
        self.load(at: 6, tag: 3, lastTag: 3)
        #expect(self.streams.stands(0, at: 6))
        self.load(at: 4, tag: 4, lastTag: 4)
        #expect(self.streams.stands(0, at: 6))
    }

    @Test mutating func headBehindThePolledCursorIsAReplacedHistory() {
        self.load(at: 5)
        self.streams.startPolling(at: self.now)
        #expect(self.streams.nextPoll == self.now)
        self.streams.headsAsked(at: self.now)
        #expect(self.streams.nextPoll == .never)
        self.streams.headsAnswered()
        #expect(self.streams.nextPoll == self.now + self.limits.headInterval)
        #expect(self.streams.headReceived(ShardCursor.Mark(5), of: 0, at: self.now) == true)
        #expect(self.streams.headReceived(ShardCursor.Mark(4), of: 0, at: self.now) == false)
    }

    @Test mutating func nothingIsProvenOfAShardThatIsNotFollowed() {
        self.streams.headsAsked(at: self.now)
        self.streams.headsRead()
        #expect(self.streams.provenAt(0) == nil)
        self.load(at: 5)
        #expect(self.streams.provenAt(0) == self.now)
        _ = self.streams.restart(0)
        #expect(self.streams.provenAt(0) == nil)
    }
}

@Suite struct GatewayRosterTests {
    private let graceEnd = Instant.start + .seconds(5)

    @Test func gatewayIsForgottenAfterItsGraceUnlessItCameBack() {
        var roster = GatewayRoster()
        #expect(roster.linkDown(to: Scene.g1, graceEndsAt: self.graceEnd) == false)
        for gateway in [Scene.g2, Scene.g1] {
            roster.linkUp(to: gateway, graceEndsAt: self.graceEnd)
            #expect(roster.nextDeadline == (gateway == Scene.g2 ? .never : self.graceEnd))
            #expect(roster.linkDown(to: gateway, graceEndsAt: self.graceEnd) == true)
        }
        // A link that comes back starts the grace again: its members must still be named.
        roster.linkUp(to: Scene.g2, graceEndsAt: self.graceEnd + .seconds(1))
        #expect(roster.endGraces(at: self.graceEnd) == [Scene.g1])
        roster.entered("r", by: Scene.g1)
        roster.forgetIfDown(Scene.g1)
        #expect(roster.rooms(of: Scene.g1) == [] && !roster.isUp(Scene.g1))
        #expect(roster.endGraces(at: self.graceEnd + .seconds(1)) == [Scene.g2])
        roster.entered("r", by: Scene.g2)
        roster.forgetIfDown(Scene.g2)
        #expect(roster.isUp(Scene.g2) && roster.rooms(of: Scene.g2) == ["r"] && roster.nextDeadline == .never)
    }
}
