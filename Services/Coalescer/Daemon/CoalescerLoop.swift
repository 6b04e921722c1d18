internal import Boot
internal import CoalescerCore
internal import Logging
internal import Mesh
internal import Stages
internal import Timing
internal import Trust
internal import Wire

/// The coalescer's turn on its thread: commits in and out first, then previews in, then previews out.
final class CoalescerLoop: ReactorLoop {
    /// The maximum number of preview envelopes read per turn; more wait until the commits' lane was read again.
    private static let previewsPerTurn = 32
    /// High-water marks per lane, in envelopes. A committer that does not read must not cost unbounded memory; of
    /// previews only the newest matter, so few of them may be in flight.
    private static let commitMark = 1000
    private static let previewMark = 256

    private let thread: ReactorThread
    private let commits: ServerLink
    private let previews: ServerLink
    private let committers: StageLinks
    private let fanouts: StageLinks
    private let intake: EnvelopeIntake
    private let telemetry: CoalescerTelemetry
    private let readiness: CoalescerReadiness
    private let logger: Logger
    private var core: Coalescer
    private var grants: CreditGrants
    private var gathering = GatheringLevels()
    private var gauge: GatheringGauge
    private var commitRelay: CommitRelay
    private var previewRelay = PreviewRelay()
    private var output: [Preview] = []
    private var figures = FigurePace()
    /// The number of link changes reported so far.
    private var reportedChanges = -1
    private var phase = ServicePhase.running

    init(
        on thread: ReactorThread, name: String, settings: CoalescerSettings, sets: StageSets,
        telemetry: CoalescerTelemetry, readiness: CoalescerReadiness
    ) throws {
        let identity = LinkIdentity(daemon: name)
        let commitOptions = LinkOptions.incoming(
            sendHighWater: Self.commitMark, receiveHighWater: Self.commitMark)
        let previewOptions = LinkOptions.incoming(
            sendHighWater: Self.previewMark, receiveHighWater: Self.previewMark)
        let base = try Endpoint(settings.bind)
        self.thread = thread
        self.commits = try ServerLink(
            on: thread, bind: base, identity: LinkIdentity(daemon: name, credit: settings.credit),
            options: commitOptions, admitting: PeerRoles(.gateway))
        self.previews = try ServerLink(
            on: thread, bind: base.lane("previews"), identity: identity, options: previewOptions,
            admitting: PeerRoles(.gateway))
        self.committers = try StageLinks(
            on: thread, to: sets[.committer], identity: identity,
            options: .outgoing(sendHighWater: Self.commitMark))
        self.fanouts = try StageLinks(
            on: thread, to: sets[.fanout], identity: identity,
            options: .outgoing(sendHighWater: Self.previewMark))
        self.intake = EnvelopeIntake(
            at: .coalescer, logger: thread.logger, onForeign: telemetry.refusals.recordRefused
        ) { telemetry.malformed.add() }
        self.grants = CreditGrants(window: settings.credit)
        self.commitRelay = CommitRelay(maxWaiting: settings.maxWaiting)
        self.telemetry = telemetry
        self.readiness = readiness
        self.logger = thread.logger
        self.core = Coalescer(limits: settings.limits)
        self.gauge = GatheringGauge(budget: settings.promptCPU)
    }

    func turn(at now: Instant) -> Instant? {
        self.readLinks(now)
        self.readCommits(now)
        self.commitRelay.flush(self.committers.send)
        self.returnCredit()
        let isMore = self.readPreviews(now)
        if let due = self.core.nextDeadline, now >= due { self.telemetry.tickServed(after: now.elapsed(since: due)) }
        self.core.timeReached(now, into: &self.output)
        if self.phase == .draining, !isMore { self.endIntake(now) }
        self.sendPreviews(now)
        self.core.forgetSilent(at: now)
        self.showFigures(now)
        return isMore ? now : self.core.nextDeadline
    }

    func stopRequested(at now: Instant) {
        self.phase = .draining
    }

    /// True once the intake is closed and nothing is queued; commits may have waited for room.
    var isDrained: Bool { self.phase == .drained && self.commitRelay.isEmpty }

    /// Held previews leave regardless of the pace. Gateways that receive the goodbye turn to another coalescer, and
    /// resend commits without a result.
    private func endIntake(_ now: Instant) {
        self.core.flush(at: now, into: &self.output)
        self.commits.close()
        self.previews.close()
        self.phase = .drained
        self.logger.info("intake closed", metadata: ["coalescer.waiting": "\(self.commitRelay.waiting.commits)"])
    }

    // MARK: Links

    private func readLinks(_ now: Instant) {
        self.committers.read { self.committer($0) }
        // Nothing is received from fan-outs, and nothing is queued for them here.
        self.fanouts.read { event in
            if case .removed(let fanout) = event { self.previewRelay.removed(fanout) }
        }
        let changes = self.committers.owners.changes + self.fanouts.owners.changes
        guard changes != self.reportedChanges else { return }
        self.reportedChanges = changes
        self.reportLinks(now)
    }

