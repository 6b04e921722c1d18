internal import Boot
internal import FanoutCore
internal import Logging
internal import Mesh
internal import Postgres
internal import Stages
internal import Timing
internal import Trust
internal import Wire

/// Every turn of the fan-out's thread: the database's answers, then what peers sent, previews last, then what that
/// leads to; one flush for each gateway. Questions of operators come after all of it.
final class FanoutLoop: ReactorLoop {
    private let thread: ReactorThread
    private let link: ServerLink
    private let database: RoomDatabase
    private let telemetry: FanoutTelemetry
    private let check: ReadinessCheck
    /// Names the committers with other rules.
    private let differences: HealthNote
    private let rules: RulesInbox
    private var desk: RoomDesk
    private let logger: Logger
    private var core: Fanout
    private var peers: FanoutPeers
    private var actions = ActionBuffer<FanoutAction>()
    private var phase = ServicePhase.starting
    private var figures = FigurePace()
    private var databaseLog = LogLimiter(every: .seconds(1))
    private let intake: EnvelopeIntake
    private var historyLog = LogLimiter(every: .seconds(1))
    private var replacements = 0
    private var overflowLog = LogLimiter(every: .seconds(1))

    init(
        on thread: ReactorThread, name: String, settings: FanoutSettings, rules: RulesInbox,
        questions: Mailbox<RoomQuestion>, telemetry: FanoutTelemetry, check: ReadinessCheck, differences: HealthNote
    ) throws {
        self.thread = thread
        self.link = try ServerLink(
            on: thread, bind: Endpoint(settings.bind), identity: LinkIdentity(daemon: name),
            options: .incoming(sendHighWater: 64),
            admitting: [PeerRoles(.gateway), PeerRoles(.coalescer), PeerRoles(.committer)], maximumPeers: 1024)
        // It serves once it has seen the database; from then on whatever happens, as rooms in memory need none.
        self.link.isResting = true
        var database = ConnectionSettings(connectionString: settings.databaseURL)
        database.applicationName = name
        // The deadline of a question runs while it is queued on a connection. All others wait before that, without one.
        (database.maximumInFlight, database.maximumQueued) = (8, 8)
        self.database = try RoomDatabase(on: thread, settings: database, connections: settings.databaseConnections)
        self.core = Fanout(limits: settings.limits, rules: settings.rules.table)
        self.peers = FanoutPeers(
            outboxBytes: settings.gatewayBytes, rulesFingerprint: settings.rules.table.fingerprint)
        self.rules = rules
        self.desk = RoomDesk(questions)
        self.differences = differences
        self.telemetry = telemetry
        self.check = check
        self.logger = thread.logger
        self.intake = EnvelopeIntake(
            at: .fanout, logger: thread.logger, onForeign: telemetry.refusals.recordRefused
        ) { telemetry.malformed.add() }
        check.notReady("the database does not answer")
    }

    // MARK: The turn

    func turn(at now: Instant) -> Instant? {
        if self.phase == .starting {
            self.phase = .running
            self.database.start(at: now)
        }
        if let rules = self.rules.next() {
            self.core.rulesChanged(rules)
            self.peers.committers.rulesChanged(rules.fingerprint)
        }
        self.database.turn(at: now, isWanted: { self.core.isWanted($0) }, { self.read($0, at: now) })
        self.readPeers(at: now)
        if self.peers.committers.hasNews { self.reportCommitters() }
        if let due = self.core.nextDeadline, now >= due { self.core.timeReached(now, into: &self.actions.pending) }
        self.perform(at: now)
        self.peers.flush(at: now) { envelope, peer in
            let result = self.link.send(envelope.bytes, to: peer)
            if result == .sent { self.telemetry.sent(bytes: envelope.bytes.count) }
            return result
        }
        self.followHistory(at: now)
        self.desk.turn(over: self.core, at: now)
        if self.figures.isDue(at: now) {
            self.telemetry.observe(self.core, database: self.database, peers: self.peers)
            self.telemetry.refusals.publish(self.thread)
        }
        if self.phase == .draining { self.end() }
        let deadline = [self.core.nextDeadline, self.database.poll()].compactMap(\.self).min()
        return self.desk.isBusy ? now : deadline
    }

    func stopRequested(at now: Instant) {
        self.phase = .draining
        self.logger.info("draining", metadata: ["fanout.rooms": "\(self.core.roomCount)"])
    }

    var isDrained: Bool { self.phase == .drained }

    func stopped() {
        self.database.close()
    }

