import Auth
import Boot
import GatewayCore
import Logging
import Mesh
import NIOCore
import SocketIO
import SocketIOServer
import Stages
import Timing
import Trust
import Wire

/// The gateway on its event loop: when its shell has a turn, and what that handles. Everything here happens on that loop.
final class GatewayHub {
    let eventLoop: any EventLoop
    let shell: GatewayShell<LoopTransport>
    let admission: GatewayAdmission
    private let inFlightWatch: InFlightWatch
    /// How long previews shall wait for each other.
    private var load: LoadGauge
    /// What waits for the clock, and previews that wait for their interval or turn.
    private let timer: LoopAlarm
    private let previewTimer: LoopAlarm
    private let turns: TurnSchedule
    /// True when the links wait for a turn.
    private var areLinksDue = false
    private let mesh: ReadinessCheck
    private let patience = StartupPatience(from: Instant(.now()))
    private let telemetry: GatewayTelemetry
    /// When figures are shown, not more often than anybody could look at them.
    private let observation: LoopAlarm
    private static let observationPause = Nanoseconds.milliseconds(200)

    init(
        eventLoop: any EventLoop, settings: GatewaySettings, tokens: TokenVerifier?, context: DaemonContext,
        telemetry: GatewayTelemetry, flushes: FlushQueue, watch: LoopWatch
    ) {
        self.eventLoop = eventLoop
        let logger = context.logger
        self.admission = GatewayAdmission(settings: settings, context: context, telemetry: telemetry)
        let apps = AppLines(behindBytes: settings.socketIO.maxBufferedBytes / 2)
        self.shell = GatewayShell(
            Gateway(
                name: Identifier(context.name), connectionPrefix: UInt32.random(in: 1...UInt32.max),
                seed: UInt64.random(in: 0...UInt64.max), limits: settings.limits, tokens: tokens),
            over: LoopTransport(
                apps: apps, flushes: flushes, watch: watch, report: self.admission.report, telemetry: telemetry,
                trace: { logger.trace($0) }),
            intake: telemetry.links.intake(at: .gateway, logger: logger))
        self.load = LoadGauge(budget: settings.promptCPU)
        self.mesh = context.health.check("mesh")
        self.telemetry = telemetry
        self.inFlightWatch = InFlightWatch(note: context.health.note("commits"), telemetry: telemetry)
        self.turns = TurnSchedule(eventLoop: eventLoop)
        self.timer = LoopAlarm(eventLoop: eventLoop)
        self.previewTimer = LoopAlarm(eventLoop: eventLoop)
        self.observation = LoopAlarm(eventLoop: eventLoop)
        flushes.afterRead = { [weak self] in self?.readEnded() }
        self.timer.ring = { [unowned self] in
            self.shell.timeReached(at: self.handled())
            self.settled()
        }
        self.previewTimer.ring = { [unowned self] in
            self.shell.previewTimeReached(at: self.handled())
            self.turn()
        }
        self.observation.ring = { [unowned self] in
            self.reviewLoad()
            telemetry.observe(self.shell.core, self.transport.routes)
        }
        eventLoop.assumeIsolated().scheduleTask(in: .nanoseconds(Int64(StartupPatience.length.count))) { [weak self] in
            self?.reviewReadiness()
        }
    }

    private var transport: LoopTransport { self.shell.transport }
    /// The present moment.
    var now: Instant { self.transport.moment }

    /// The present moment, where the loop begins to handle something.
    private func handled() -> Instant {
        let now = NIODeadline.now()
        self.transport.watch.handled(at: now)
        return Instant(now)
    }

    // MARK: Links

    /// Opens the links to the stages behind.
    /// - Throws: what is wrong with an endpoint.
    func openLinks(
        settings: GatewaySettings, sets: StageSets, keys: LinkKeys?, context: DaemonContext
    ) throws -> Waker {
        let links = try GatewayLinks(
            on: self.eventLoop, settings: settings, sets: sets, keys: keys, context: context, telemetry: self.telemetry,
            act: { [unowned self] in
                self.shell.linkChanged($0, of: $1)
                if case .envelope = $0 { return }
                self.reviewReadiness()
            }, due: { [unowned self] in self.linksAreDue() })
        self.transport.links = links
        self.linksAreDue()
        return links.waker
    }

    /// Says goodbye to the stages behind.
    func closeLinks() {
        self.transport.links?.close()
        self.transport.links = nil
    }

    private func linksAreDue() {
        self.transport.watch.handled(at: .now())
        self.areLinksDue = true
        self.settleLater()
    }

    /// Ready when every stage answers.
    private func reviewReadiness() {
        self.mesh.report(self.patience.shortage(of: self.transport.routes.owners, at: self.now))
    }

    // MARK: Apps

    /// An app came in.
    func connected(_ app: any AppLine, identity: Identity, handshake: HandshakeFields) -> Slot {
        let slot = self.shell.connected(identity: identity, handshake: handshake, at: self.now)
        self.opened(app, in: slot)
        return slot
    }

    /// A subscriber wants a room's numbered stream.
    /// - Parameter place: behind which it wants the updates, `epoch:seq`; nil: first the whole room.
    func subscribed(
        to room: String, after place: String?, as identity: Identity, respond: @escaping (HTTPResponse) -> Void
    ) throws(Refusal) {
        let slot = try self.shell.subscribed(to: room, after: place, as: identity, at: self.now)
        let line = SubscriberLine(on: self.eventLoop, respond: respond)
        line.closed = { [unowned self] in self.disconnected(slot) }
        self.opened(line, in: slot)
    }

