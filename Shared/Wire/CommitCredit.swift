/// How much a receiver of commits lets its sender send on one link, counted from the moment when the link came up. It
/// only grows: what was allowed is never taken back.
///
///     commits u64 │ bytes u64
///
/// A receiver says the first one in its greeting, so a sender knows from the start how far it may go. One that greets
/// with nothing is of a release before credits: it takes what comes.
public struct CommitCredit: WireRecord, Equatable, Sendable {
    public static let kind = RecordKind.commitCredit

    /// Commits, in number.
    public var commits: UInt64
    /// Bytes of their records' fields.
    public var bytes: UInt64

    /// So many commits of so many bytes.
    public init(commits: UInt64, bytes: UInt64) {
        self.commits = commits
        self.bytes = bytes
    }

    public func encode(into writer: inout ByteWriter) {
        writer.integer(self.commits)
        writer.integer(self.bytes)
    }

    public init(from reader: inout ByteReader) {
        self.commits = reader.integer()
        self.bytes = reader.integer()
    }
}

extension CommitCredit {
    /// The greeting that says it: an envelope with this one record.
    var greeting: [UInt8] {
        var envelope = EnvelopeWriter()
        envelope.append(self)
        return envelope.take()
    }

    /// What a greeting says; nil when it says nothing of credits.
    init?(greeting: [UInt8]) {
        let credit = greeting.withUnsafeBytes { bytes -> CommitCredit? in
            guard var reader = try? EnvelopeReader(bytes) else { return nil }
            while let (kind, fields) = try? reader.next() {
                if kind == .commitCredit { return try? EnvelopeReader.decode(CommitCredit.self, fields) }
            }
            return nil
        }
        guard let credit else { return nil }
        self = credit
    }
}

/// The sender's side of a lane of commits: how much it may still send on a link.
///
/// A lane is open as long as one commit and one byte may go, so the last envelope may go over the bound by its own
/// size; a window smaller than one commit would otherwise never let it pass.
public struct CreditWindow: Equatable, Sendable {
    private var allowed: CommitCredit?
    private var sent = CommitCredit(commits: 0, bytes: 0)

    /// The window of a link that is not up: open, for the link itself takes nothing.
    public init() {}

    /// True when something may be sent.
    public var isOpen: Bool {
        guard let allowed = self.allowed else { return true }
        return self.sent.commits < allowed.commits && self.sent.bytes < allowed.bytes
    }

    /// The link came up and the receiver greeted: everything begins anew.
    public mutating func opened(greeting: [UInt8]) {
        self.allowed = CommitCredit(greeting: greeting)
        self.sent = CommitCredit(commits: 0, bytes: 0)
    }

    /// The link went down.
    public mutating func closed() {
        self = CreditWindow()
    }

    /// So much was sent.
    public mutating func spend(commits: Int, bytes: Int) {
        self.sent.commits &+= UInt64(clamping: commits)
        self.sent.bytes &+= UInt64(clamping: bytes)
    }

    /// The receiver allows more. A record that came late and allows less than is allowed already changes nothing.
    public mutating func allow(_ credit: CommitCredit) {
        guard let allowed = self.allowed else { return }
        self.allowed = CommitCredit(
            commits: max(allowed.commits, credit.commits), bytes: max(allowed.bytes, credit.bytes))
    }
}

/// The receiver's side of a lane of commits: what it allows one sender on one link. At most a window's worth of the
/// sender's commits are unfinished at a time.
public struct CreditGrant: Equatable, Sendable {
    private let window: CommitCredit
    private var finished = CommitCredit(commits: 0, bytes: 0)
    private var told = CommitCredit(commits: 0, bytes: 0)

    /// A grant for a link that just came up; the sender knows the window from the greeting.
    public init(window: CommitCredit) {
        self.window = window
    }

    /// What the receiver of such a window greets with.
    public static func greeting(window: CommitCredit) -> [UInt8] { window.greeting }

    /// So much of what the sender sent needs no memory here any more.
    public mutating func finish(commits: Int, bytes: Int) {
        self.finished.commits &+= UInt64(clamping: commits)
        self.finished.bytes &+= UInt64(clamping: bytes)
    }

    /// What to tell the sender now; nil while it is not worth a message: less than half a window came back since the
    /// last one. A sender that used all it was told of is told again when all of that is finished, at the latest.
    public var due: CommitCredit? {
        let commits = self.finished.commits &- self.told.commits
        let bytes = self.finished.bytes &- self.told.bytes
        guard commits >= max(1, self.window.commits / 2) || bytes >= max(1, self.window.bytes / 2) else { return nil }
        return CommitCredit(
            commits: self.finished.commits &+ self.window.commits, bytes: self.finished.bytes &+ self.window.bytes)
    }

    /// The sender was told what is ``due``.
    public mutating func tell() {
        self.told = self.finished
    }
}
