import DequeModule
import Timing
import Wire

/// The commits of a shard that wait for a batch: each user's in order of arrival, users in turns. Whoever sends a hundred
/// commits delays another user's by one batch, not by a hundred.
///
/// Commits of different users may change places: nobody sees another user's commit before it is written.
struct CommitTurns: Sendable {
    /// The verdict on a user's first commit.
    enum Verdict {
        /// It leaves, and the user's next turn is after all others.
        case taken
        /// It waits for a later batch, and the user keeps its turn.
        case notYet
        /// The batch is full.
        case full
    }

    /// A user's commits. Most users have one, which needs no memory of its own here.
    private struct Line: Sendable {
        var first: PreparedCommit
        var others: Deque<PreparedCommit> = []
    }

    private var lines: [Identifier: Line] = [:]
    /// The users with commits, the next in turn first.
    private var users: Deque<Identifier> = []

    /// True when no commit waits.
    var isEmpty: Bool { self.users.isEmpty }

    /// The earliest arrival; nil when no commit waits.
    var oldestArrival: Instant? { self.lines.values.lazy.map(\.first.arrived).min() }

    /// Adds a commit behind those of its user.
    mutating func append(_ commit: PreparedCommit) {
        guard self.lines[commit.user] == nil else {
            self.lines[commit.user]?.others.append(commit)
            return
        }
        self.lines[commit.user] = Line(first: commit)
        self.users.append(commit.user)
    }

    /// Moves commits out, one of each user in turn, while `judge` takes any.
    mutating func take(into commits: inout Deque<PreparedCommit>, _ judge: (PreparedCommit) -> Verdict) {
        var passed: [Identifier] = []
        defer { self.users.prepend(contentsOf: passed) }
        while let user = self.users.popFirst() {
            guard let first = self.lines[user]?.first else { continue }
            switch judge(first) {
            case .taken:
                commits.append(first)
                if self.removeFirst(of: user) { self.users.append(user) }
            case .notYet:
                passed.append(user)
            case .full:
                passed.append(user)
                return
            }
        }
    }

    /// Removes and returns the commits that meet a condition.
    mutating func removeAll(where isRemoved: (PreparedCommit) -> Bool) -> [PreparedCommit] {
        var removed: [PreparedCommit] = []
        let all = exchange(&self.lines, with: [:])
        for user in exchange(&self.users, with: []) {
            guard let line = all[user] else { continue }
            for commit in [line.first] + line.others {
                if isRemoved(commit) { removed.append(commit) } else { self.append(commit) }
            }
        }
        return removed
    }

    /// Removes a user's first commit. False when it was its last.
    private mutating func removeFirst(of user: Identifier) -> Bool {
        guard let next = self.lines[user]?.others.popFirst() else {
            self.lines[user] = nil
            return false
        }
        self.lines[user]?.first = next
        return true
    }
}
