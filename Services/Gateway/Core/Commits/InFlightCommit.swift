import Timing
import Wire

/// Names a commit: what PostgreSQL remembers it by.
struct InFlightKey: Hashable {
    let room: Identifier
    let session: Identifier
    let number: UInt64
}

extension InFlightKey {
    init(_ commit: Commit) {
        self.init(room: commit.room, session: commit.session, number: commit.number)
    }
}

/// A commit that this gateway keeps until its result is there.
struct InFlightCommit {
    /// What waits for the result.
    enum Origin {
        case app(EventOrigin, connection: UInt64)
        case http(UInt64)
    }

    let commit: Commit
    let origin: Origin
    /// Events that sent the same number again before its result: they get the same answer.
    private(set) var copies: [Origin] = []
    /// How many copies of the same number may be in flight that an older owner of the session sent.
    var olderCopies = 0
    let acceptedAt: Instant
    /// When whoever waits is answered that there is no result: a request, or an app that numbers, sends it again then. An app
    /// that does not number could not, so its commit is followed to its result.
    let deadline: Instant
    var sendAgainAt: Instant
    private(set) var attempts = 0
    /// Its place among those that wait for credit, while it does.
    var heldPlace: HeldCommits.Place?
    /// What it counts among all that is in flight, bytes.
    let weight: Int

    /// Events that may wait for one commit's result, the first one included.
    static let maxWaiting = 16

    init(commit: Commit, origin: Origin, at now: Instant, within span: Nanoseconds) {
        self.commit = commit
        self.origin = origin
        self.acceptedAt = now
        self.deadline = commit.isFollowed(from: origin) ? .never : now + span
        self.sendAgainAt = now
        self.weight = commit.edit.weight
    }

    /// Refuses one more event that would wait for the result.
    func requireCapacity() throws(Refusal) {
        guard self.copies.count + 1 < Self.maxWaiting else {
            throw Refusal(.busy, "Too many copies of this commit wait for its result.", retryAfterMs: 200)
        }
    }

    mutating func addCopy(_ origin: Origin) throws(Refusal) {
        try self.requireCapacity()
        self.copies.append(origin)
    }

    /// It replaces a copy that an older owner of the session sent: whoever waited for that one waits for this one.
    mutating func inherit(_ older: InFlightCommit) {
        self.copies = older.copies + [older.origin]
        self.olderCopies = older.olderCopies + older.attempts
    }

    /// True for a commit of an app that does not number: its gateway goes on until there is a result.
    var isFollowed: Bool { self.deadline == .never }

    /// When something is to be done about it: it is sent again, or its app is answered that there is no result.
    var dueAt: Instant { min(self.sendAgainAt, self.deadline) }

    mutating func attempt(at now: Instant) {
        self.attempts += 1
        self.sendAgainAt = now + Self.pause(afterAttempts: self.attempts)
    }

    mutating func attemptFailed() { self.attempts -= 1 }

    /// How long after each attempt the commit is sent again: 1, 2, 4, then every 8 s.
    private static func pause(afterAttempts attempts: Int) -> Nanoseconds {
        .seconds(1 << UInt64(min(3, max(0, attempts - 1))))
    }
}

extension Commit {
    fileprivate func isFollowed(from origin: InFlightCommit.Origin) -> Bool {
        if case .app = origin { !self.isNumberedByApp } else { false }
    }

    /// The ends of the gestures that it ends, applied or not.
    /// - Parameter connection: see ``GestureEnd/connection``.
    func gestureEnds(by connection: UInt64 = 0) -> [GestureEnd] {
        self.endedGestures.map { ended in
            GestureEnd(
                room: self.room, element: ended.element, user: self.user, sid: SessionKey.sid(of: self.session),
                gesture: ended.gesture, connection: connection)
        }
    }
}
