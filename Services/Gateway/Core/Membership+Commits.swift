import Auth
import Wire

// Every event comes through here, commits twice. A connection and a membership hold a dozen references; to read one field
// of an optional one copies them all. What is asked of them is asked where they stand, therefore by mutating functions.

extension ClientConnection {
    /// True while the first join of the room is under way.
    mutating func isJoining(_ room: Identifier) -> Bool {
        self.memberships[room]?.tellIsJoining() ?? false
    }

    /// Refuses a commit that its user may not make.
    mutating func checkCommit(in room: Identifier) throws(Refusal) {
        guard self.memberships.contains(room) else {
            throw Refusal(.forbidden, "The connection has not joined this room.", field: "roomId")
        }
        guard self.identity.may(.commit, in: room) else {
            throw Refusal(.forbidden, "The token gives no right to change this room.", field: "roomId")
        }
    }

    /// Refuses a commit that cannot be taken now.
    /// - Parameter bound: how many may be without a result.
    mutating func checkTurn(in room: Identifier, isNumbered: Bool, bound: Int) throws(Refusal) {
        try self.memberships[room]?.checkTurn(isNumbered: isNumbered, bound: bound - self.delayed.count)
        guard !self.isLeaving else {
            throw Refusal(.unavailable, "This gateway is about to stop; connect again.", retryAfterMs: 100)
        }
    }

    /// True when a commit need not wait for the rate limit.
    mutating func takesCommit(at now: UInt64) -> Bool {
        self.delayed.isEmpty && self.commitBucket.take(at: now)
    }

    /// An accepted commit under its number, counted as one without a result; nil when the app is not there any more.
    /// - Parameter number: the app's; nil: the gateway gives one.
    mutating func commit(_ accepted: AcceptedCommit, number: UInt64?, gateway: Identifier) -> Commit? {
        guard let place = self.memberships[accepted.room]?.nextPlace(number) else { return nil }
        return Commit(
            room: accepted.room, session: place.stream, claim: place.claim, number: place.number,
            isNumberedByApp: number != nil, user: self.identity.member.user, connection: self.id, gateway: gateway,
            gestures: accepted.gestures, edit: accepted.edit)
    }
}

extension Membership {
    fileprivate mutating func tellIsJoining() -> Bool { self.isJoining }

    fileprivate mutating func checkTurn(isNumbered: Bool, bound: Int) throws(Refusal) {
        if isNumbered, !self.ownsSession {
            throw Refusal(.sessionExpired, "Another connection has taken the session over; join again.")
        }
        guard self.unacknowledged < bound else {
            throw Refusal(.busy, "Too many commits of this session have no result yet.", retryAfterMs: 200)
        }
    }

    /// Where a commit stands: in the stream that the app numbers, or as the next one in the gateway's own.
    fileprivate mutating func nextPlace(_ number: UInt64?) -> (stream: Identifier, claim: UInt32, number: UInt64) {
        self.unacknowledged += 1
        if let number { return (SessionKey.app(sid: self.sid), self.claim, number) }
        self.lastNumber += 1
        return (self.ownStream, self.claim, self.lastNumber)
    }

    /// Closes the gesture that a commit ends: the one named, the one under way, or one of its own. Newer previews of
    /// the element wait for the commit's result.
    mutating func closeGesture(_ explicit: UInt64?, on element: Identifier) -> UInt64 {
        let gesture = self.elements[element, default: ElementTrack()].close(explicit, orNext: self.lastGesture + 1)
        self.lastGesture = max(self.lastGesture, gesture)
        return gesture
    }

    /// A commit has its result, or never will have one here. True when a preview waited for it that may go now.
    /// - Parameter seq: the number that it got; nil when it was not applied.
    mutating func settle(_ commit: Commit, seq: UInt64?) -> Bool {
        guard self.owns(commit.session) else { return false }
        self.unacknowledged = max(0, self.unacknowledged - 1)
        var mayGo = false
        for ended in commit.gestures where self.elements[ended.element]?.settle(seq: seq) == true { mayGo = true }
        return mayGo
    }

    /// Ends the gesture under way on an element without a commit; nil when there is none.
    mutating func abandonGesture(on element: Identifier) -> UInt64? {
        guard let gesture = self.elements[element]?.openGesture else { return nil }
        self.elements[element]?.openGesture = nil
        self.elements[element]?.held = nil
        return gesture
    }

    /// True for the streams of its session, those of former owners included.
    private func owns(_ stream: Identifier) -> Bool {
        stream == self.ownStream || stream == self.sid || SessionKey.sid(of: stream) == self.sid
    }
}

extension ElementTrack {
    fileprivate mutating func close(_ explicit: UInt64?, orNext next: UInt64) -> UInt64 {
        let gesture = explicit ?? self.openGesture ?? next
        if let open = self.openGesture, open <= gesture { self.openGesture = nil }
        if let held = self.held, held.gesture <= gesture { self.held = nil }
        self.pendingCommits += 1
        return gesture
    }

    fileprivate mutating func settle(seq: UInt64?) -> Bool {
        self.pendingCommits = max(0, self.pendingCommits - 1)
        if let seq { self.lastSeq = max(self.lastSeq, seq) }
        return self.held != nil && self.pendingCommits == 0
    }
}
