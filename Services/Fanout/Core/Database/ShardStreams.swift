internal import Timing
internal import Wire

/// How far the shards' orders of commits are known, and when the database must be asked for more: for all heads in an
/// interval, and for the log of a shard with a hole.
///
///     in step ──something beyond the next──► hole ──patience is over──► log is read ──rows──► in step
///                                                                          └──too far, or no rows──► restarted
struct ShardStreams: Sendable {
    /// What an update is to its shard.
    enum Arrival: Equatable, Sendable {
        /// It belongs to the history that is followed.
        case followed
        /// The shard is past it: it came by the log, or it is of a former primary.
        case passed
        /// It does not continue the chain: of a former primary, or the first of another history. The next heads show
        /// which.
        case stray
        /// It fills a hole, and what came before does not continue it: the history was replaced.
        case replaced
    }

    /// How a hole can be closed.
    enum LogRead: Equatable, Sendable {
        /// There is none, or the log is being read.
        case needless
        /// By the log's rows after this number.
        case after(UInt64)
        /// Not at all: it is too wide.
        case tooFar
    }

    private struct Stream: Sendable {
        var cursor = ShardCursor()
        /// The last question's tag when the cursor began.
        var tagAtBirth: UInt64 = 0
        /// Where the cursor was when the heads were last asked for.
        var polledCursor: UInt64?
        /// When the log is read if the hole is still there.
        var readAt: Instant?
        /// The read of the log that is under way.
        var readTag: UInt64?
    }

    private var streams = [Stream](repeating: Stream(), count: Shard.count)
    /// No shard's log is to be read before.
    private(set) var nextLogRead = Instant.never
    /// When the heads are asked for; nil before the database was reached.
    private var pollAt: Instant?
    private var isPolling = false
    /// When the heads were asked for last, and when those that have come.
    private var askedAt = Instant.start
    private var readAsOf: Instant?

    /// How far the shard that is furthest behind is behind, in updates.
    var lag: UInt64 { self.streams.reduce(0) { max($0, $1.cursor.lag) } }

    /// True when the shard is known to reach further than what was seen without a hole.
    func isBehind(_ shard: Int) -> Bool { self.streams[shard].cursor.isBehind }

    /// True when the shard's cursor stands there.
    func stands(_ shard: Int, at gseq: UInt64) -> Bool { self.streams[shard].cursor.at == gseq }

    /// False when the shard has no rooms in memory, or all of them are being loaded.
    func isFollowed(_ shard: Int) -> Bool { self.streams[shard].cursor.at != nil }

    /// As of when all of the shard's updates are proven to have been seen; nil while one is missing, or while nobody looks.
    func provenAt(_ shard: Int) -> Instant? {
        self.isFollowed(shard) && !self.isBehind(shard) ? self.readAsOf : nil
    }

    // MARK: What was seen

    /// A published update of a shard that is followed.
    mutating func updateReceived(_ update: Update) -> Arrival {
        let mark = ShardCursor.Mark(update)
        if let at = self.streams[Int(update.shard)].cursor.at, mark.gseq < at { return .passed }
        guard self.streams[Int(update.shard)].cursor.continues(with: mark) else { return .stray }
        return self.streams[Int(update.shard)].cursor.saw(mark) ? .followed : .replaced
    }

    /// A row of the log. Returns false when the history was replaced.
    mutating func rowReceived(_ row: Update) -> Bool {
        self.streams[Int(row.shard)].cursor.saw(ShardCursor.Mark(row))
    }

    /// The shard's head as the database has it. Returns false when it contradicts what was seen: it is behind where
    /// the cursor was when the heads were asked for, or has another chain.
    mutating func headReceived(_ head: ShardCursor.Mark, of shard: Int) -> Bool {
        head.gseq >= self.streams[shard].polledCursor ?? 0 && self.streams[shard].cursor.headIs(head)
    }

    /// A room's snapshot, made when its shard stood at `mark`. Returns false when the history was replaced.
    /// - Parameters:
    ///   - tag: that of the question for it.
    ///   - lastTag: that of the newest question.
    mutating func snapshotReceived(_ mark: ShardCursor.Mark, of shard: Int, tag: UInt64, lastTag: UInt64) -> Bool {
        let isBirth = !self.isFollowed(shard)
        let births = self.streams[shard].cursor.births
        let wasAskedBefore = tag <= self.streams[shard].tagAtBirth
        if isBirth { self.streams[shard].tagAtBirth = lastTag }
        return self.streams[shard].cursor.loaded(at: mark, births: wasAskedBefore ? births - 1 : births)
    }

    /// The shard has no more rooms in memory. A log read under way is still waited for.
    mutating func release(_ shard: Int) {
        self.streams[shard].cursor.forget()
        self.streams[shard].readAt = nil
    }

    /// All rooms of the shard are loaded again. Returns the tag of the log read under way, which became pointless.
    mutating func restart(_ shard: Int) -> UInt64? {
        self.release(shard)
        return exchange(&self.streams[shard].readTag, with: nil)
    }

    // MARK: Reads of the log

    /// Sets when the log is read, if there is a hole and no such time yet.
    mutating func watchHole(of shard: Int, readingAt deadline: Instant) {
        guard self.isBehind(shard), self.streams[shard].readAt == nil, self.streams[shard].readTag == nil
        else { return }
        self.setLogRead(of: shard, at: deadline)
    }

    mutating func setLogRead(of shard: Int, at deadline: Instant) {
        self.streams[shard].readAt = deadline
        self.nextLogRead = min(self.nextLogRead, deadline)
    }

    /// The shards whose late updates did not come in time.
    mutating func popLogReads(at now: Instant) -> [Int] {
        guard self.nextLogRead <= now else { return [] }
        let due = self.streams.indices.filter { self.streams[$0].readAt.map { $0 <= now } ?? false }
        for shard in due { self.streams[shard].readAt = nil }
        self.nextLogRead = self.streams.reduce(.never) { min($0, $1.readAt ?? .never) }
        return due
    }

    /// How to close the shard's hole now. Above `farthest` updates it is too wide.
    mutating func logRead(of shard: Int, farthest: UInt64) -> LogRead {
        self.streams[shard].readAt = nil
        guard let after = self.streams[shard].cursor.at, self.isBehind(shard), self.streams[shard].readTag == nil
        else { return .needless }
        return self.streams[shard].cursor.lag > farthest ? .tooFar : .after(after)
    }

    mutating func logAsked(of shard: Int, tag: UInt64) {
        self.streams[shard].readTag = tag
    }

    mutating func logAnswered(of shard: Int) {
        self.streams[shard].readTag = nil
    }

    // MARK: Polls of the heads

    /// When the heads are asked for, ``Instant/never`` before the database was reached and while they are.
    var nextPoll: Instant { self.isPolling ? .never : self.pollAt ?? .never }

    mutating func startPolling(at now: Instant) {
        self.pollAt = now
    }

    /// The heads are asked for, and next at `next`.
    mutating func headsAsked(at now: Instant, next: Instant) {
        self.isPolling = true
        self.askedAt = now
        self.pollAt = next
        for shard in self.streams.indices { self.streams[shard].polledCursor = self.streams[shard].cursor.at }
    }

    mutating func headsAnswered() {
        self.isPolling = false
    }

    /// All heads that were asked for are known.
    mutating func headsRead() {
        self.readAsOf = self.askedAt
    }
}
