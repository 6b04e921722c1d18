internal import Boot
internal import DequeModule
internal import Mesh
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

    private struct Waiting {
        var envelope: [UInt8]
        var load: Share
        var shares: [PeerID: Share]
    }

    private struct Outlet {
        /// What is collected in this turn.
        var envelope = EnvelopeWriter()
        /// Whose it is.
        var shares: [PeerID: Share] = [:]
        /// What the link did not take.
        var waiting: Deque<Waiting> = []
        /// How much the committer allows.
        var window = CreditWindow()
    }

    /// An envelope that waits takes in more commits up to about so many bytes.
    private static let envelopeBytes = 64 << 10

    let committers: Downstream
    private let maxWaiting: Int
    private let telemetry: CoalescerTelemetry
    private var outlets: [Outlet]
    /// What left since the last look, by sender.
    private var finished: [PeerID: Share] = [:]

    init(_ committers: Downstream, maxWaiting: Int, telemetry: CoalescerTelemetry) {
        self.committers = committers
        self.maxWaiting = maxWaiting
        self.telemetry = telemetry
        self.outlets = committers.names.map { _ in Outlet() }
    }

    /// True when nothing waits.
    var isEmpty: Bool { self.outlets.allSatisfy { $0.waiting.isEmpty && $0.envelope.isEmpty } }

    /// How many commits wait, and their bytes.
    var waiting: Share {
        self.outlets.reduce(into: Share()) { sum, outlet in
            sum.add(Share(commits: Int(outlet.envelope.count), bytes: outlet.envelope.fieldBytes))
            for waiting in outlet.waiting { sum.add(waiting.load) }
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
        do throws(EnvelopeError) {
            try frames.withBytes(at: 0) { bytes throws(EnvelopeError) in
                var reader = try EnvelopeReader(bytes)
                while let (kind, fields) = try reader.next() {
                    guard kind == .commitCredit else { continue }
                    self.outlets[instance].window.allow(try EnvelopeReader.decode(CommitCredit.self, fields))
                }
            }
        } catch {
            self.telemetry.malformed.add()
        }
        self.retry(instance)
    }

    /// Takes a commit as it came; it leaves with the next `flush`.
    func pass(_ fields: ByteReader, room: Identifier, from sender: PeerID) {
        let share = Share(commits: 1, bytes: fields.remaining)
        guard let instance = self.committers.owner(of: room) else {
            self.telemetry.commitsDropped[.unreachable].add()
            return self.finish([sender: share])
        }
        self.outlets[instance].envelope.append(.commit, fields: fields)
        self.outlets[instance].shares[sender, default: Share()].add(share)
    }

    /// Sends what was taken: one envelope for each committer and turn. While a committer takes nothing, its envelope
    /// goes on collecting.
    func flush() {
        for instance in self.outlets.indices where !self.outlets[instance].envelope.isEmpty {
            let isHeldBack = !self.outlets[instance].waiting.isEmpty || !self.outlets[instance].window.isOpen
            if isHeldBack, self.outlets[instance].envelope.bytes.count < Self.envelopeBytes { continue }
            self.send(instance)
            self.outlets[instance].envelope.clear()
            self.outlets[instance].shares.removeAll(keepingCapacity: true)
        }
    }

    /// Hands out what left since the last call, by sender: their credit.
    func takeFinished() -> [PeerID: Share] {
        guard !self.finished.isEmpty else { return [:] }
        defer { self.finished.removeAll(keepingCapacity: true) }
        return self.finished
    }

    private func send(_ instance: Int) {
        let outlet = self.outlets[instance]
        let load = Share(commits: Int(outlet.envelope.count), bytes: outlet.envelope.fieldBytes)
        if outlet.waiting.isEmpty, outlet.window.isOpen {
            switch self.committers.send(outlet.envelope.bytes, to: instance) {
            case .sent: return self.sent(load, outlet.shares, to: instance)
            case .unroutable: return self.drop(.lost, load, outlet.shares)
            case .wouldBlock: break
            }
        }
        guard outlet.waiting.count < self.maxWaiting else { return self.drop(.full, load, outlet.shares) }
        self.outlets[instance].waiting.append(
            Waiting(envelope: outlet.envelope.bytes, load: load, shares: outlet.shares))
    }

    private func retry(_ instance: Int) {
        while let first = self.outlets[instance].waiting.first, self.outlets[instance].window.isOpen {
            guard self.committers.send(first.envelope, to: instance) == .sent else { return }
            self.outlets[instance].waiting.removeFirst()
            self.sent(first.load, first.shares, to: instance)
        }
    }

    private func sent(_ load: Share, _ shares: [PeerID: Share], to instance: Int) {
        self.outlets[instance].window.spend(commits: load.commits, bytes: load.bytes)
        self.telemetry.commitsPassed(load.commits)
        self.finish(shares)
    }

    private func drop(_ reason: Drop, _ load: Share, _ shares: [PeerID: Share]) {
        self.telemetry.commitsDropped[reason].add(load.commits)
        self.finish(shares)
    }

    private func dropWaiting(of instance: Int) {
        for waiting in self.outlets[instance].waiting { self.drop(.lost, waiting.load, waiting.shares) }
        self.outlets[instance].waiting.removeAll()
        let rest = self.outlets[instance]
        guard !rest.envelope.isEmpty else { return }
        self.drop(.lost, Share(commits: Int(rest.envelope.count), bytes: rest.envelope.fieldBytes), rest.shares)
        self.outlets[instance].envelope.clear()
        self.outlets[instance].shares.removeAll()
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
