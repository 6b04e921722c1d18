package import GatewayCore
package import Stages
package import Timing
package import Wire

/// What is on its way from the event loop to the stages behind: an envelope for each instance and lane, handed over in
/// batches.
///
/// Commits and the fan-outs' records leave with the next flush. Previews for a coalescer leave at once after a pause
/// and at most once in `pause` ms while they come fast and the gateway is busy: a message that wakes both ends costs far
/// more than what is in it. Coalescers are notified of how busy it is.
package struct MeshSenders {
    /// Previews for one coalescer.
    private struct PreviewLane {
        var previews = LatestPreviews()
        var isOpen = false
        var sentAt = Instant.start
    }

    /// What leaves for one instance.
    private struct Line {
        let instance: StageInstance
        var envelope = EnvelopeWriter()
        /// How much a coalescer or committer allows.
        var window = CreditWindow()
    }

    /// Orders beyond which no previews are added to those that wait.
    private static let maxBacklog = 1024
    /// When orders that were not accepted are offered again.
    private static let retry = Nanoseconds.milliseconds(16)

    private let longestPause: Nanoseconds
    private var pause = Nanoseconds.zero
    private var gathering = GatheringLevel.none
    /// The coalescers, then the committers, then the fan-outs.
    private var lines: [Line]
    private let firstCommitter: Int
    private let firstFanout: Int
    /// Lines whose envelopes are not empty.
    private var filled: [Int] = []
    private var lanes: [PreviewLane]
    private var batch: [MeshOrder] = []
    /// True when a lane has something since the last flush, or is open again: it may leave at once.
    private var hasNewLane = false
    /// When there is something to flush: previews that the pause holds back, or orders that were not accepted.
    package private(set) var nextDeadline: Instant?

    /// Senders to the instances of each stage.
    /// - Parameter pause: between two envelopes of previews for one coalescer, when the gateway is busy.
    package init(coalescers: Int, committers: Int, fanouts: Int, pause: Nanoseconds) {
        self.longestPause = pause
        let counts = [(Stage.coalescer, coalescers), (.committer, committers), (.fanout, fanouts)]
        self.lines = counts.flatMap { stage, count in
            (0..<count).map { Line(instance: StageInstance(stage, $0)) }
        }
        self.firstCommitter = coalescers
        self.firstFanout = coalescers + committers
        self.lanes = (0..<coalescers).map { _ in PreviewLane() }
    }

    private func line(_ instance: StageInstance) -> Int {
        switch instance.stage {
        case .committer: self.firstCommitter + instance.index
        case .fanout: self.firstFanout + instance.index
        case .gateway, .coalescer: instance.index
        }
    }

    // MARK: Links

    /// An instance came up, and says in its greeting how much it allows.
    package mutating func linkUp(_ instance: StageInstance, greeting: [UInt8]) {
        self.lines[self.line(instance)].window.opened(greeting: greeting)
        if instance.stage == .coalescer { self.notifyOfGathering(instance.index) }
    }

    /// An instance went down.
    package mutating func linkDown(_ instance: StageInstance) {
        self.lines[self.line(instance)].window.closed()
    }

    /// An instance allows more commits.
    package mutating func allow(_ credit: CommitCredit, for instance: StageInstance) {
        self.lines[self.line(instance)].window.allow(credit)
    }

    /// The preview lane to a coalescer is full for now, or has room again.
    package mutating func setOpen(_ isOpen: Bool, coalescer: Int) {
        self.lanes[coalescer].isOpen = isOpen
        self.hasNewLane = true
    }

    /// True while an instance allows commits.
    package func isOpen(_ instance: StageInstance) -> Bool { self.lines[self.line(instance)].window.isOpen }

    /// How many instances have given no more credit.
    package var closedCount: Int { self.lines.count { !$0.window.isOpen } }

    /// The gateway's load asks for another wait of previews, here and at the coalescers.
    package mutating func gather(_ level: GatheringLevel) {
        guard level != self.gathering else { return }
        self.gathering = level
        self.pause = level.pause(upTo: self.longestPause)
        for coalescer in self.lanes.indices { self.notifyOfGathering(coalescer) }
    }

    private mutating func notifyOfGathering(_ coalescer: Int) {
        let notice = GatheringNotice(level: self.gathering.thousandths)
        self.fill(coalescer) { $0.append(notice) }
    }

    // MARK: Records

    /// Adds a commit.
    /// - Returns: false when the instance has given no credit for it.
    package mutating func commit(_ commit: Commit, to instance: StageInstance) -> Bool {
        let line = self.line(instance)
        guard self.lines[line].window.isOpen else { return false }
        let bytes = self.fill(line) { $0.append(commit) }
        self.lines[line].window.spend(CommitLoad(commits: 1, bytes: bytes))
        return true
    }

    /// Adds a record for a fan-out.
    package mutating func record(_ record: FanoutRecord, to fanout: Int) {
        self.fill(self.firstFanout + fanout) { envelope in
            switch record {
            case .join(let join): envelope.append(join)
            case .leave(let leave): envelope.append(leave)
            case .interest(let interest): envelope.append(interest)
            case .selection(let preview): envelope.append(preview)
            case .areaInterest(let interest): envelope.append(interest)
            case .gestureEnd(let end): envelope.append(end)
            case .read(let read): envelope.append(read)
            case .readHistory(let read): envelope.append(read)
            }
        }
    }

    /// Adds the end of a gesture for a coalescer, on the lane of commits, which are never held back.
    package mutating func gestureEnd(_ end: GestureEnd, to coalescer: Int) {
        self.fill(coalescer) { $0.append(end) }
    }

    /// Adds a record to a line. The envelope is ready to leave when that fills it.
    /// - Returns: the size of the record, bytes.
    @discardableResult
    private mutating func fill(_ line: Int, _ append: (inout EnvelopeWriter) -> Void) -> Int {
        let before = self.lines[line].envelope.fieldBytes
        if self.lines[line].envelope.isEmpty { self.filled.append(line) }
        append(&self.lines[line].envelope)
        let bytes = self.lines[line].envelope.fieldBytes - before
        if self.lines[line].envelope.isFull {
            self.seal(line)
            self.filled.removeAll { $0 == line }
        }
        return bytes
    }

    private mutating func seal(_ line: Int) {
        self.enqueue(self.lines[line].envelope.take(), to: self.lines[line].instance, .main)
    }

    /// Adds a packet for a back end on the ZeroMQ face.
    mutating func face(_ text: [UInt8], to peer: [UInt8]) {
        self.batch.append(.face(peer: peer, text: text))
    }

    /// Adds a preview.
    package mutating func preview(_ preview: Preview, to coalescer: Int) {
        if self.lanes[coalescer].previews.isEmpty { self.hasNewLane = true }
        self.lanes[coalescer].previews.insert(preview)
    }

    // MARK: Leaving

    /// Hands over what may leave by now.
    /// - Parameter handOver: accepts all orders, which leaves none of them, or returns false. Refused orders are offered
    ///   again with the next flush: what is numbered or asked for is sent again by itself, and custody and credit bound it.
    package mutating func flush(at now: Instant, _ handOver: (inout [MeshOrder]) -> Bool) {
        for line in self.filled { self.seal(line) }
        self.filled.removeAll(keepingCapacity: true)
        if self.hasNewLane || now >= self.nextDeadline ?? .never { self.flushPreviews(at: now) }
        guard !self.batch.isEmpty else { return }
        if !handOver(&self.batch) { self.nextDeadline = now + Self.retry }
    }

    private mutating func flushPreviews(at now: Instant) {
        self.nextDeadline = nil
        self.hasNewLane = false
        for lane in self.lanes.indices where self.lanes[lane].isOpen && !self.lanes[lane].previews.isEmpty {
            // Previews go on folding while nothing is accepted.
            let due = self.batch.count < Self.maxBacklog ? self.lanes[lane].sentAt + self.pause : now + Self.retry
            guard now >= due else {
                self.nextDeadline = min(self.nextDeadline ?? .never, due)
                continue
            }
            for envelope in self.lanes[lane].previews.drainIntoEnvelopes() {
                self.enqueue(envelope, to: StageInstance(.coalescer, lane), .previews)
            }
            self.lanes[lane].sentAt = now
        }
    }

    private mutating func enqueue(_ bytes: [UInt8], to instance: StageInstance, _ lane: MeshLane) {
        self.batch.append(.envelope(OutgoingEnvelope(instance: instance, lane: lane, bytes: bytes)))
    }
}