    private func committer(_ event: StageLinks.Event) {
        switch event {
        case .up(let committer, let greeting): self.commitRelay.linkUp(committer, greeting: greeting)
        case .down(let committer): self.commitRelay.linkDown(committer)
        case .added, .removed, .resting: break
        case .writable(let committer): self.commitRelay.retry(committer, self.committers.send)
        case .envelope(let committer, let bytes):
            self.intake.walk(bytes, from: PeerRoles(.committer)) { kind, fields throws(EnvelopeError) in
                guard kind == .commitCredit else { return }
                self.commitRelay.allow(try EnvelopeReader.decode(CommitCredit.self, fields), for: committer)
            }
            self.commitRelay.retry(committer, self.committers.send)
        }
    }

    private func reportLinks(_ now: Instant) {
        self.readiness.report(committers: self.committers, fanouts: self.fanouts, at: now)
        self.telemetry.links(committers: self.committers, fanouts: self.fanouts)
    }

    private func showFigures(_ now: Instant) {
        guard self.figures.isDue(at: now) else { return }
        self.gauge.look(used: Nanoseconds(ProcessClock.cpuNanoseconds()), at: now)
        self.reviewGathering()
        self.telemetry.observe(self.core, commits: self.commitRelay, previews: self.previewRelay, at: now)
        self.telemetry.refusals.publish(self.thread)
        // Also without events: the wait for instances that do not answer may be over, and reconnects are counted.
        self.reportLinks(now)
    }

    // MARK: Commits

    private func readCommits(_ now: Instant) {
        while let event = self.commits.next() {
            switch event {
            case .peerUp(let peer, _):
                self.grants.peerUp(peer)
                self.gathering.peerUp(peer)
                self.reviewGathering()
            case .peerDown(let peer, _):
                self.grants.peerDown(peer)
                self.gathering.peerDown(peer)
                self.reviewGathering()
            case .writable(let peer): self.grants.announce(to: peer, self.commits.send)
            case .message(let peer): self.readCommits(of: peer, now)
            }
        }
    }

    private func readCommits(of peer: PeerID, _ now: Instant) {
        let roles = self.commits.roles(of: peer)
        self.commits.incoming.withBytes(at: 0) { bytes in
            self.intake.walk(bytes, from: roles) { kind, fields throws(EnvelopeError) in
                switch kind {
                case .commit:
                    let commit = try EnvelopeReader.decode(Commit.self, fields)
                    guard commit.isOwned(by: roles, named: self.commits.hello(of: peer)?.name) else {
                        return self.intake.refuse(kind, from: roles)
                    }
                    self.core.commitReceived(commit, at: now)
                    let committer = self.committers.owner(of: commit.room)
                    self.commitRelay.pass(fields, to: committer, from: peer)
                    if let trace = commit.trace, committer != nil {
                        self.logger.trace(TraceMark(trace, .forwarded, commit))
                    }
                case .gatheringNotice:
                    self.gathering.noticeReceived(try EnvelopeReader.decode(GatheringNotice.self, fields), from: peer)
                    self.reviewGathering()
                default: break
                }
            }
        }
    }

    /// Returns credit to gateways for commits that have left.
    private func returnCredit() {
        for (peer, load) in self.commitRelay.drainFinished() { self.grants.finish(load, of: peer, self.commits.send) }
    }

    // MARK: Previews

    /// Lets previews wait for each other as long as this process or a gateway asks for.
    private func reviewGathering() {
        let level = max(self.gauge.level, self.gathering.highest)
        self.core.gather(level.window(upTo: self.core.longestWindow))
    }

    /// - Returns: true when more may be available.
    private func readPreviews(_ now: Instant) -> Bool {
        var envelopes = 0
        while envelopes < Self.previewsPerTurn {
            guard let event = self.previews.next() else { return false }
            guard case .message(let peer) = event else { continue }
            envelopes += 1
            self.previews.incoming.withBytes(at: 0) { bytes in
                self.intake.walk(bytes, from: self.previews.roles(of: peer)) { kind, fields throws(EnvelopeError) in
                    guard kind == .preview || kind == .attention else { return }
                    let preview = try EnvelopeReader.decode(Preview.self, fields)
                    self.core.previewReceived(preview, at: now, into: &self.output)
                }
            }
        }
        return true
    }

    private func sendPreviews(_ now: Instant) {
        guard !self.output.isEmpty else { return }
        let isLast = self.phase == .drained
        self.previewRelay.send(&self.output, owners: self.fanouts.owners) { envelope, count, fanout in
            let result = self.fanouts.send(envelope, to: fanout)
            if result == .sent { self.telemetry.envelopeSent(previews: count) }
            return result
        } returned: { preview in
            // At the end there is no next tick.
            if !isLast { self.core.sendFailed(preview, at: now) }
        }
    }
}
