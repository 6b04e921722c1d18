import DequeModule
import Timing
import Wire

/// A connection in one room: its session there, and what it does with the room's elements.
///
///     joining: events of the room wait ──answer──► joined ──another owner claims the session──► previews and numbered
///        ▲                                           │                                         commits end
///        └──────────────────joins again──────────────┘
struct Membership {
    private let room: Identifier
    private let connection: UInt64
    private let user: Identifier
    /// The request of the join in flight; nil when there is none. Joins of a room are sent one after the other.
    private(set) var join: UInt64?
    /// Events of this room that came since that join, the next joins and leaves included.
    var waiting = WaitingEvents()
    private(set) var options: StreamOptions
    private(set) var sid: Identifier = ""
    /// The stream of commits that the gateway numbers: `sid` and `claim`.
    private var ownStream: Identifier = ""
    private(set) var sessionEpoch: UInt32 = 0
    /// False when another connection took the session over.
    private var ownsSession = true
    /// The highest number of the app's own that was accepted here.
    private var highestNumber: UInt64 = 0
    /// The lowest number that a rate refused and that was not accepted since: a higher one would leave a gap.
    private var refusedNumber: UInt64?
    /// The highest gesture seen or given.
    private var lastGesture: UInt64 = 0
    private(set) var elements: [Identifier: ElementTrack] = [:]
    /// How many of them have a gesture under way, and hold a preview back.
    private var trackCounts = ElementTrack.Counts()
    /// The elements whose previews the rate limit alone holds back, in the order in which that began, each once. One that
    /// waits no more keeps its place until it is the first.
    private var queue: Deque<Identifier> = []
    private var awareness: AwarenessTrack
    /// True when the rate limit has let awareness go after the last preview that waited.
    private var wasAwarenessLast = false
    /// The number of elements beyond which those at rest are forgotten.
    private var trimAt = Self.maxTracks
    /// Its elements and bytes when they were counted last.
    private(set) var counted = (tracks: 0, bytes: 0)

    /// Elements that are remembered; beyond it those at rest are forgotten.
    static let maxTracks = 256
    /// Elements that may be moved at the same time; previews of further ones are dropped.
    static let maxOpenTracks = 1024

    init(of connection: UInt64, _ user: Identifier, in room: Identifier, options: StreamOptions, since now: Instant) {
        (self.room, self.connection, self.user) = (room, connection, user)
        self.options = options
        self.awareness = AwarenessTrack(since: now)
    }

    /// About the bytes that are kept for what it does. Those of a membership in which nothing happens are about a kilobyte,
    /// which is bounded by the number of connections and of their rooms.
    var heldBytes: Int {
        self.elements.count * ElementTrack.bytes + self.trackCounts.open * ElementTrack.gestureBytes
            + self.trackCounts.held * ElementTrack.previewBytes + self.awareness.bytes
            + self.waiting.heldBytes
    }

    /// Counts its elements and bytes. Each part knows how many it has, so that nothing is looked through; and all are
    /// counted, so that a change that was not counted is put right by the next one.
    /// - Returns: how many more there are than the last time.
    mutating func recount() -> (tracks: Int, bytes: Int) {
        let former = self.counted
        self.counted = (self.elements.count, self.heldBytes)
        return (self.counted.tracks - former.tracks, self.counted.bytes - former.bytes)
    }

    // MARK: The join

    var hasJoined: Bool { self.sessionEpoch > 0 }

    mutating func startJoin(_ request: UInt64) { self.join = request }

    mutating func joined(_ joined: JoinReply.Joined, options: StreamOptions) {
        self.options = options
        if self.sid != joined.sid || self.sessionEpoch != joined.sessionEpoch { self.startSession(joined) }
        self.awareness.sendAgain()
    }

    /// The join in flight has its answer.
    /// - Returns: the events that waited for it.
    mutating func endJoin() -> WaitingEvents {
        self.join = nil
        return exchange(&self.waiting, with: WaitingEvents())
    }

    /// Another answer to the same join has raised the claim.
    mutating func sessionRenewed(_ joined: JoinReply.Joined) {
        if self.sid == joined.sid, self.sessionEpoch < joined.sessionEpoch { self.startSession(joined) }
    }

    mutating func sessionClaimed(_ claimed: SessionClaimed) {
        if self.sid == claimed.sid, self.sessionEpoch < claimed.sessionEpoch { self.ownsSession = false }
    }

    /// - Throws: while the session has another owner.
    private func checkOwnership() throws(Refusal) {
        guard self.ownsSession else {
            throw Refusal(.sessionExpired, "Another connection has taken the session over; join again.")
        }
    }

    /// The session's public name.
    /// - Throws: while the session has another owner.
    func ownSession() throws(Refusal) -> Identifier {
        try self.checkOwnership()
        return self.sid
    }

