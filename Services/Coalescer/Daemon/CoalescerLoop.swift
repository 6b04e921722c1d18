internal import Boot
internal import CoalescerCore
internal import Logging
internal import Mesh
internal import Stages
internal import Wire

/// What the coalescer does in every turn of its thread: commits in and out first, then previews in, then what leaves.
final class CoalescerLoop: ReactorLoop {
    /// Envelopes of previews that one turn reads; more have to wait until the commits' lane was looked at again.
    private static let previewsPerTurn = 32
    /// Marks per lane, in envelopes. A committer that does not read must not cost memory without end; of previews only
    /// the newest count, so few of them may be on their way.
    private static let commitMark = 1000
    private static let previewMark = 256

    private let commits: ServerLink
    private let credit: CommitCredit
    /// What each gateway may send.
    private var grants: [PeerID: CreditGrant] = [:]
    private let previews: ServerLink
    private let commitLane: CommitLane
    private let previewLane: PreviewLane
    private let telemetry: CoalescerTelemetry
    private let readiness: CoalescerReadiness
    private var figures = FigurePace()
    /// Changes of the links that were told.
    private var toldChanges = -1
    private let logger: Logger
    private var core: Coalescer
    private var output: [Preview] = []
    private let intake: EnvelopeIntake
    private var phase = Phase.running

    private enum Phase {
        case running
        /// Asked to stop: one more turn reads what has arrived.
        case stopping
        /// The intake is closed and nothing is held; commits may still wait for room.
        case drained
    }

    init(
        on thread: ReactorThread, name: String, settings: CoalescerSettings, telemetry: CoalescerTelemetry,
        readiness: CoalescerReadiness
    ) throws {
        let identity = LinkIdentity(name: name, protocolVersion: UInt16(EnvelopeWriter.version))
        let commitOptions = LinkOptions(sendHighWater: Self.commitMark, receiveHighWater: Self.commitMark)
        let previewOptions = LinkOptions(sendHighWater: Self.previewMark, receiveHighWater: Self.previewMark)
        let base = try Endpoint(settings.bind)
        self.credit = settings.credit
        var commitIdentity = identity
        commitIdentity.greeting = CreditGrant.greeting(window: settings.credit)
        self.commits = try ServerLink(on: thread, bind: base, identity: commitIdentity, options: commitOptions)
        self.previews = try ServerLink(
            on: thread, bind: base.lane("previews"), identity: identity, options: previewOptions)
        self.intake = EnvelopeIntake(logger: thread.logger) { telemetry.malformed.add() }
        self.commitLane = CommitLane(
            try Downstream(on: thread, settings.committers, identity: identity, options: commitOptions),
            maxWaiting: settings.maxWaiting, intake: self.intake, telemetry: telemetry)
        self.previewLane = PreviewLane(
            try Downstream(on: thread, settings.fanouts, identity: identity, options: previewOptions),
            telemetry: telemetry)
        self.telemetry = telemetry
        self.readiness = readiness
        self.logger = thread.logger
        self.core = Coalescer(limits: settings.limits)
    }

    func turn(now: UInt64) -> UInt64? {
        self.readLinks(now)
        self.readCommits(now)
        self.commitLane.flush()
        self.returnCredit()
        let isMore = self.readPreviews(now)
        if let due = self.core.deadline, now >= due { self.telemetry.tick(late: now - due) }
        self.core.advance(to: now, into: &self.output)
        if self.phase == .stopping, !isMore { self.endIntake(now) }
        self.sendPreviews(now)
        self.core.forget(at: now)
        self.showFigures(now)
        return isMore ? now : self.core.deadline
    }

    func stopRequested(now: UInt64) {
        self.phase = .stopping
    }

    var isDrained: Bool { self.phase == .drained && self.commitLane.isEmpty }

    /// What is held leaves whatever the pace; gateways that hear the goodbye turn to another coalescer, and send the
    /// commits that they got no result for again.
    private func endIntake(_ now: UInt64) {
        self.core.flush(at: now, into: &self.output)
        self.commits.close()
        self.previews.close()
        self.phase = .drained
        self.logger.info("intake closed", metadata: ["coalescer.waiting": "\(self.commitLane.waiting.commits)"])
    }

    private func readLinks(_ now: UInt64) {
        self.commitLane.readLinks()
        self.previewLane.readLinks()
        let changes = self.commitLane.committers.changes + self.previewLane.fanouts.changes
        guard changes != self.toldChanges else { return }
        self.toldChanges = changes
        self.tellLinks(now)
    }

    private func tellLinks(_ now: UInt64) {
        self.readiness.report(committers: self.commitLane.committers, fanouts: self.previewLane.fanouts, now: now)
        self.telemetry.links(committers: self.commitLane.committers, fanouts: self.previewLane.fanouts)
    }

    private func showFigures(_ now: UInt64) {
        guard self.figures.isDue(at: now) else { return }
        self.telemetry.observe(self.core, commits: self.commitLane, at: now)
        // Without news too: who waited long enough for instances that do not answer is ready, and dialling is counted.
        self.tellLinks(now)
    }

    private func readCommits(_ now: UInt64) {
        while let event = self.commits.next() {
            switch event {
            case .peerUp(let peer, _): self.grants[peer] = CreditGrant(window: self.credit)
            case .peerDown(let peer, _): self.grants[peer] = nil
            case .writable(let peer): self.returnCredit(to: peer)
            case .message(let peer): self.readCommits(of: peer, now)
            }
        }
    }

    private func readCommits(of peer: PeerID, _ now: UInt64) {
        self.commits.incoming.withBytes(at: 0) { bytes in
            self.intake.walk(bytes) { kind, fields throws(EnvelopeError) in
                guard kind == .commit else { return }
                let commit = try EnvelopeReader.decode(Commit.self, fields)
                _ = self.core.commitReceived(commit, at: now)
                self.commitLane.pass(fields, room: commit.room, from: peer)
            }
        }
    }

    /// Gives gateways credit for what has left.
    private func returnCredit() {
        for (peer, share) in self.commitLane.takeFinished() {
            self.grants[peer]?.finish(commits: share.commits, bytes: share.bytes)
            self.returnCredit(to: peer)
        }
    }

    /// Tells a gateway its credit, if there is enough of it. One that takes nothing now is told when it does.
    private func returnCredit(to peer: PeerID) {
        guard let due = self.grants[peer]?.due else { return }
        var envelope = EnvelopeWriter()
        envelope.append(due)
        if self.commits.send(envelope.bytes, to: peer) == .sent { self.grants[peer]?.tell() }
    }

    /// - Returns: True when there may be more to read at once.
    private func readPreviews(_ now: UInt64) -> Bool {
        var envelopes = 0
        while envelopes < Self.previewsPerTurn {
            guard let event = self.previews.next() else { return false }
            guard case .message = event else { continue }
            envelopes += 1
            self.previews.incoming.withBytes(at: 0) { bytes in
                self.intake.walk(bytes) { kind, fields throws(EnvelopeError) in
                    guard kind == .preview else { return }
                    let preview = try EnvelopeReader.decode(Preview.self, fields)
                    _ = self.core.previewReceived(preview, at: now, into: &self.output)
                }
            }
        }
        return true
    }

    private func sendPreviews(_ now: UInt64) {
        guard !self.output.isEmpty else { return }
        let isLast = self.phase == .drained
        self.previewLane.send(&self.output) { preview in
            // At the end there is no next tick.
            if !isLast { self.core.sendFailed(preview, at: now) }
        }
    }
}
