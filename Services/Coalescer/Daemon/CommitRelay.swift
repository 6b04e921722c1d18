internal import DequeModule
package import Mesh
internal import Stages
package import Wire

/// The commits in flight through the coalescer to the committers that own their rooms.
///
/// Best effort: a commit that cannot be forwarded is dropped and counted, since the gateway that has it in custody
/// retries. At most `maxWaiting` envelopes are queued for a committer whose link is full, or that has granted no
/// credit. Senders get their own credit back only when their commits have left, so no more than a window of each
/// gateway can be queued.
package struct CommitRelay {
    /// Why a commit was not forwarded.
    package enum Drop: String, CaseIterable, Hashable, Sendable {
        /// No committer is up.
        case unreachable
        /// Too many are queued for its committer.
        case full
        /// Its committer went down while it was queued.
        case lost
    }

    /// Commits that leave in one envelope.
    private struct Batch {
        var envelope = EnvelopeWriter()
        /// Their senders.
        var shares: [PeerID: CommitLoad] = [:]
        /// True when the committer's credit was spent for them.
        var isPaid: Bool

        var load: CommitLoad { CommitLoad(commits: Int(self.envelope.count), bytes: self.envelope.fieldBytes) }

        mutating func add(_ fields: ByteReader, from sender: PeerID) {
            self.shares[sender, default: CommitLoad()].add(fields.remaining)
            self.envelope.append(.commit, fields: fields)
        }

        mutating func clear() {
            self.envelope.clear()
            self.shares.removeAll(keepingCapacity: true)
        }
    }

    private struct Outlet {
        /// The commits of this turn, those in full envelopes apart.
        var open = Batch(isPaid: true)
        /// Batches of this turn that are full, in order.
        var full: [Batch] = []
        /// Batches that the link did not accept, or that lack credit.
        var waiting: Deque<Batch> = []
        /// The committer's credit.
        var window = CreditWindow()

        var isEmpty: Bool { self.waiting.isEmpty && self.full.isEmpty && self.open.envelope.isEmpty }

        /// Adds a commit that leaves in this turn; false when it has to wait.
        mutating func pass(_ fields: ByteReader, from sender: PeerID) -> Bool {
            guard self.waiting.isEmpty, self.window.isOpen else { return false }
            self.open.add(fields, from: sender)
            self.window.spend(CommitLoad(commits: 1, bytes: fields.remaining))
            if self.open.envelope.isFull { self.seal() }
            return true
        }

        /// Adds a commit to those that wait; false when they are too many.
        mutating func wait(_ fields: ByteReader, from sender: PeerID, limit: Int) -> Bool {
            let count = self.waiting.count
            let lastHasRoom =
                self.waiting.last.map { !$0.isPaid && $0.envelope.bytes.count < CommitRelay.envelopeBytes } ?? false
            if lastHasRoom {
                self.waiting[count - 1].add(fields, from: sender)
            } else {
                guard count < limit else { return false }
                var batch = Batch(isPaid: false)
                batch.add(fields, from: sender)
                self.waiting.append(batch)
            }
            return true
        }

        /// The first of those that wait, if there is credit for it.
        var next: Batch? { self.waiting.first.flatMap { $0.isPaid || self.window.isOpen ? $0 : nil } }

        /// The open batch is full, and another one begins.
        mutating func seal() {
            self.full.append(self.open)
            self.open = Batch(isPaid: true)
        }

        /// The batches of this turn, which is over.
        mutating func takeBatches() -> [Batch] {
            if !self.open.envelope.isEmpty { self.seal() }
            return exchange(&self.full, with: [])
        }
    }

    /// A queued envelope accepts more commits up to about this many bytes, by which the credit may also be exceeded.
    private static let envelopeBytes = 64 << 10

    private let maxWaiting: Int
    /// Those of committers that are up.
    private var outlets = InstanceTable<Outlet>()
    /// Commits that left since the last ``drainFinished()``, by sender.
    private var finished: [PeerID: CommitLoad] = [:]
    /// The number of commits that left for committers.
    package private(set) var passed = 0
    /// The number of commits that were not forwarded.
    package private(set) var dropped: [Drop: Int] = [:]

    /// A relay to committers, none of which is up.
    package init(maxWaiting: Int) {
        self.maxWaiting = maxWaiting
    }

    /// True when nothing is queued.
    package var isEmpty: Bool { self.outlets.all.allSatisfy(\.isEmpty) }

    /// The queued commits.
    package var waiting: CommitLoad {
        self.outlets.all.reduce(into: CommitLoad()) { sum, outlet in
            for batch in outlet.waiting { sum += batch.load }
        }
    }

    /// The number of committers without credit.
    package var closedCount: Int { self.outlets.all.count { !$0.window.isOpen } }

    // MARK: Committers

    /// A committer came up; its greeting contains its credit.
    package mutating func linkUp(_ committer: Int, greeting: [UInt8]) {
        self.outlets[committer, default: Outlet()].window.opened(greeting: greeting)
    }

    /// A committer went down: its queue is dropped.
    package mutating func linkDown(_ committer: Int) {
        guard var outlet = exchange(&self.outlets[committer], with: nil) else { return }
        for batch in outlet.waiting { self.drop(batch) }
        for batch in outlet.takeBatches() { self.drop(batch) }
    }

    /// A committer granted credit; queued commits leave with ``retry(_:_:)``.
    package mutating func allow(_ credit: CommitCredit, for committer: Int) {
        self.outlets[committer]?.window.allow(credit)
    }

    // MARK: Commits

    /// Adds a commit unchanged. It leaves with the next ``flush(_:)`` if its committer has granted credit for it.
    /// - Parameter committer: the owner of its room; nil when none is up.
    package mutating func pass(_ fields: ByteReader, to committer: Int?, from sender: PeerID) {
        guard let committer, self.outlets.contains(committer) else {
            return self.drop(fields, from: sender, .unreachable)
        }
        if self.outlets[committer]?.pass(fields, from: sender) == true { return }
        if self.outlets[committer]?.wait(fields, from: sender, limit: self.maxWaiting) != true {
            self.drop(fields, from: sender, .full)
        }
    }

    /// Sends the commits of this turn: one envelope for each committer, unless there are too many for one. Those that a
    /// link does not accept wait, and those behind them.
    package mutating func flush(_ send: ([UInt8], Int) -> SendResult) {
        for committer in self.outlets.numbers {
            guard let batches = self.outlets[committer]?.takeBatches(), !batches.isEmpty else { continue }
            self.send(batches, to: committer, send)
        }
    }

    private mutating func send(_ batches: [Batch], to committer: Int, _ send: ([UInt8], Int) -> SendResult) {
        for (index, batch) in batches.enumerated() {
            switch send(batch.envelope.bytes, committer) {
            case .sent: self.sent(batch)
            case .unroutable: self.drop(batch)
            case .wouldBlock:
                self.outlets[committer]?.waiting.prepend(contentsOf: batches[index...])
                return
            }
        }
    }

    /// Sends a committer's queue, as far as its credit and its link allow.
    package mutating func retry(_ committer: Int, _ send: ([UInt8], Int) -> SendResult) {
        while let first = self.outlets[committer]?.next {
            guard send(first.envelope.bytes, committer) == .sent else { return }
            self.outlets[committer]?.waiting.removeFirst()
            if !first.isPaid { self.outlets[committer]?.window.spend(first.load) }
            self.sent(first)
        }
    }

    /// Returns the commits that left or were dropped since the last call, by sender: their credit.
    package mutating func drainFinished() -> [PeerID: CommitLoad] {
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
