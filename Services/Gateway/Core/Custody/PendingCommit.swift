import Wire

/// Names a commit: what PostgreSQL remembers it by.
struct CustodyKey: Hashable {
    let room: Identifier
    let session: Identifier
    let number: UInt64
}

extension CustodyKey {
    init(_ commit: Commit) {
        self.init(room: commit.room, session: commit.session, number: commit.number)
    }
}

/// A commit in this gateway's custody: kept until its result is there.
struct PendingCommit {
    /// Who waits for the result.
    enum Origin {
        /// An app's event.
        case app(Slot, connection: UInt64, ackID: UInt64?, event: String)
        /// An HTTP request.
        case http(UInt64)
    }

    let commit: Commit
    let origin: Origin
    /// True once the app was told that there is no result yet; the gateway goes on for the sake of its own numbers.
    var wasGivenUp = false
    /// How many copies of the same number may be on their way that an older owner of the session sent.
    var olderCopies = 0
    let acceptedAt: UInt64
    let deadline: UInt64
    var sendAgainAt: UInt64
    var attempts = 0
    /// True while it waits for credit.
    var isHeld = false
    /// What it counts among all that is in custody, bytes.
    let weight: Int

    init(commit: Commit, origin: Origin, at now: UInt64, deadline: UInt64) {
        self.commit = commit
        self.origin = origin
        self.acceptedAt = now
        self.deadline = deadline
        self.sendAgainAt = now
        self.weight = commit.edit.weight
    }

    /// Which way it goes the next time: by turns through the coalescer and around it.
    var nextPath: CommitPath { self.attempts.isMultiple(of: 2) ? .coalescer : .committer }

    /// When something is to be done about it: it is sent again, or its app is told that there is no result.
    var dueAt: UInt64 { self.wasGivenUp ? self.sendAgainAt : min(self.sendAgainAt, self.deadline) }

    /// Counts one more attempt and says which way it goes.
    mutating func attempt(at now: UInt64) -> CommitPath {
        defer {
            self.attempts += 1
            self.sendAgainAt = now + Self.pause(afterAttempts: self.attempts)
        }
        return self.nextPath
    }

    /// How long after each attempt the commit is sent again, ms: 1, 2, 4, then every 8 s.
    private static func pause(afterAttempts attempts: Int) -> UInt64 {
        UInt64(1000) << UInt64(min(3, max(0, attempts - 1)))
    }
}
