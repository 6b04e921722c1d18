import GatewayCore
import Mesh
import Wire

/// What is on its way to the mesh's thread: an envelope for each peer and lane, handed over in batches.
///
/// Commits and the fan-outs' records leave with the next flush. Previews for a coalescer leave at once after a pause
/// and at most once in `pause` ms while they come fast: a message that wakes both ends costs far more than what is in it.
struct MeshSenders {
    /// Previews for one coalescer.
    private struct PreviewLane {
        let peer: String
        var previews = LatestPreviews()
        var isOpen = false
        var sentAt: UInt64 = 0

        mutating func add(_ preview: Preview, _ isNew: inout Bool) {
            if self.previews.isEmpty { isNew = true }
            self.previews.insert(preview)
        }
    }

    /// What leaves for one peer. There are few peers, and every commit asks for its own: they are looked through.
    private struct Line {
        let stage: Stage
        let peer: String
        var envelope = EnvelopeWriter()
        /// How much a coalescer or committer allows; nil while it does not answer.
        var window: CreditWindow?
    }

    /// Orders beyond which no previews are added to those that wait.
    private static let maxBacklog = 1024
    /// When what the mesh's thread did not take is offered again, ms.
    private static let retryMs: UInt64 = 16

    private let outbox: Mailbox<MeshOrder>
    private let pause: UInt64
    private var lines: [Line] = []
    /// Whose envelopes are not empty.
    private var filled: [Int] = []
    private var lanes: [PreviewLane] = []
    private var batch: [MeshOrder] = []
    /// True when a lane has something since the last flush, or takes it again: it may leave at once.
    private var hasNewLane = false
    /// When previews that are held back by the pause may leave, ms.
    private(set) var nextFlush: UInt64?

    init(outbox: Mailbox<MeshOrder>, pause: UInt64) {
        self.outbox = outbox
        self.pause = pause
    }

    private func line(_ stage: Stage, _ peer: String) -> Int? {
        for line in self.lines.indices where self.lines[line].stage == stage && self.lines[line].peer == peer {
            return line
        }
        return nil
    }

    private mutating func openLine(_ stage: Stage, _ peer: String) -> Int {
        if let line = self.line(stage, peer) { return line }
        self.lines.append(Line(stage: stage, peer: peer))
        return self.lines.count - 1
    }

    /// Takes a commit for a peer; false when the peer has given no credit for it.
    mutating func commit(_ commit: Commit, stage: Stage, to peer: String) -> Bool {
        let line = self.openLine(stage, peer)
        guard self.lines[line].window?.isOpen ?? true else { return false }
        let before = self.lines[line].envelope.fieldBytes
        self.fill(line) { $0.append(commit) }
        let bytes = self.lines[line].envelope.fieldBytes - before
        self.lines[line].window?.spend(commits: 1, bytes: bytes)
        return true
    }

    /// True when a peer takes commits.
    func isOpen(_ stage: Stage, _ peer: String) -> Bool {
        self.line(stage, peer).flatMap { self.lines[$0].window?.isOpen } ?? true
    }

    /// How many peers have given no more credit.
    var closedCount: Int { self.lines.count { $0.window?.isOpen == false } }

    /// A peer answers, and says in its greeting how much it takes.
    mutating func up(_ stage: Stage, _ peer: String, greeting: [UInt8]) {
        guard stage != .fanout else { return }
        let line = self.openLine(stage, peer)
        var window = self.lines[line].window ?? CreditWindow()
        window.opened(greeting: greeting)
        self.lines[line].window = window
    }

    /// A peer answers no more.
    mutating func down(_ stage: Stage, _ peer: String) {
        if let line = self.line(stage, peer) { self.lines[line].window = nil }
    }

    /// A peer takes more commits.
    mutating func allow(_ credit: CommitCredit, _ stage: Stage, _ peer: String) {
        if let line = self.line(stage, peer) { self.lines[line].window?.allow(credit) }
    }

    mutating func record(_ record: FanoutRecord, to peer: String) {
        self.fill(self.openLine(.fanout, peer)) { envelope in
            switch record {
            case .join(let join): envelope.append(join)
            case .leave(let leave): envelope.append(leave)
            case .interest(let interest): envelope.append(interest)
            case .gestureEnd(let end): envelope.append(end)
            case .read(let read): envelope.append(read)
            }
        }
    }

    private mutating func fill(_ line: Int, _ append: (inout EnvelopeWriter) -> Void) {
        let wasEmpty = self.lines[line].envelope.isEmpty
        append(&self.lines[line].envelope)
        if wasEmpty { self.filled.append(line) }
    }

    mutating func face(_ text: [UInt8], to peer: [UInt8]) {
        self.batch.append(.face(peer: peer, text: text))
    }

    mutating func preview(_ preview: Preview, to peer: String) {
        self.lanes[self.openLane(peer)].add(preview, &self.hasNewLane)
    }

    mutating func setOpen(_ isOpen: Bool, peer: String) {
        self.lanes[self.openLane(peer)].isOpen = isOpen
        self.hasNewLane = true
    }

    private mutating func openLane(_ peer: String) -> Int {
        if let lane = self.lanes.firstIndex(where: { $0.peer == peer }) { return lane }
        self.lanes.append(PreviewLane(peer: peer))
        return self.lanes.count - 1
    }

    /// Hands over what may leave at time `now` (ms).
    mutating func flush(at now: UInt64) {
        for line in self.filled {
            self.batch.append(
                .envelope(
                    OutgoingEnvelope(
                        stage: self.lines[line].stage, peer: self.lines[line].peer, lane: .main,
                        bytes: self.lines[line].envelope.take())))
        }
        self.filled.removeAll(keepingCapacity: true)
        if self.hasNewLane || now >= self.nextFlush ?? .max { self.flushPreviews(at: now) }
        guard !self.batch.isEmpty else { return }
        let weight = self.batch.reduce(0) { $0 + $1.weight }
        // A full mailbox means a mesh thread that is stuck: what is numbered or asked for is sent again by itself, and
        // custody and credit bound it; the batch is offered again with the next flush.
        if self.outbox.handOver(&self.batch, weight: weight) == .full { self.nextFlush = now + Self.retryMs }
    }

    /// Orders that the mesh's thread did not take yet.
    var backlog: Int { self.batch.count }

    private mutating func flushPreviews(at now: UInt64) {
        self.nextFlush = nil
        self.hasNewLane = false
        for lane in self.lanes.indices where self.lanes[lane].isOpen && !self.lanes[lane].previews.isEmpty {
            // Previews go on folding while the mesh's thread takes nothing.
            guard self.batch.count < Self.maxBacklog else {
                self.nextFlush = min(self.nextFlush ?? .max, now + Self.retryMs)
                continue
            }
            let due = self.lanes[lane].sentAt + self.pause
            guard now >= due else {
                self.nextFlush = min(self.nextFlush ?? .max, due)
                continue
            }
            var envelope = EnvelopeWriter()
            self.lanes[lane].previews.drain(into: &envelope)
            self.lanes[lane].sentAt = now
            self.batch.append(
                .envelope(
                    OutgoingEnvelope(
                        stage: .coalescer, peer: self.lanes[lane].peer, lane: .previews, bytes: envelope.bytes)))
        }
    }
}
