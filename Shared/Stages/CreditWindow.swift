package import Wire

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