    /// Begins a session, or goes on with one as its newest owner.
    private mutating func startSession(_ joined: JoinReply.Joined) {
        if self.sid != joined.sid { self.awareness.reset() }
        self.sid = joined.sid
        self.ownStream = SessionKey.gateway(sid: joined.sid, sessionEpoch: joined.sessionEpoch)
        self.sessionEpoch = joined.sessionEpoch
        self.ownsSession = true
        self.highestNumber = 0
        self.refusedNumber = nil
        self.lastGesture = self.firstGesture
        self.elements = [:]
        self.trackCounts = ElementTrack.Counts()
        self.queue = []
    }

    /// Below the first number that the gateway gives to a gesture: each owner of a session has a range of its own, so that
    /// a resumed session never repeats a closed gesture.
    private var firstGesture: UInt64 { UInt64(self.sessionEpoch > 0 ? self.sessionEpoch - 1 : 0) * 1_000_000 }

    // MARK: Commits

    /// The stream that the app numbers, if a commit of that number may be in flight; nil for a new number.
    /// - Throws: while the session has another owner.
    func stream(ifSent number: UInt64) throws(Refusal) -> Identifier? {
        try self.checkOwnership()
        // An earlier owner may have sent any number.
        return self.sessionEpoch > 1 || number <= self.highestNumber ? SessionKey.app(sid: self.sid) : nil
    }

    /// A rate does not allow the commit of that number now. One that went before, and is repeated, leaves no gap.
    mutating func rateRefused(_ number: UInt64) {
        if number > self.highestNumber { self.refusedNumber = min(number, self.refusedNumber ?? number) }
    }

    /// Refuses a number behind one that a rate refused. It costs nothing: an app that sends several at once would spend on the
    /// later ones what the first one waits for, again and again.
    func requireNoGap(before number: UInt64) throws(Refusal) {
        guard let refusedNumber, number > refusedNumber else { return }
        throw Refusal(.gap, "A commit before this one is missing.", expected: refusedNumber)
    }

    /// The stream of a commit with that number of the app's; without one it is the gateway's own.
    mutating func stream(of number: UInt64?) -> Identifier {
        guard let number else { return self.ownStream }
        if number == self.refusedNumber { self.refusedNumber = nil }
        self.highestNumber = max(self.highestNumber, number)
        return SessionKey.app(sid: self.sid)
    }

    /// A commit has its result, or never will have one here. True when a preview waited for it that may go now.
    /// - Parameter seq: the number that it got; nil when it was not applied.
    mutating func settle(_ commit: Commit, seq: UInt64?) -> Bool {
        // Each claim starts with new tracks.
        guard commit.sessionEpoch == self.sessionEpoch, commit.session == self.ownStream || commit.session == self.sid
        else {
            return false
        }
        var mayGo = false
        for ended in commit.gestures {
            // In place: a track is large.
            guard let index = self.elements.index(forKey: ended.element) else { continue }
            guard self.elements.values[index].settle(seq: seq) else { continue }
            self.joinQueue(ended.element)
            mayGo = true
        }
        return mayGo
    }

    // MARK: Gestures

    /// Closes the gesture that a commit ends on each of its elements: the one named, or the one under way, if there is any.
    /// Newer previews of the elements wait for the commit's result.
    mutating func closeGestures(_ explicit: UInt64?, on elements: ShortList<Identifier>) -> ShortList<EndedGesture> {
        defer { self.trimTracks() }
        return elements.map { element in
            let gesture = self.elements[element, default: ElementTrack()].close(explicit, &self.trackCounts)
            self.lastGesture = max(self.lastGesture, gesture)
            return EndedGesture(element: element, gesture: gesture)
        }
    }

    /// Ends the gesture under way on an element without a commit; nil when there is none.
    mutating func abandonGesture(on element: Identifier) -> GestureEnd? {
        self.elements[element]?.abandon(&self.trackCounts).map {
            GestureEnd(room: self.room, element: element, user: self.user, sid: self.sid, gesture: $0)
        }
    }

    /// The ends of the gestures under way, as the connection goes away.
    var gestureEnds: [GestureEnd] {
        self.elements.compactMap { element, track in
            track.openGesture.map {
                GestureEnd(
                    room: self.room, element: element, user: self.user, sid: self.sid, gesture: $0,
                    connection: self.connection)
            }
        }
    }

    var heldPreviews: [Preview] { self.elements.values.compactMap(\.held) }

    // MARK: Awareness

    /// What others should see of the app's person; without a session when that is another connection's.
    var shownAwareness: ShownAwareness {
        self.ownsSession ? self.awareness.state(sid: self.sid) : ShownAwareness(sid: "")
    }

    /// True while something of it waits for the rate limit, or for the session to be this connection's again.
    var holdsAwareness: Bool { self.awareness.firstHeld != nil }

    var sharesViewport: Bool { self.awareness.sharesViewport }

    var awarenessBytes: Int { self.awareness.bytes }

