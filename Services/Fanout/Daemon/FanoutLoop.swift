internal import Boot
internal import FanoutCore
internal import Logging
internal import Mesh
internal import Stages
internal import Timing
internal import Trust
internal import Wire

/// The fan-out in its daemon's thread: its link and connections, and what operators see of it. Their questions come after
/// all other work of a turn.
final class FanoutLoop: ReactorLoop {
    private let thread: ReactorThread
    private let database: RoomDatabase
    private let shell: StageShell<FanoutStage, MeshTransport<RoomDatabase>>
    private let telemetry: FanoutTelemetry
    /// Names the committers with other rules.
    private let differences: HealthNote
    private let rules: RulesInbox
    private var desk: RoomDesk
    private let logger: Logger
    private var hasStarted = false
    private var figures = FigurePace()
    private var replacements = 0, overflows = 0
    private var historyLog = LogLimiter(every: .seconds(1)), overflowLog = LogLimiter(every: .seconds(1))

    init(
        on thread: ReactorThread, name: String, settings: FanoutSettings, rules: RulesInbox,
        questions: Mailbox<RoomQuestion>, telemetry: FanoutTelemetry, check: ReadinessCheck, differences: HealthNote
    ) throws {
        let logger = thread.logger
        let peers = try ServerLink(
            on: thread, bind: Endpoint(settings.bind), identity: LinkIdentity(daemon: name),
            options: .incoming(sendHighWater: 64),
            admitting: [PeerRoles(.gateway), PeerRoles(.coalescer), PeerRoles(.committer)], maximumPeers: 1024)
        self.database = try RoomDatabase(on: thread, name: name, settings: settings, check: check)
        self.shell = StageShell(
            FanoutStage(
                limits: settings.limits, rules: settings.rules.table, outboxBytes: settings.gatewayBytes,
                trace: { logger.trace($0) }),
            over: MeshTransport(peers: peers, database: self.database) { telemetry.sent(bytes: $0.bytes.count) },
            intake: telemetry.links.intake(at: .fanout, logger: logger))
        self.thread = thread
        self.rules = rules
        self.desk = RoomDesk(questions)
        self.differences = differences
        self.telemetry = telemetry
        self.logger = logger
    }

    func turn(at now: Instant) -> Instant? {
        if !exchange(&self.hasStarted, with: true) { self.database.start(at: now) }
        if let rules = self.rules.next() { self.shell.core.rulesChanged(rules) }
        let deadline = self.shell.turn(at: now)
        if self.shell.core.committers.hasNews { self.reportCommitters() }
        self.followHistory(at: now)
        self.reportOverflows()
        self.desk.turn(over: self.shell.core.fanout, at: now)
        if self.figures.isDue(at: now) {
            self.telemetry.observe(self.shell.core, database: self.database)
            self.telemetry.links.publish(self.thread)
        }
        return self.desk.isBusy ? now : deadline
    }

    /// Gateways that receive the goodbye turn to another fan-out and send it their positions; nothing here must be kept.
    func stopRequested(at now: Instant) {
        self.shell.drain()
        self.logger.info("draining", metadata: ["fanout.rooms": "\(self.shell.core.fanout.rooms.count)"])
    }

    var isDrained: Bool { self.shell.isDrained }

    func stopped() {
        self.logger.info("drained", metadata: ["fanout.rooms": "\(self.shell.core.fanout.rooms.count)"])
        self.database.close()
    }

    /// Rows that were seen are gone. An operator must know, and perhaps another server has them.
    private func followHistory(at now: Instant) {
        let replacements = self.shell.core.fanout.counters.replacements
        let shards = replacements - exchange(&self.replacements, with: replacements)
        guard shards > 0 else { return }
        self.database.review(at: now)
        guard let suppressed = self.historyLog.admit(at: .now) else { return }
        self.logger.error(
            "the database's history was replaced: its members take the rooms anew",
            metadata: ["history.shards": "\(shards)", "log.suppressed": "\(suppressed)"])
    }

    private func reportOverflows() {
        let overflows = self.shell.core.overflows
        guard overflows > exchange(&self.overflows, with: overflows) else { return }
        guard let suppressed = self.overflowLog.admit(at: .now) else { return }
        self.logger.warning("gateway was too slow", metadata: ["log.suppressed": "\(suppressed)"])
    }

    private func reportCommitters() {
        let differing = self.shell.core.committers.drainNews()
        self.telemetry.differingCommitters.set(differing.count)
        guard !differing.isEmpty else { return self.differences.say(nil) }
        let names = differing.joined(separator: ", ")
        self.differences.say("committers with other rules than this fan-out: \(names)")
        self.logger.warning("committers have other rules", metadata: ["rules.committers": "\(names)"])
    }
}
