internal import Boot
internal import CommitterCore
internal import Logging
internal import Mesh
internal import Stages
internal import Timing
internal import Trust
internal import Wire

/// The committer in its daemon's thread: its links and lanes, and what operators see of it.
final class CommitterLoop: ReactorLoop {
    private let thread: ReactorThread
    private let database: CommitterDatabase
    private let shell: StageShell<CommitterStage, MeshTransport<CommitterDatabase>>
    private let schema: SchemaGate
    private let rules: RulesInbox
    private let telemetry: CommitterTelemetry
    private let logger: Logger
    private var hasStarted = false
    private var arrivals: [Instant] = []
    private var figures = FigurePace()

    init(
        on thread: ReactorThread, name: String, settings: CommitterSettings, sets: StageSets, schema: SchemaGate,
        rules: RulesInbox, telemetry: CommitterTelemetry, check: ReadinessCheck
    ) throws {
        let logger = thread.logger
        let gateways = try ServerLink(
            on: thread, bind: Endpoint(settings.bind), identity: LinkIdentity(daemon: name, credit: settings.credit),
            options: .incoming(), admitting: PeerRoles(.gateway))
        let fanouts = try StageLinks(
            on: thread, to: sets[.fanout], identity: LinkIdentity(daemon: name), options: .outgoing())
        self.database = try CommitterDatabase(
            on: thread, name: name, settings: settings, check: check, telemetry: telemetry)
        self.shell = StageShell(
            CommitterStage(
                lanes: settings.databaseConnections, rules: settings.rules.table, limits: settings.limits,
                credit: settings.credit, trace: { logger.trace($0) }),
            over: MeshTransport(peers: gateways, instances: fanouts, database: self.database),
            intake: telemetry.links.intake(at: .committer, logger: logger))
        self.thread = thread
        self.schema = schema
        self.rules = rules
        self.telemetry = telemetry
        self.logger = logger
    }

    func turn(at now: Instant) -> Instant? {
        if !self.hasStarted, self.schema.isOpen {
            self.hasStarted = true
            self.database.start(at: now)
        }
        if let rules = self.rules.next() { self.shell.core.rulesChanged(rules) }
        let deadline = self.shell.turn(at: now)
        self.observe(now)
        return deadline
    }

    func stopRequested(at now: Instant) {
        self.shell.drain()
        self.logger.info("draining", metadata: ["committer.queued": "\(self.shell.core.committer.queuedCommits)"])
    }

    var isDrained: Bool { self.shell.isDrained }

    func stopped() {
        self.logger.info("drained", metadata: ["committer.left": "\(self.shell.core.committer.queuedCommits)"])
        self.database.close()
    }

    private func observe(_ now: Instant) {
        self.shell.core.committer.drainAnswered(into: &self.arrivals)
        self.telemetry.answered(self.arrivals, at: now)
        guard self.figures.isDue(at: now) else { return }
        self.telemetry.publish(self.shell.core, reconnects: self.shell.transport.reconnects, at: now)
        self.telemetry.links.publish(self.thread)
    }
}
