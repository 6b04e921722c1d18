package import Wire

/// The receiver's side of a credited lane: the credit granted to one sender on one link. At most a window of the
/// sender's commits is unfinished at any time.
package struct CreditGrant: Equatable, Sendable {
    private let window: CommitCredit
    private var finished = CommitCredit(commits: 0, bytes: 0)
    private var announced = CommitCredit(commits: 0, bytes: 0)

    /// The grant of a link that just came up; the sender knows the window from the greeting.
    package init(window: CommitCredit) {
        self.window = window
    }

    /// Counts finished commits of the sender, which no longer occupy memory here.
    package mutating func finish(_ load: CommitLoad) {
        self.finished.commits &+= UInt64(clamping: load.commits)
        self.finished.bytes &+= UInt64(clamping: load.bytes)
    }

    /// The credit to announce now; nil while less than half a window has come back since the last announcement. A
    /// sender that has exhausted its credit gets an announcement when all of its commits are finished, at the latest.
    package mutating func takeDue() -> CommitCredit? {
        let commits = self.finished.commits &- self.announced.commits
        let bytes = self.finished.bytes &- self.announced.bytes
        guard commits >= max(1, self.window.commits / 2) || bytes >= max(1, self.window.bytes / 2) else { return nil }
        return self.announce()
    }

    /// The whole credit, to announce now: the last announcement may be lost.
    package mutating func announce() -> CommitCredit {
        self.announced = self.finished
        return CommitCredit(
            commits: self.finished.commits &+ self.window.commits, bytes: self.finished.bytes &+ self.window.bytes)
    }
}

/// The sender's side of a credited lane: the credit left on a link.
///
/// A lane is open while credit for at least one commit and one byte is left, so the last envelope may exceed the bound
/// by its own size. Otherwise a commit larger than the window could never be sent.
package struct CreditWindow: Equatable, Sendable {
    private var allowed: CommitCredit?
    private var sent = CommitLoad()

    /// The window of a link that came up with the receiver's greeting; always open when that names no credit.
    package init(greeting: [UInt8]) {
        self.allowed = CommitCredit(greeting: greeting)
    }

    /// True while the lane is open.
    package var isOpen: Bool {
        guard let allowed = self.allowed else { return true }
        return self.sent.commits < allowed.commits && self.sent.bytes < allowed.bytes
    }

    /// Counts sent commits.
    package mutating func spend(_ load: CommitLoad) {
        self.sent += load
    }

    /// Takes back what was spent on commits that were not sent after all.
    package mutating func refund(_ load: CommitLoad) {
        self.sent.commits -= load.commits
        self.sent.bytes -= load.bytes
    }

    /// The receiver grants more credit. A late record with less than the current grant is ignored.
    package mutating func allow(_ credit: CommitCredit) {
        guard let allowed = self.allowed else { return }
        self.allowed?.commits = max(allowed.commits, credit.commits)
        self.allowed?.bytes = max(allowed.bytes, credit.bytes)
    }
}
