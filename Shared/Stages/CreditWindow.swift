package import Wire

/// The sender's side of a credited lane: how much it may still send on a link.
///
/// A lane is open as long as one commit and one byte may go, so the last envelope may exceed the bound by its own size;
/// otherwise a window smaller than one commit would never let it pass.
package struct CreditWindow: Equatable, Sendable {
    private var allowed: CommitCredit?
    private var sent = CommitLoad()

    /// The window of a link that is not up: open, as the link itself accepts nothing.
    package init() {}

    /// True when something may be sent.
    package var isOpen: Bool {
        guard let allowed = self.allowed else { return true }
        return self.sent.commits < allowed.commits && self.sent.bytes < allowed.bytes
    }

    /// The link came up and the receiver greeted: counting starts over.
    package mutating func opened(greeting: [UInt8]) {
        self.allowed = CommitCredit(greeting: greeting)
        self.sent = CommitLoad()
    }

    /// The link went down.
    package mutating func closed() {
        self = CreditWindow()
    }

    /// Counts what was sent.
    package mutating func spend(_ load: CommitLoad) {
        self.sent += load
    }

    /// The receiver allows more. A record that came late and allows less than is allowed already changes nothing.
    package mutating func allow(_ credit: CommitCredit) {
        guard let allowed = self.allowed else { return }
        self.allowed = CommitCredit(
            commits: max(allowed.commits, credit.commits), bytes: max(allowed.bytes, credit.bytes))
    }
}
