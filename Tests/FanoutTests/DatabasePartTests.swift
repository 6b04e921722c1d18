import Testing
import Timing
import Wire

@testable import FanoutCore

@Suite struct OpenQuestionTests {
    private var questions = OpenQuestions()

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

    private mutating func load(at gseq: UInt64) {
        let mark = ShardCursor.Mark(gseq)
        #expect(self.streams.snapshotReceived(mark, of: 0, tag: 1, lastTag: 1, at: self.now) == true)
    }

    @Test mutating func logOfAHoleIsReadOnceAfterItsTime() {
        self.load(at: 5)
        #expect(self.streams.nextLogRead == .never)
        #expect(self.streams.headReceived(ShardCursor.Mark(7), of: 0, at: self.now) == true)
        // Seen again later: its time stays.
        #expect(self.streams.headReceived(ShardCursor.Mark(7), of: 0, at: self.now + .milliseconds(1)) == true)
        let deadline = self.now + self.limits.gapPatience
        #expect(self.streams.nextLogRead == deadline && self.streams.lag == 2)
        #expect(self.streams.popLogReads(at: deadline) == [0])
        #expect(self.streams.popLogReads(at: deadline) == [])
        #expect(self.streams.logRead(of: 0) == .after(5))
        self.streams.logAsked(of: 0, tag: 9)
        #expect(self.streams.logRead(of: 0) == .needless)
        #expect(self.streams.restart(0) == 9)
        #expect(!self.streams.isFollowed(0) && self.streams.logRead(of: 0) == .needless)
    }

    /// The second room's snapshot is newer than what was seen of the shard.
    @Test mutating func aHoleThatASnapshotShowsIsWatched() {
        self.load(at: 5)
        self.load(at: 7)
        #expect(self.streams.isBehind(0) && self.streams.nextLogRead == self.now + self.limits.gapPatience)
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
