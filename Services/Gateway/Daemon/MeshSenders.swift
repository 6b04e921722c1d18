package import GatewayCore
package import Stages
package import Timing
package import Wire

/// What leaves for the stages behind in a turn of the event loop.
///
/// Commits and the fan-outs' records leave with the next flush. Previews for a coalescer leave at once after a pause
/// and at most once in `pause` ms while they come fast and the gateway is busy: a message that wakes both ends costs far
/// more than what is in it. Coalescers are notified of how busy it is.
package struct MeshSenders {
    /// Previews for one coalescer, and the ends of gestures behind them.
    private struct PreviewLane {
        var previews = LatestRecords<Preview>()
        private var ends: [GestureEnd] = []
        private(set) var isOpen = false
        var sentAt = Instant.start

        var isEmpty: Bool { self.previews.isEmpty && self.ends.isEmpty }

        /// When previews left last, if there is something that may leave; nil while there is nothing or nothing is accepted.
        var lastSent: Instant? { self.isOpen && !self.isEmpty ? self.sentAt : nil }

        /// A gesture ends: its previews that wait are for nothing. A coalescer that takes nothing now need not hear of the
        /// end, as the fan-out's fence drops what it still holds.
        mutating func end(_ end: GestureEnd) {
            self.previews.remove([end.endedPreviews])
            if self.isOpen { self.ends.append(end) }
        }

        mutating func setOpen(_ isOpen: Bool) {
            self.isOpen = isOpen
            if !isOpen { self.ends = [] }
        }

        mutating func drain(at now: Instant) -> [[UInt8]] {
            self.sentAt = now
            var envelopes = self.previews.drainIntoEnvelopes()
            var envelope = EnvelopeWriter()
            for end in exchange(&self.ends, with: []) {
                if envelope.isFull { envelopes.append(envelope.take()) }
                envelope.append(end)
            }
            if !envelope.isEmpty { envelopes.append(envelope.take()) }
            return envelopes
        }
    }

    /// What leaves for one instance.
    private struct Line {
        var envelope = EnvelopeWriter()
        /// How much a committer allows.
        var window = CreditWindow()

        mutating func fill(
            _ append: (inout EnvelopeWriter) -> Void
        ) -> (wasEmpty: Bool, bytes: Int, isFull: Bool) {
            let (wasEmpty, before) = (self.envelope.isEmpty, self.envelope.fieldBytes)
            append(&self.envelope)
            return (wasEmpty, self.envelope.fieldBytes - before, self.envelope.isFull)
        }
    }

    private let longestPause: Nanoseconds
    private var pause = Nanoseconds.zero
    private var gathering = GatheringLevel.none
    /// Those of all instances to which anything was ever sent.
    private var lines: [StageInstance: Line] = [:]
    /// Lines whose envelopes are not empty.
    private var filled: [StageInstance] = []
    /// The lanes of the coalescers.
    private var lanes = InstanceTable<PreviewLane>()
    private var batch: [MeshOrder] = []
    /// True when a lane has something since the last flush, or is open again: it may leave at once.
    private var hasNewLane = false
    /// When the pause is over that holds previews back.
    package private(set) var nextDeadline: Instant?

    /// Senders to no instances yet.
    /// - Parameter pause: between two envelopes of previews for one coalescer, when the gateway is busy.
    package init(pause: Nanoseconds) {
        self.longestPause = pause
    }

    // MARK: Links

    /// An instance came up, and says in its greeting how much it allows.
    package mutating func linkUp(_ instance: StageInstance, greeting: [UInt8]) {
        self.drop(instance)
        self.lines[instance, default: Line()].window.opened(greeting: greeting)
        guard instance.stage == .coalescer else { return }
        if !self.lanes.contains(instance.number) { self.lanes[instance.number] = PreviewLane() }
        self.notifyOfGathering(instance.number)
    }

    /// An instance went down.
    package mutating func linkDown(_ instance: StageInstance) {
        self.lines[instance]?.window.closed()
        self.drop(instance)
    }

    /// What is on its way to an instance is lost with the connection: over the next one it could come after what has taken
    /// its place.
    private mutating func drop(_ instance: StageInstance) {
        _ = self.lines[instance]?.envelope.take()
        self.filled.removeAll { $0 == instance }
        self.batch.removeAll { $0.isBound(to: instance) }
    }

    /// An instance is not in its stage's set any more.
    /// - Returns: the previews that still waited for it.
    package mutating func removed(_ instance: StageInstance) -> [Preview] {
        self.lines[instance] = nil
        self.filled.removeAll { $0 == instance }
        guard instance.stage == .coalescer else { return [] }
        var lane = exchange(&self.lanes[instance.number], with: nil)
        return lane?.previews.takeAll() ?? []
    }

    /// An instance allows more commits.
    package mutating func allow(_ credit: CommitCredit, for instance: StageInstance) {
        self.lines[instance]?.window.allow(credit)
    }

    /// The link to a coalescer is full for now, or has room again.
    package mutating func setOpen(_ isOpen: Bool, coalescer: Int) {
        self.lanes[coalescer, default: PreviewLane()].setOpen(isOpen)
        self.hasNewLane = true
    }

    /// True while a committer allows commits.
    package func acceptsCommit(to committer: Int) -> Bool {
        self.lines[StageInstance(.committer, committer)]?.window.isOpen ?? true
    }

    /// How many committers have given no more credit.
    package var closedCount: Int { self.lines.values.count { !$0.window.isOpen } }

    /// The gateway's load asks for another wait of previews, here and at the coalescers.
    package mutating func gather(_ level: GatheringLevel) {
        guard level != self.gathering else { return }
        self.gathering = level
        self.pause = level.pause(upTo: self.longestPause)
        for coalescer in self.lanes.numbers { self.notifyOfGathering(coalescer) }
    }

    private mutating func notifyOfGathering(_ coalescer: Int) {
        let notice = GatheringNotice(level: self.gathering.thousandths)
        self.fill(StageInstance(.coalescer, coalescer)) { $0.append(notice) }
    }

    // MARK: Records

    /// Adds a commit.
    /// - Returns: false when the committer has given no credit for it.
    package mutating func commit(_ commit: Commit, to committer: Int) -> Bool {
        guard self.acceptsCommit(to: committer) else { return false }
        let instance = StageInstance(.committer, committer)
        let bytes = self.fill(instance) { $0.append(commit) }
        self.lines[instance]?.window.spend(CommitLoad(commits: 1, bytes: bytes))
        return true
    }

    /// Adds a record for a fan-out.
    package mutating func record(_ record: FanoutRecord, to fanout: Int) {
        self.fill(StageInstance(.fanout, fanout)) { envelope in
            switch record {
            case .join(let join): envelope.append(join)
            case .leave(let leave): envelope.append(leave)
            case .interest(let interest): envelope.append(interest)
            case .awareness(let awareness): envelope.append(awareness)
            case .signal(let signal): envelope.append(signal)
            case .areaInterest(let interest): envelope.append(interest)
            case .memberRenamed(let renamed): envelope.append(renamed)
            case .gestureEnd(let end): envelope.append(end)
            case .read(let read): envelope.append(read)
            case .readHistory(let read): envelope.append(read)
            }
        }
    }

    /// Adds a record for an instance. The envelope is ready to leave when that fills it.
    /// - Returns: the size of the record, bytes.
    @discardableResult
    private mutating func fill(_ instance: StageInstance, _ append: (inout EnvelopeWriter) -> Void) -> Int {
        let (wasEmpty, bytes, isFull) = self.lines[instance, default: Line()].fill(append)
        if wasEmpty { self.filled.append(instance) }
        if isFull {
            self.seal(instance)
            self.filled.removeAll { $0 == instance }
        }
        return bytes
    }

    private mutating func seal(_ instance: StageInstance) {
        guard let envelope = self.lines[instance]?.envelope.take() else { return }
        self.enqueue(envelope, to: instance)
    }

    /// Adds a packet for a back end on the ZeroMQ face.
    mutating func face(_ text: [UInt8], to peer: [UInt8]) {
        self.batch.append(.face(peer: peer, text: text))
    }

    /// Adds a preview.
    package mutating func preview(_ preview: Preview, to coalescer: Int) {
        self.fill(coalescer) { $0.previews.insert(preview) }
    }

    /// Adds the end of a gesture, behind its previews.
    package mutating func previewsEnd(_ end: GestureEnd, to coalescer: Int) {
        self.fill(coalescer) { $0.end(end) }
    }

    private mutating func fill(_ coalescer: Int, _ body: (inout PreviewLane) -> Void) {
        let wasEmpty = self.lanes[coalescer]?.isEmpty ?? true
        body(&self.lanes[coalescer, default: PreviewLane()])
        if wasEmpty { self.hasNewLane = true }
    }

    // MARK: Leaving

    /// Sends what may leave by now.
    package mutating func flush(at now: Instant, _ send: ([MeshOrder]) -> Void) {
        for instance in self.filled { self.seal(instance) }
        self.filled.removeAll(keepingCapacity: true)
        if self.hasNewLane || now >= self.nextDeadline ?? .never { self.flushPreviews(at: now) }
        guard !self.batch.isEmpty else { return }
        send(self.batch)
        self.batch.removeAll(keepingCapacity: true)
    }

    private mutating func flushPreviews(at now: Instant) {
        self.nextDeadline = nil
        self.hasNewLane = false
        for coalescer in self.lanes.numbers {
            guard let sentAt = self.lanes[coalescer]?.lastSent else { continue }
            let due = sentAt + self.pause
            guard now >= due else {
                self.nextDeadline = min(self.nextDeadline ?? .never, due)
                continue
            }
            for envelope in self.lanes[coalescer]?.drain(at: now) ?? [] {
                self.enqueue(envelope, to: StageInstance(.coalescer, coalescer))
            }
        }
    }

    private mutating func enqueue(_ bytes: [UInt8], to instance: StageInstance) {
        self.batch.append(.envelope(OutgoingEnvelope(instance: instance, bytes: bytes)))
    }
}

extension MeshOrder {
    /// True for what an instance gets.
    fileprivate func isBound(to instance: StageInstance) -> Bool {
        guard case .envelope(let envelope) = self else { return false }
        return envelope.instance == instance
    }
}