    private func opened(_ app: any AppLine, in slot: Slot) {
        self.transport.apps.add(app, at: slot)
        let debtor = AnswerBudget.Debtor.app(self.shell.core.relay.connections.id(in: slot))
        app.drained = { [unowned self] in
            self.shell.reviewAnswers(of: [debtor], at: self.now)
            self.settleLater()
        }
        app.snapshotSent = { [unowned self] room in
            self.shell.snapshotRead(of: room, by: slot)
            self.settleLater()
        }
        self.settleLater()
    }

    /// An app sent an event.
    /// - Parameter isBinary: attachments belong to it, which are thrown away.
    func eventReceived(_ json: UnsafeRawBufferPointer, ackID: UInt64?, from slot: Slot, isBinary: Bool = false) {
        let isEvent = self.shell.eventReceived(
            Array(json), ackID: ackID, from: slot, isBinary: isBinary, at: self.handled())
        if !isEvent { self.transport.apps[slot]?.reportBadMessage() }
        self.settleLater()
    }

    /// An app went away.
    func disconnected(_ slot: Slot) {
        self.shell.disconnected(slot, at: self.now)
        self.settleLater()
    }

    /// A request came over HTTP.
    func requestReceived(_ request: AppRequest, as identity: Identity, respond: @escaping (HTTPAnswer) -> Void) {
        let number = self.shell.requestReceived(request, as: identity, at: self.now)
        let isRead = request.isRead
        self.transport.answers.requested(number) { [unowned self] answer in
            var answer = answer
            if isRead {
                let hold = AnswerHold(on: self.eventLoop) { [weak self] in self?.answerRead(number) }
                self.transport.answers.hold(number, by: hold)
                answer.hold = hold
            }
            respond(answer)
        }
        self.settleLater()
    }

    private func answerRead(_ request: UInt64) {
        self.transport.answers.read(request)
        self.shell.answerRead(request, at: self.now)
        self.settleLater()
    }

    // MARK: Turns

    /// Has a turn soon, one for all events of a read.
    private func settleLater() {
        self.turns.schedule { [unowned self] in self.turn() }
    }

    /// An app was read. Under an overload of previews, commits and their results do not wait until all apps are read. When
    /// commits alone are many they do: larger turns cost less.
    private func readEnded() {
        guard !self.shell.isPerforming, !self.shell.core.relay.rooms.intervals.isIdle else { return }
        self.turns.runIfOverdue(at: .now()) {
            self.transport.links?.standBack()
            self.turn()
        }
    }

    /// Reads the links, which the loop would do only when it has read all apps.
    private func turn() {
        self.shell.turn {
            guard let links = self.transport.links else { return }
            if exchange(&self.areLinksDue, with: false) || links.areDue { links.turn() }
        }
        self.settled()
        self.transport.watch.looked(at: .now())
    }

    /// Sets the clocks.
    private func settled() {
        self.transport.links?.recheck()
        self.observation.set(self.now + Self.observationPause)
        self.timer.set(self.shell.timerAt)
        self.previewTimer.set(self.shell.previewsAt, breath: GatewayShell<LoopTransport>.breath)
    }

    // MARK: Housekeeping

    /// Looks after what nobody waits for; called once a second.
    func keepHouse() {
        self.inFlightWatch.review(self.shell.core.commits.inFlight.oldestAge(at: self.now))
        self.telemetry.slowApps.set(self.transport.apps.countSlowApps())
        self.reviewLoad()
        let debtors = self.shell.core.joins.answers.debtors
        guard !debtors.isEmpty else { return }
        self.shell.reviewAnswers(of: debtors, at: self.now)
        self.settleLater()
    }

    /// Lets previews wait for each other as long as this process's load asks for.
    private func reviewLoad() {
        self.load.look(
            used: Nanoseconds(ProcessClock.cpuNanoseconds()),
            isOverloaded: !self.shell.core.relay.rooms.intervals.isIdle,
            at: self.now)
        self.shell.previewsWait(self.load.wait)
        self.telemetry.previewsWait(self.load.wait)
    }

    /// Other keys or revocations are in force.
    func tokensChanged(_ tokens: TokenVerifier) {
        self.shell.tokensChanged(tokens)
        self.settled()
    }

    /// Looks at the tokens' ends; called once in a while in token mode.
    func checkTokens() {
        self.shell.checkTokens()
        self.settled()
    }

    // MARK: The end

    /// Announces to all apps that this gateway is about to stop, and draws when each is closed.
    /// - Parameter spread: over how long they are closed.
    func announceDraining(spread: Nanoseconds) -> Farewell {
        let slots = self.transport.apps.slots
        let now = self.now.wholeMilliseconds
        let farewell = Farewell(slots, spread: spread, at: now) { UInt64.random(in: $0) }
        let packet = PreparedPacket(event: farewell.announcement(at: now))
        for slot in slots { self.transport.apps[slot]?.send(packet, step: nil) }
        self.transport.flushes.flush()
        return farewell
    }

    /// Goes one step on in a farewell.
    func proceed(_ farewell: inout Farewell) {
        let step = farewell.timeReached(self.now.wholeMilliseconds) {
            self.shell.core.relay.connections.owesResults($0)
        }
        self.shell.startLeaving(step.leaving)
        for slot in step.closing { self.transport.apps[slot]?.goAway() }
        self.transport.flushes.flush()
    }
}
