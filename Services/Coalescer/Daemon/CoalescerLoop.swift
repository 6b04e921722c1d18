internal import Boot
internal import CoalescerCore
internal import Logging
internal import Mesh
internal import Stages
internal import Timing
internal import Trust
internal import Wire

/// The coalescer's turn on its thread: previews in, then previews out.
final class CoalescerLoop: ReactorLoop {
    /// The maximum number of envelopes read per turn; more wait until due rooms have departed.
    private static let envelopesPerTurn = 32

    private let thread: ReactorThread
    private let gateways: ServerLink
    private let fanouts: StageLinks
    private let intake: EnvelopeIntake
    private let telemetry: CoalescerTelemetry
    private let readiness: ReadinessCheck
    private let patience: StartupPatience
    private let logger: Logger
    private var core: Coalescer
    private var gathering = GatheringLevels()
    private var gauge: GatheringGauge
    private var previews = StageRoutes(.previews)
    private var output: [Preview] = []
    private var figures = FigurePace()
    private var phase = ServicePhase.running

    init(
        on thread: ReactorThread, name: String, settings: CoalescerSettings, sets: StageSets,
        telemetry: CoalescerTelemetry, readiness: ReadinessCheck
    ) throws {
        let identity = LinkIdentity(daemon: name)
        self.thread = thread
        self.gateways = try ServerLink(
            on: thread, bind: Endpoint(settings.bind), identity: identity,
            options: .incoming(receiveHighWater: LinkOptions.previewMark),
            admitting: PeerRoles(.gateway))
        self.fanouts = try StageLinks(
            on: thread, to: sets[.fanout], identity: identity,
            options: .outgoing(sendHighWater: LinkOptions.previewMark))
        self.intake = EnvelopeIntake(
            at: .coalescer, logger: thread.logger, onForeign: telemetry.refusals.recordRefused
        ) { telemetry.malformed.add() }
        self.telemetry = telemetry
        self.readiness = readiness
        self.patience = StartupPatience(from: MonotonicClock.now())
        self.logger = thread.logger
        self.core = Coalescer(limits: settings.limits)
        self.gauge = GatheringGauge(budget: settings.promptCPU)
    }

    func turn(at now: Instant) -> Instant? {
        self.readLinks(now)
        let isMore = self.readGateways(now)
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

    /// True once the intake is closed.
    var isDrained: Bool { self.phase == .drained }

    /// Held previews leave regardless of the pace. Gateways that receive the goodbye turn to another coalescer.
    private func endIntake(_ now: Instant) {
        self.core.flush(at: now, into: &self.output)
        self.gateways.close()
        self.phase = .drained
        self.logger.info("intake closed")
    }

    // MARK: Links

    private func readLinks(_ now: Instant) {
        var isNews = false
        self.fanouts.read {
            self.previews.follow($0)
            isNews = true
        }
        if isNews { self.reportLinks(now) }
    }

    private func reportLinks(_ now: Instant) {
        self.readiness.report(self.patience.shortage(of: [(.fanout, self.previews.owners)], at: now))
        self.telemetry.links(self.previews.owners, reconnects: self.fanouts.reconnects)
    }

    private func showFigures(_ now: Instant) {
        guard self.figures.isDue(at: now) else { return }
        self.gauge.look(used: Nanoseconds(ProcessClock.cpuNanoseconds()), at: now)
        self.reviewGathering()
        self.telemetry.observe(self.core, self.previews.outboxes, at: now)
        self.telemetry.refusals.publish(self.thread)
        // Also without events: the wait for instances that do not answer may be over, and reconnects are counted.
        self.reportLinks(now)
    }

    // MARK: Gateways

    /// Lets previews wait for each other as long as this process or a gateway asks for.
    private func reviewGathering() {
        let level = max(self.gauge.level, self.gathering.highest)
        self.core.gather(level.window(upTo: self.core.longestWindow))
    }

    /// - Returns: true when more may be available.
    private func readGateways(_ now: Instant) -> Bool {
        for _ in 0..<Self.envelopesPerTurn {
            switch self.gateways.next() {
            case .peerUp(let peer, _):
                self.gathering.peerUp(peer)
                self.reviewGathering()
            case .peerDown(let peer, _):
                self.gathering.peerDown(peer)
                self.reviewGathering()
            case .writable: break
            case .message(let peer): self.read(peer, now)
            case nil: return false
            }
        }
        return true
    }

    private func read(_ peer: PeerID, _ now: Instant) {
        self.gateways.incoming.withBytes(at: 0) { bytes in
            self.intake.walk(bytes, from: self.gateways.roles(of: peer)) { kind, fields throws(EnvelopeError) in
                switch kind {
                case .preview:
                    let preview = try EnvelopeReader.decode(Preview.self, fields)
                    self.core.previewReceived(preview, at: now, into: &self.output)
                case .gestureEnd:
                    let end = try EnvelopeReader.decode(GestureEnd.self, fields)
                    self.core.gestureEnded(end)
                    self.previews.removePreviews(endedBy: end, ofShard: Shard.of(room: end.room))
                case .gatheringNotice:
                    self.gathering.noticeReceived(try EnvelopeReader.decode(GatheringNotice.self, fields), from: peer)
                    self.reviewGathering()
                default: break
                }
            }
        }
    }

    private func sendPreviews(_ now: Instant) {
        for preview in self.output { self.previews.append(latest: preview, ofShard: Shard.of(room: preview.room)) }
        self.output.removeAll(keepingCapacity: true)
        self.previews.outboxes.flush(at: now) { envelope, fanout in
            let result = self.fanouts.send(envelope.bytes, to: fanout)
            if result == .sent { self.telemetry.envelopeSent(previews: Int(envelope.count)) }
            return result
        }
    }
}
