internal import Timing
internal import Wire

/// How far the shards' orders of commits are known, and when the database must be asked for more: for all heads in an
/// interval, and for the log of a shard with a gap.
///
///     in step ──something beyond the next──► gap ──patience is over──► log is read ──rows──► in step
///                                                                          └──too far, or no rows──► restarted
///
/// A gap has a time at which the log is read from the moment in which it is seen, whatever shows it: an update, a head
/// or a snapshot.
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
        /// It fills a gap, and what came before does not continue it: the history was replaced.
        case replaced
    }

    /// How a gap can be closed.
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
        /// When the log is read if the gap is still there.
        var readAt: Instant?
        /// The read of the log that is under way.
        var readTag: UInt64?
    }

    private let limits: FanoutLimits
    private var streams = [Stream](repeating: Stream(), count: Shard.count)
    /// No shard's log is to be read before.
    private(set) var nextLogRead = Instant.never
    /// When the heads are asked for; nil before the database was reached.
    private var pollAt: Instant?
    private var isPolling = false
    /// When the heads were asked for last, and when those that have come.
    private var askedAt = Instant.start
    private var readAsOf: Instant?

    init(limits: FanoutLimits) { self.limits = limits }

    /// How far the shard that is furthest behind is behind, in updates.
    var lag: UInt64 { self.streams.reduce(0) { max($0, $1.cursor.lag) } }

    /// True when the shard is known to reach further than what was seen without a gap.
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
    mutating func updateReceived(_ update: Update, at now: Instant) -> Arrival {
        let (shard, mark) = (Int(update.shard), ShardCursor.Mark(update))
        if let at = self.streams[shard].cursor.at, mark.gseq < at { return .passed }
        guard self.streams[shard].cursor.continues(with: mark) else { return .stray }
        guard self.streams[shard].cursor.saw(mark) else { return .replaced }
        self.watchHole(of: shard, at: now)
        return .followed
    }

    /// A row of the log, which is read on until there is no gap. Returns false when the history was replaced.
    mutating func rowReceived(_ row: Update) -> Bool {
        self.streams[Int(row.shard)].cursor.saw(ShardCursor.Mark(row))
    }

    /// The shard's head as the database has it. Returns false when it contradicts what was seen: it is behind where
    /// the cursor was when the heads were asked for, or has another chain.
    mutating func headReceived(_ head: ShardCursor.Mark, of shard: Int, at now: Instant) -> Bool {
        guard head.gseq >= self.streams[shard].polledCursor ?? 0, self.streams[shard].cursor.headIs(head) else {
            return false
        }
        self.watchHole(of: shard, at: now)
        return true
    }

    /// A room's snapshot, made when its shard stood at `mark`. Returns false when the history was replaced.
    /// - Parameters:
    ///   - tag: that of the question for it.
    ///   - lastTag: that of the newest question.
    mutating func snapshotReceived(
        _ mark: ShardCursor.Mark, of shard: Int, tag: UInt64, lastTag: UInt64, at now: Instant
    ) -> Bool {
        let isBirth = !self.isFollowed(shard)
        let births = self.streams[shard].cursor.births
        let wasAskedBefore = tag <= self.streams[shard].tagAtBirth
        if isBirth { self.streams[shard].tagAtBirth = lastTag }
        guard self.streams[shard].cursor.loaded(at: mark, births: wasAskedBefore ? births - 1 : births) else {
            return false
        }
        self.watchHole(of: shard, at: now)
        return true
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

    /// Sets when the log is read, if there is a gap and no such time yet. Late updates may fill it until then.
    private mutating func watchHole(of shard: Int, at now: Instant) {
        guard self.isBehind(shard), self.streams[shard].readAt == nil, self.streams[shard].readTag == nil
        else { return }
        self.setLogRead(of: shard, at: now + self.limits.gapPatience)
    }

    private mutating func setLogRead(of shard: Int, at deadline: Instant) {
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

    /// How to close the shard's gap now.
    mutating func logRead(of shard: Int) -> LogRead {
        self.streams[shard].readAt = nil
        guard let after = self.streams[shard].cursor.at, self.isBehind(shard), self.streams[shard].readTag == nil
        else { return .needless }
        return self.streams[shard].cursor.lag > self.limits.catchUp ? .tooFar : .after(after)
    }

    mutating func logAsked(of shard: Int, tag: UInt64) {
        self.streams[shard].readTag = tag
    }

    mutating func logAnswered(of shard: Int) { self.streams[shard].readTag = nil }

    /// The log could not be read: it is asked again a while later.
    mutating func logFailed(of shard: Int, at now: Instant) {
        self.setLogRead(of: shard, at: now + self.limits.retryDelay)
    }

    // MARK: Polls of the heads

    /// When the heads are asked for, ``Instant/never`` before the database was reached and while they are.
    var nextPoll: Instant { self.isPolling ? .never : self.pollAt ?? .never }

    mutating func startPolling(at now: Instant) { self.pollAt = now }

    /// The heads are asked for, and again in an interval.
    mutating func headsAsked(at now: Instant) {
        self.isPolling = true
        self.askedAt = now
        self.pollAt = now + self.limits.headInterval
        for shard in self.streams.indices { self.streams[shard].polledCursor = self.streams[shard].cursor.at }
    }

    mutating func headsAnswered() { self.isPolling = false }

    /// All heads that were asked for are known.
    mutating func headsRead() { self.readAsOf = self.askedAt }
}
