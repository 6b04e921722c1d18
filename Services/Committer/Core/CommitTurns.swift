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
        case full
    }

    /// A user's commits. Most users have one, which needs no memory of its own here.
    private struct Line: Sendable {
        /// Nil in a slot that is free.
        var first: PreparedCommit?
        var others: Deque<PreparedCommit> = []
    }

    /// By slot. A commit is too large to be changed inside of a dictionary: each access would allocate, and copy it.
    private var lines: [Line] = []
    private var freeSlots: [Int] = []
    /// The slot of each user with commits.
    private var slots: [Identifier: Int] = [:]
    /// The slots of the users with commits, the next in turn first.
    private var turns: Deque<Int> = []

    var isEmpty: Bool { self.turns.isEmpty }

    /// The earliest arrival; nil when no commit waits.
    var oldestArrival: Instant? { self.lines.lazy.compactMap { $0.first?.arrived }.min() }

    mutating func append(_ commit: PreparedCommit) {
        if let slot = self.slots[commit.user] { return self.lines[slot].others.append(commit) }
        let slot = self.freeSlots.popLast() ?? self.lines.count
        if slot == self.lines.count {
            self.lines.append(Line(first: commit))
        } else {
            self.lines[slot].first = commit
        }
        self.slots[commit.user] = slot
        self.turns.append(slot)
    }

    /// Moves commits out, one of each user in turn, while `judge` takes any.
    mutating func take(into commits: inout Deque<PreparedCommit>, _ judge: (PreparedCommit) -> Verdict) {
        var passed: [Int] = []
        defer { self.turns.prepend(contentsOf: passed) }
        while let slot = self.turns.popFirst() {
            // Moved out, and back if it stays: a commit is large.
            guard let first = self.lines[slot].first.take() else { continue }
            let verdict = judge(first)
            if verdict == .taken {
                commits.append(first)
                if self.nextComes(in: slot, of: first.user) { self.turns.append(slot) }
                continue
            }
            self.lines[slot].first = first
            passed.append(slot)
            if verdict == .full { return }
        }
    }

    mutating func removeAll(where isRemoved: (PreparedCommit) -> Bool) -> [PreparedCommit] {
        var removed: [PreparedCommit] = []
        let former = exchange(&self, with: CommitTurns())
        for line in former.turns.lazy.map({ former.lines[$0] }) {
            for commit in [line.first].compactMap(\.self) + line.others {
                if isRemoved(commit) { removed.append(commit) } else { self.append(commit) }
            }
        }
        return removed
    }

    /// A user's first commit has left. False when it was its last.
    private mutating func nextComes(in slot: Int, of user: Identifier) -> Bool {
        self.lines[slot].first = self.lines[slot].others.popFirst()
        if self.lines[slot].first != nil { return true }
        self.lines[slot].others = []
        self.slots[user] = nil
        self.freeSlots.append(slot)
        return false
    }
}
