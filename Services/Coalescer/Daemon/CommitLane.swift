internal import Boot
internal import DequeModule
internal import Mesh
internal import Wire

/// Passes commits on to the committers that own their rooms.
///
/// It promises nothing: what cannot be passed on is dropped and counted, for the gateway that has the commit in custody
/// sends it again. For a committer that takes no more at present, so many envelopes wait as the settings allow.
final class CommitLane {
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
        var commits: UInt32
    }

    private struct Outlet {
        /// What is collected in this turn.
        var envelope = EnvelopeWriter()
        /// What the link did not take.
        var waiting: Deque<Waiting> = []
    }

    let committers: Downstream
    private let maxWaiting: Int
    private let telemetry: CoalescerTelemetry
    private var outlets: [Outlet]

    init(_ committers: Downstream, maxWaiting: Int, telemetry: CoalescerTelemetry) {
        self.committers = committers
        self.maxWaiting = maxWaiting
        self.telemetry = telemetry
        self.outlets = committers.names.map { _ in Outlet() }
    }

    /// True when nothing waits.
    var isEmpty: Bool { self.outlets.allSatisfy(\.waiting.isEmpty) }

    /// How many envelopes wait.
    var waitingCount: Int { self.outlets.reduce(0) { $0 + $1.waiting.count } }

    /// Reads what the links have to say.
    func readLinks() {
        self.committers.read { news in
            switch news {
            case .changed(let instance): self.drop(.lost, instance)
            case .writable(let instance): self.retry(instance)
            }
        }
    }

    /// Takes a commit as it came; it leaves with the next `flush`.
    func pass(_ fields: ByteReader, room: Identifier) {
        guard let instance = self.committers.owner(of: room) else {
            self.telemetry.commitsDropped[.unreachable].add()
            return
        }
        self.outlets[instance].envelope.append(.commit, fields: fields)
    }

    /// Sends what was taken in this turn: one envelope for each committer.
    func flush() {
        for instance in self.outlets.indices where !self.outlets[instance].envelope.isEmpty {
            self.send(instance)
            self.outlets[instance].envelope.clear()
        }
    }

    private func send(_ instance: Int) {
        let outlet = self.outlets[instance]
        let commits = outlet.envelope.count
        if outlet.waiting.isEmpty {
            switch self.committers.send(outlet.envelope.bytes, to: instance) {
            case .sent:
                self.telemetry.commitsPassed(Int(commits))
                return
            case .unroutable:
                self.telemetry.commitsDropped[.lost].add(Int(commits))
                return
            case .wouldBlock: break
            }
        }
        guard outlet.waiting.count < self.maxWaiting else {
            self.telemetry.commitsDropped[.full].add(Int(commits))
            return
        }
        self.outlets[instance].waiting.append(Waiting(envelope: outlet.envelope.bytes, commits: commits))
    }

    private func retry(_ instance: Int) {
        while let first = self.outlets[instance].waiting.first {
            guard self.committers.send(first.envelope, to: instance) == .sent else { return }
            self.telemetry.commitsPassed(Int(first.commits))
            self.outlets[instance].waiting.removeFirst()
        }
    }

    private func drop(_ reason: Drop, _ instance: Int) {
        let commits = self.outlets[instance].waiting.reduce(0) { $0 + Int($1.commits) }
        self.outlets[instance].waiting.removeAll()
        if commits > 0 { self.telemetry.commitsDropped[reason].add(commits) }
    }
}
