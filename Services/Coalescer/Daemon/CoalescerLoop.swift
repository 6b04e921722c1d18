internal import Boot
internal import CoalescerCore
internal import Logging
internal import Mesh
internal import Stages
internal import Timing
internal import Trust
internal import Wire

/// The coalescer in its daemon's thread: its links, and what operators see of it.
final class CoalescerLoop: ReactorLoop {
    private let thread: ReactorThread
    private let shell: StageShell<CoalescerStage, MeshTransport<NoDatabase>>
    private let telemetry: CoalescerTelemetry
    private let readiness: ReadinessCheck
    private let patience: StartupPatience
    private var figures = FigurePace()
    /// Instances that were up at the last look.
    private var upCount = 0

    init(
        on thread: ReactorThread, name: String, settings: CoalescerSettings, sets: StageSets,
        telemetry: CoalescerTelemetry, readiness: ReadinessCheck
    ) throws {
        let identity = LinkIdentity(daemon: name)
        let gateways = try ServerLink(
            on: thread, bind: Endpoint(settings.bind), identity: identity,
            options: .incoming(receiveHighWater: LinkOptions.previewMark),
            admitting: PeerRoles(.gateway))
        let fanouts = try StageLinks(
            on: thread, to: sets[.fanout], identity: identity,
            options: .outgoing(sendHighWater: LinkOptions.previewMark))
        self.thread = thread
        self.shell = StageShell(
            CoalescerStage(limits: settings.limits),
            over: MeshTransport(peers: gateways, instances: fanouts, database: NoDatabase()) {
                telemetry.envelopeSent(previews: Int($0.count))
            },
            intake: telemetry.links.intake(at: .coalescer, logger: thread.logger))
        self.telemetry = telemetry
        self.readiness = readiness
        self.patience = StartupPatience(from: MonotonicClock.now())
    }

    func turn(at now: Instant) -> Instant? {
        if let due = self.shell.core.nextDeadline, now >= due {
            self.telemetry.tickServed(after: now.elapsed(since: due))
        }
        let deadline = self.shell.turn(at: now)
        self.observe(now)
        return deadline
    }

    func stopRequested(at now: Instant) { self.shell.drain() }

    var isDrained: Bool { self.shell.isDrained }

    private func observe(_ now: Instant) {
        let owners = self.shell.core.previews.owners
        let isNews = exchange(&self.upCount, with: owners.upCount) != owners.upCount
        let isDue = self.figures.isDue(at: now)
        if isDue {
            self.telemetry.observe(self.shell.core, at: now)
            self.telemetry.links.publish(self.thread)
        }
        // Also without events: the wait for instances that do not answer may be over, and reconnects are counted.
        guard isDue || isNews else { return }
        self.readiness.report(self.patience.shortage(of: [(.fanout, owners)], at: now))
        self.telemetry.links.connected(owners.upCount, of: .fanout)
        self.telemetry.links.reconnected(self.shell.transport.reconnects)
    }
}