    /// The app shows something else of its person.
    /// - Parameter isAllowed: whether the rate limit lets it go.
    /// - Returns: what may be sent on now; nil: it waits for the rate limit.
    /// - Throws: while the session has another owner; it is shown once the session is this connection's again.
    mutating func show(
        _ value: AwarenessValue, at now: Instant, isAllowed: @autoclosure () -> Bool
    ) throws(Refusal) -> Awareness? {
        self.awareness.change(value, at: now)
        try self.checkOwnership()
        return isAllowed() ? self.release(value.part, at: now) : nil
    }

    private mutating func release(_ part: AwarenessPart, at now: Instant) -> Awareness {
        self.awareness.release(part, in: self.room, by: self.connection, self.user, sid: self.sid, at: now)
    }

    // MARK: Previews

    /// Stamps what the app shows, and folds it onto what is held back.
    /// - Parameter isAllowed: whether the rate limit lets it go.
    /// - Throws: while the session has another owner.
    mutating func stamp(_ move: Move, isAllowed: @autoclosure () -> Bool) throws(Refusal) -> PreviewStep {
        try self.checkOwnership()
        guard self.elements.count < Self.maxOpenTracks || self.elements[move.element] != nil else { return .dropped }
        defer { self.trimTracks() }
        let step = self.elements[move.element, default: ElementTrack()].stamp(
            Preview(
                room: self.room, element: move.element, connection: self.connection, user: self.user, sid: self.sid,
                gesture: move.gesture ?? 0, after: 0, folded: move.folded, fields: move.progress.fields,
                delta: move.progress.delta, group: move.group),
            lastGesture: &self.lastGesture, &self.trackCounts, isAllowed: isAllowed())
        if case .waitsForRate = step { self.joinQueue(move.element) }
        return step
    }

    /// The gesture of a group to which its app gives no number: the newest under way on one of its elements, or the next.
    func groupGesture(_ moves: [Move]) -> UInt64 {
        moves.lazy.compactMap { self.elements[$0.element]?.openGesture }.max() ?? self.lastGesture + 1
    }

    /// Forgets elements at rest when there are too many. With many in motion it looks again only when there are twice as
    /// many, so that its cost stays in proportion to what the app sends.
    private mutating func trimTracks() {
        guard self.elements.count > self.trimAt else { return }
        self.elements = self.elements.filter { !$0.value.isAtRest }
        self.trimAt = max(Self.maxTracks, 2 * self.elements.count)
    }

    // MARK: What waits for the rate limit

    /// True when something waits for the rate limit alone.
    mutating func waitsForRate() -> Bool {
        self.ownsSession && self.awareness.firstHeld != nil || self.firstInQueue() != nil
    }

    /// Releases what goes next and counts as one message: the awareness or the preview that has waited longest, the latter
    /// with those of its group. The two kinds go by turns: if one of them always went first, an app that sends enough of it
    /// would keep the other waiting for ever, and in one queue a selection would wait for a thousand elements.
    mutating func releaseNext(at now: Instant, into released: inout ReleasedPreviews) {
        let first = self.firstInQueue()
        if self.ownsSession, let part = self.awareness.firstHeld, first == nil || !self.wasAwarenessLast {
            self.wasAwarenessLast = true
            released.awareness.append(self.release(part, at: now))
        } else if let first {
            self.wasAwarenessLast = false
            self.releaseGroup(at: first, into: &released.previews)
        }
    }

    /// Releases the preview of the first element of the queue, and those behind it of the same group: they came in one
    /// message.
    private mutating func releaseGroup(at first: [Identifier: ElementTrack].Index, into released: inout [Preview]) {
        let group = self.elements.values[first].heldGroup
        self.releaseFirst(first, into: &released)
        while group != nil, let next = self.firstInQueue(), self.elements.values[next].heldGroup == group {
            self.releaseFirst(next, into: &released)
        }
    }

    private mutating func releaseFirst(_ first: [Identifier: ElementTrack].Index, into released: inout [Preview]) {
        self.queue.removeFirst()
        // In place: a track is large.
        released.append(self.elements.values[first].release(&self.trackCounts))
    }

    /// The track of the first element of the queue that waits for the rate limit alone; nil when there is none. Those
    /// before it lose their places: they have gone, their gestures have ended, or they wait for a commit's result.
    private mutating func firstInQueue() -> [Identifier: ElementTrack].Index? {
        while let element = self.queue.first {
            if let index = self.elements.index(forKey: element) {
                if self.elements.values[index].mayRelease { return index }
                self.elements.values[index].leaveQueue()
            }
            self.queue.removeFirst()
        }
        // Its storage is given back, too.
        self.queue = []
        return nil
    }

    /// An element's preview waits. If it does so for the rate limit alone it takes the last place, unless it has one.
    private mutating func joinQueue(_ element: Identifier) {
        guard let index = self.elements.index(forKey: element), self.elements.values[index].joinQueue() else { return }
        self.queue.append(element)
    }
}

/// What the rate limit lets go of what waited for it.
struct ReleasedPreviews {
    var previews: [Preview] = []
    var awareness: [Awareness] = []
}