    /// Gateways that receive the goodbye turn to another fan-out and send it their positions; nothing here must be kept.
    private func end() {
        self.link.close()
        self.phase = .drained
        self.logger.info("drained", metadata: ["fanout.rooms": "\(self.core.roomCount)"])
    }

    // MARK: In

    private func read(_ event: RoomDatabase.Event, at now: Instant) {
        switch event {
        case .identity(let epoch, let seal):
            self.link.isResting = false
            let issuer = seal.issuer { WallClock.milliseconds() }
            self.core.databaseReached(epoch: epoch, issuer: issuer, at: now, into: &self.actions.pending)
        case .answer(let tag, let reply):
            self.core.databaseAnswered(reply, to: tag, at: now, into: &self.actions.pending)
        case .trouble(let error):
            guard let suppressed = self.databaseLog.admit(at: .now) else { break }
            self.logger.warning(
                "database trouble",
                metadata: [
                    "pg.sqlstate": "\(error.sqlState)", "error": "\(error.message)",
                    "log.suppressed": "\(suppressed)",
                ])
        case .unreadable(let statement):
            self.logger.error("database rows unreadable", metadata: ["pg.statement": "\(statement)"])
        }
        if let trouble = self.database.trouble { self.check.notReady(trouble) } else { self.check.ready() }
    }

    /// Rows that were seen are gone. An operator must know, and perhaps another server has them.
    private func followHistory(at now: Instant) {
        guard self.core.counters.replacements > self.replacements else { return }
        let shards = self.core.counters.replacements - self.replacements
        self.replacements = self.core.counters.replacements
        self.database.review(at: now)
        guard let suppressed = self.historyLog.admit(at: .now) else { return }
        self.logger.error(
            "the database's history was replaced: its members take the rooms anew",
            metadata: ["history.shards": "\(shards)", "log.suppressed": "\(suppressed)"])
    }

    private func reportCommitters() {
        let differing = self.peers.committers.drainNews()
        self.telemetry.differingCommitters.set(differing.count)
        guard !differing.isEmpty else { return self.differences.say(nil) }
        let names = differing.joined(separator: ", ")
        self.differences.say("committers with other rules than this fan-out: \(names)")
        self.logger.warning("committers have other rules", metadata: ["rules.committers": "\(names)"])
    }

    private func readPeers(at now: Instant) {
        guard self.phase != .drained else { return }
        while let event = self.link.next() {
            switch event {
            case .peerUp: break
            case .peerDown(let peer, _): self.peers.peerDown(peer, at: now, into: &self.core)
            case .message(let peer): self.readEnvelope(from: peer, at: now)
            case .writable(let peer): self.writable(peer)
            }
        }
        self.peers.drainPreviews { self.core.previewsReceived($0, at: now, into: &self.actions.pending) }
    }

    private func readEnvelope(from peer: PeerID, at now: Instant) {
        self.link.incoming.withBytes(at: 0) { bytes in
            self.peers.receive(
                bytes, from: peer, roles: self.link.roles(of: peer), name: self.link.hello(of: peer)?.name, self.intake,
                at: now, into: &self.core,
                &self.actions.pending)
        }
    }

    private func writable(_ peer: PeerID) {
        guard let gateway = self.peers.writable(peer) else { return }
        self.telemetry.overflows.add()
        self.core.linkDrained(to: gateway, into: &self.actions.pending)
        if let suppressed = self.overflowLog.admit(at: .now) {
            self.logger.warning("gateway was too slow", metadata: ["log.suppressed": "\(suppressed)"])
        }
    }

    // MARK: Out

    private func trace(_ update: Update, to gateways: [GatewayID]) {
        guard let trace = update.trace else { return }
        self.logger.trace(TraceMark(trace, .applied, update, [.gateways: "\(gateways.count)"]))
    }

    private func perform(at now: Instant) {
        // A question that cannot be asked is answered immediately, which may lead to more.
        while let actions = self.actions.take() {
            for action in actions {
                switch action {
                case .send(let record, let gateway):
                    self.peers.append(record, to: gateway)
                case .broadcast(let record, let to, let except):
                    if case .update(let update) = record { self.trace(update, to: to) }
                    self.peers.append(record, to: to.lazy.filter { $0 != except })
                case .read(let request):
                    if !self.database.ask(request, at: now) {
                        self.core.databaseAnswered(.failed, to: request.tag, at: now, into: &self.actions.pending)
                    }
                }
            }
            self.actions.giveBack(actions)
        }
    }
}
