internal import DequeModule
package import Mesh
internal import Stages
package import Wire

/// The commits on their way through the coalescer to the committers that own their rooms.
///
/// It promises nothing: what cannot be passed on is dropped and counted, since the gateway that has the commit in
/// custody sends it again. For a committer whose link is full, or that has given no more credit, at most `maxWaiting`
/// envelopes wait. Senders get their own credit back only when their commits have left, so no more can wait than a
/// window for each gateway.
package struct CommitRelay {
    /// Why a commit was not passed on.
    package enum Drop: String, CaseIterable, Hashable, Sendable {
        /// No committer is up.
        case unreachable
        /// Too many wait for its committer.
        case full
        /// Its committer went down while it waited.
        case lost
    }

    /// Commits that leave in one envelope.
    private struct Batch {
        var envelope = EnvelopeWriter()
        /// Whose they are.
        var shares: [PeerID: CommitLoad] = [:]
        /// True when the committer's credit was spent for them.
        var isPaid: Bool

        var load: CommitLoad { CommitLoad(commits: Int(self.envelope.count), bytes: self.envelope.fieldBytes) }

        mutating func add(_ fields: ByteReader, from sender: PeerID) {
            self.envelope.append(.commit, fields: fields)
            self.shares[sender, default: CommitLoad()].add(fields.remaining)
        }

        mutating func clear() {
            self.envelope.clear()
            self.shares.removeAll(keepingCapacity: true)
        }
    }

    private struct Outlet {
        /// What is collected in this turn.
        var open = Batch(isPaid: true)
        /// What the link did not accept, or what there was no credit for.
        var waiting: Deque<Batch> = []
        /// How much the committer allows.
        var window = CreditWindow()
    }

    /// An envelope that waits accepts more commits up to about this many bytes; as much may go beyond the credit.
    private static let envelopeBytes = 64 << 10

    private let maxWaiting: Int
    private var outlets: [Outlet]
    /// What left since the last look, by sender.
    private var finished: [PeerID: CommitLoad] = [:]
    /// How many commits left for committers.
    package private(set) var passed = 0
    /// How many commits were not passed on.
    package private(set) var dropped: [Drop: Int] = [:]

    /// A relay to that number of committers, none of which is up.
    package init(committers: Int, maxWaiting: Int) {
        self.maxWaiting = maxWaiting
        self.outlets = (0..<committers).map { _ in Outlet() }
    }

    /// True when nothing waits.
    package var isEmpty: Bool { self.outlets.allSatisfy { $0.waiting.isEmpty && $0.open.envelope.isEmpty } }

    /// The commits that wait.
    package var waiting: CommitLoad {
        self.outlets.reduce(into: CommitLoad()) { sum, outlet in
            for batch in outlet.waiting { sum += batch.load }
        }
    }

    /// How many committers have given no more credit.
    package var closedCount: Int { self.outlets.count { !$0.window.isOpen } }

    // MARK: Committers

    /// A committer came up, and says in its greeting how much it allows.
    package mutating func linkUp(_ committer: Int, greeting: [UInt8]) {
        self.outlets[committer].window.opened(greeting: greeting)
    }

    /// A committer went down: what waits for it is dropped.
    package mutating func linkDown(_ committer: Int) {
        self.outlets[committer].window.closed()
        for batch in self.outlets[committer].waiting { self.drop(batch) }
        self.outlets[committer].waiting.removeAll()
    }

    /// A committer allows more; what waits leaves with ``retry(_:_:)``.
    package mutating func allow(_ credit: CommitCredit, for committer: Int) {
        self.outlets[committer].window.allow(credit)
    }

    // MARK: Commits

    /// Adds a commit as it came. It leaves with the next ``flush(_:)`` if its committer has given credit for it.
    /// - Parameter committer: the owner of its room; nil when none is up.
    package mutating func pass(_ fields: ByteReader, to committer: Int?, from sender: PeerID) {
        guard let committer else { return self.drop(fields, from: sender, .unreachable) }
        if self.outlets[committer].waiting.isEmpty, self.outlets[committer].window.isOpen {
            self.outlets[committer].open.add(fields, from: sender)
            self.outlets[committer].window.spend(CommitLoad(commits: 1, bytes: fields.remaining))
        } else {
            self.wait(fields, from: sender, for: committer)
        }
    }

    private mutating func wait(_ fields: ByteReader, from sender: PeerID, for committer: Int) {
        let count = self.outlets[committer].waiting.count
        let lastHasRoom =
            self.outlets[committer].waiting.last.map {
                !$0.isPaid && $0.envelope.bytes.count < Self.envelopeBytes
            } ?? false
        if lastHasRoom {
            self.outlets[committer].waiting[count - 1].add(fields, from: sender)
        } else if count < self.maxWaiting {
            var batch = Batch(isPaid: false)
            batch.add(fields, from: sender)
            self.outlets[committer].waiting.append(batch)
        } else {
            self.drop(fields, from: sender, .full)
        }
    }

    /// Sends the commits of this turn: one envelope for each committer.
    package mutating func flush(_ send: ([UInt8], Int) -> SendResult) {
        for committer in self.outlets.indices where !self.outlets[committer].open.envelope.isEmpty {
            let batch = self.outlets[committer].open
            switch send(batch.envelope.bytes, committer) {
            case .sent: self.sent(batch)
            case .unroutable: self.drop(batch)
            case .wouldBlock: self.outlets[committer].waiting.prepend(batch)
            }
            self.outlets[committer].open.clear()
        }
    }

    /// Sends what waits for a committer, as far as its credit and its link allow.
    package mutating func retry(_ committer: Int, _ send: ([UInt8], Int) -> SendResult) {
        while let first = self.outlets[committer].waiting.first,
            first.isPaid || self.outlets[committer].window.isOpen
        {
            guard send(first.envelope.bytes, committer) == .sent else { return }
            self.outlets[committer].waiting.removeFirst()
            if !first.isPaid { self.outlets[committer].window.spend(first.load) }
            self.sent(first)
        }
    }

    /// Returns what left or was dropped since the last call, by sender: their credit.
    package mutating func takeFinished() -> [PeerID: CommitLoad] {
        guard !self.finished.isEmpty else { return [:] }
        defer { self.finished.removeAll(keepingCapacity: true) }
        return self.finished
    }

    private mutating func sent(_ batch: Batch) {
        self.passed += Int(batch.envelope.count)
        self.finish(batch.shares)
    }

    private mutating func drop(_ batch: Batch) {
        self.dropped[.lost, default: 0] += Int(batch.envelope.count)
        self.finish(batch.shares)
    }

    private mutating func drop(_ fields: ByteReader, from sender: PeerID, _ reason: Drop) {
        self.dropped[reason, default: 0] += 1
        self.finished[sender, default: CommitLoad()].add(fields.remaining)
    }

    private mutating func finish(_ shares: [PeerID: CommitLoad]) {
        for (sender, share) in shares { self.finished[sender, default: CommitLoad()] += share }
    }
}
