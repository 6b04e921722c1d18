internal import Boot
internal import DequeModule
internal import Mesh
internal import Stages
internal import Wire

/// Passes commits on to the committers that own their rooms.
///
/// It promises nothing: what cannot be passed on is dropped and counted, for the gateway that has the commit in custody
/// sends it again. For a committer that takes no more at present, or that has given no more credit, so many envelopes
/// wait as the settings allow. Who sent them has its own credit back only when they have left, so no more can wait than
/// a window for each gateway.
final class CommitLane {
    /// Commits of one gateway.
    struct Share {
        var commits = 0
        var bytes = 0
    }

    /// Why a commit was not passed on.
    enum Drop: String, CaseIterable, Hashable {
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
        var shares: [PeerID: Share] = [:]
        /// True when the committer's credit was spent for them.
        var isPaid: Bool

        var load: Share { Share(commits: Int(self.envelope.count), bytes: self.envelope.fieldBytes) }

        mutating func add(_ fields: ByteReader, from sender: PeerID) {
            self.envelope.append(.commit, fields: fields)
            self.shares[sender, default: Share()].add(Share(commits: 1, bytes: fields.remaining))
        }

        mutating func clear() {
            self.envelope.clear()
            self.shares.removeAll(keepingCapacity: true)
        }
    }

    private struct Outlet {
        /// What is collected in this turn.
        var open = Batch(isPaid: true)
        /// What the link did not take, or what there was no credit for.
        var waiting: Deque<Batch> = []
        /// How much the committer allows.
        var window = CreditWindow()
    }

    /// An envelope that waits takes in more commits up to about so many bytes; so much may go beyond the credit.
    private static let envelopeBytes = 64 << 10

    let committers: Downstream
    private let maxWaiting: Int
    private let intake: EnvelopeIntake
    private let telemetry: CoalescerTelemetry
    private var outlets: [Outlet]
    /// What left since the last look, by sender.
    private var finished: [PeerID: Share] = [:]

    init(_ committers: Downstream, maxWaiting: Int, intake: EnvelopeIntake, telemetry: CoalescerTelemetry) {
        self.committers = committers
        self.maxWaiting = maxWaiting
        self.intake = intake
        self.telemetry = telemetry
        self.outlets = committers.names.map { _ in Outlet() }
    }

    /// True when nothing waits.
    var isEmpty: Bool { self.outlets.allSatisfy { $0.waiting.isEmpty && $0.open.envelope.isEmpty } }

    /// How many commits wait, and their bytes.
    var waiting: Share {
        self.outlets.reduce(into: Share()) { sum, outlet in
            for batch in outlet.waiting { sum.add(batch.load) }
        }
    }

    /// How many committers have given no more credit.
    var closedCount: Int { self.outlets.count { !$0.window.isOpen } }

    /// Reads what the links have to say.
    func readLinks() {
        self.committers.read { news in
            switch news {
            case .up(let instance, let greeting): self.outlets[instance].window.opened(greeting: greeting)
            case .down(let instance):
                self.outlets[instance].window.closed()
                self.dropWaiting(of: instance)
            case .writable(let instance): self.retry(instance)
            case .message(let instance, let frames): self.readCredit(of: instance, frames)
            }
        }
    }

    private func readCredit(of instance: Int, _ frames: Frames) {
        frames.withBytes(at: 0) { bytes in
            self.intake.walk(bytes) { kind, fields throws(EnvelopeError) in
                guard kind == .commitCredit else { return }
                self.outlets[instance].window.allow(try EnvelopeReader.decode(CommitCredit.self, fields))
            }
        }
        self.retry(instance)
    }

    /// Takes a commit as it came; it leaves with the next `flush`, if its committer has given credit for it.
    func pass(_ fields: ByteReader, room: Identifier, from sender: PeerID) {
        guard let instance = self.committers.owner(of: room) else {
            self.telemetry.commitsDropped[.unreachable].add()
            return self.finish([sender: Share(commits: 1, bytes: fields.remaining)])
        }
        if self.outlets[instance].waiting.isEmpty, self.outlets[instance].window.isOpen {
            self.outlets[instance].open.add(fields, from: sender)
            self.outlets[instance].window.spend(commits: 1, bytes: fields.remaining)
        } else {
            self.wait(fields, from: sender, for: instance)
        }
    }

    private func wait(_ fields: ByteReader, from sender: PeerID, for instance: Int) {
        let count = self.outlets[instance].waiting.count
        let lastTakesMore =
            self.outlets[instance].waiting.last.map {
                !$0.isPaid && $0.envelope.bytes.count < Self.envelopeBytes
            } ?? false
        if lastTakesMore {
            self.outlets[instance].waiting[count - 1].add(fields, from: sender)
        } else if count < self.maxWaiting {
            var batch = Batch(isPaid: false)
            batch.add(fields, from: sender)
            self.outlets[instance].waiting.append(batch)
        } else {
            self.telemetry.commitsDropped[.full].add()
            self.finish([sender: Share(commits: 1, bytes: fields.remaining)])
        }
    }

    /// Sends what was taken in this turn: one envelope for each committer.
    func flush() {
        for instance in self.outlets.indices where !self.outlets[instance].open.envelope.isEmpty {
            let batch = self.outlets[instance].open
            switch self.committers.send(batch.envelope.bytes, to: instance) {
            case .sent: self.sent(batch)
            case .unroutable: self.drop(batch)
            case .wouldBlock: self.outlets[instance].waiting.prepend(batch)
            }
            self.outlets[instance].open.clear()
        }
    }

    /// Hands out what left since the last call, by sender: their credit.
    func takeFinished() -> [PeerID: Share] {
        guard !self.finished.isEmpty else { return [:] }
        defer { self.finished.removeAll(keepingCapacity: true) }
        return self.finished
    }

    private func retry(_ instance: Int) {
        while let first = self.outlets[instance].waiting.first, first.isPaid || self.outlets[instance].window.isOpen {
            guard self.committers.send(first.envelope.bytes, to: instance) == .sent else { return }
            self.outlets[instance].waiting.removeFirst()
            if !first.isPaid {
                let load = first.load
                self.outlets[instance].window.spend(commits: load.commits, bytes: load.bytes)
            }
            self.sent(first)
        }
    }

    private func sent(_ batch: Batch) {
        self.telemetry.commitsPassed(Int(batch.envelope.count))
        self.finish(batch.shares)
    }

    private func drop(_ batch: Batch) {
        self.telemetry.commitsDropped[.lost].add(Int(batch.envelope.count))
        self.finish(batch.shares)
    }

    private func dropWaiting(of instance: Int) {
        for batch in self.outlets[instance].waiting { self.drop(batch) }
        self.outlets[instance].waiting.removeAll()
    }

    private func finish(_ shares: [PeerID: Share]) {
        for (sender, share) in shares { self.finished[sender, default: Share()].add(share) }
    }
}

extension CommitLane.Share {
    /// Adds another one.
    mutating func add(_ other: Self) {
        self.commits += other.commits
        self.bytes += other.bytes
    }
}
