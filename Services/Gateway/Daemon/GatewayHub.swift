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

/// Where the gateway's parts meet, on the one event loop: events of apps and envelopes of the stages go into the core, its
/// actions go out. Everything here happens on that loop.
final class GatewayHub {
    let eventLoop: any EventLoop
    let stage: GatewayStage
    var apps: AppLines
    var answers = OpenAnswers()
    let admission: GatewayAdmission
    private let inFlightWatch: InFlightWatch
    /// The links to the stages behind, once they are open.
    private var links: GatewayLinks?
    /// How long previews shall wait for each other.
    private var load: LoadGauge
    /// The moment of the links' turn in which something came.
    var arrivalsAt: Instant?
    /// What waits for the clock, and previews that wait for their pace or turn.
    private let timer: LoopAlarm
    private let previewTimer: LoopAlarm
    /// Previews that are due already let what came in the meantime go first: what apps sent, and results.
    private static let breath = TimeAmount.microseconds(50)
    private let turns: TurnSchedule
    /// How late the loop is.
    let watch: LoopWatch
    /// True when the links wait for a turn.
    private var areLinksDue = false
    let flushes: FlushQueue
    let mesh: ReadinessCheck
    let patience = StartupPatience(from: Instant(nanoseconds: NIODeadline.now().uptimeNanoseconds))
    let telemetry: GatewayTelemetry
    /// When figures are shown, not more often than anybody could look at them.
    private let observation: LoopAlarm
    private static let observationPause = Nanoseconds.milliseconds(200)

    init(
        eventLoop: any EventLoop, settings: GatewaySettings, tokens: TokenVerifier?, context: DaemonContext,
        telemetry: GatewayTelemetry, flushes: FlushQueue, watch: LoopWatch
    ) {
        self.eventLoop = eventLoop
        let logger = context.logger
        self.stage = GatewayStage(
            Gateway(
                name: Identifier(context.name), connectionPrefix: UInt32.random(in: 1...UInt32.max),
                seed: UInt64.random(in: 0...UInt64.max), limits: settings.limits, tokens: tokens),
            routes: MeshRoutes(pause: Nanoseconds(settings.linkPause)),
            intake: telemetry.linkRefusals.intake(at: .gateway, logger: logger), trace: { logger.trace($0) })
        self.load = LoadGauge(budget: settings.promptCPU)
        self.mesh = context.health.check("mesh")
        self.telemetry = telemetry
        self.inFlightWatch = InFlightWatch(note: context.health.note("commits"), telemetry: telemetry)
        self.admission = GatewayAdmission(settings: settings, context: context, telemetry: telemetry)
        self.flushes = flushes
        self.watch = watch
        self.turns = TurnSchedule(eventLoop: eventLoop, pause: TurnPause(length: Nanoseconds(settings.turnPause)))
        self.apps = AppLines(behindBytes: settings.socketIO.maxBufferedBytes / 2)
        self.timer = LoopAlarm(eventLoop: eventLoop)
        self.previewTimer = LoopAlarm(eventLoop: eventLoop)
        self.observation = LoopAlarm(eventLoop: eventLoop)
        flushes.afterRead = { [weak self] in self?.readEnded() }
        self.timer.ring = { [unowned self] in self.timeReached() }
        self.previewTimer.ring = { [unowned self] in self.previewTimeReached() }
        self.observation.ring = { [unowned self] in
            self.reviewLoad()
            telemetry.observe(self.stage.core, self.stage.routes)
        }
        eventLoop.assumeIsolated().scheduleTask(in: .nanoseconds(Int64(StartupPatience.length.count))) { [weak self] in
            self?.reviewReadiness()
        }
    }

    /// Opens the links to the stages behind.
    /// - Throws: what is wrong with an endpoint.
    func openLinks(
        settings: GatewaySettings, sets: StageSets, keys: LinkKeys?, context: DaemonContext
    ) throws -> Waker {
        let links = try GatewayLinks(
            on: self.eventLoop, settings: settings, sets: sets, keys: keys, context: context, telemetry: self.telemetry,
            act: { [unowned self] in self.handle($0, of: $1) }, due: { [unowned self] in self.linksAreDue() })
        self.links = links
        self.linksAreDue()
        return links.waker
    }

    /// Says goodbye to the stages behind.
    func closeLinks() {
        self.links?.close()
        self.links = nil
    }

    // MARK: Time

    /// The present moment, as the core hears of it.
    var now: Instant { Instant(wholeMillisecondsOf: .now()) }
    /// Seconds since 1970, for tokens only.
    var seconds: Double { WallClock.exactSeconds() }

    /// The present moment, where the loop begins to handle something.
    private func handled() -> Instant {
        let now = NIODeadline.now()
        self.watch.handled(at: now)
        return Instant(wholeMillisecondsOf: now)
    }

    private func timeReached() {
        if self.stage.core.joins.answers.waitingCount > 0 {
            self.reviewAnswers(of: self.stage.core.joins.answers.debtors)
        }
        self.stage.core.timeReached(self.handled(), seconds: self.seconds, into: &self.stage.actions.pending)
        self.settle()
    }

    private func previewTimeReached() {
        let now = self.handled()
        if self.beginPreviewTurn() { self.stage.core.previewTimeReached(now, into: &self.stage.actions.pending) }
        self.readLinks()
    }

    /// Previews may be delivered to as many members as in a turn, unless they were in this pass of the loop.
    /// - Returns: false when they were.
    @discardableResult
    func beginPreviewTurn() -> Bool {
        guard self.watch.takePreviewTurn() else { return false }
        self.stage.core.turnBegan()
        return true
    }

    // MARK: Apps

    /// An app came in.
    func connected(_ app: any AppLine, identity: Identity, handshake: HandshakeFields) -> Slot {
        // What still waits to be done for another app that had the slot before.
        self.perform()
        let slot = self.stage.core.connected(
            identity: identity, handshake: handshake, at: self.now, into: &self.stage.actions.pending)
        self.opened(app, in: slot)
        return slot
    }

    /// A subscriber wants a room's numbered stream.
    /// - Parameter place: behind which it wants the updates, `epoch:seq`; nil: first the whole room.
    func subscribed(
        to room: String, after place: String?, as identity: Identity, respond: @escaping (HTTPResponse) -> Void
    ) throws(Refusal) {
        self.perform()
        let slot = try self.stage.core.subscribed(
            to: room, after: place, as: identity, at: self.now, into: &self.stage.actions.pending)
        let line = SubscriberLine(on: self.eventLoop, respond: respond)
        line.closed = { [unowned self] in self.disconnected(slot) }
        self.opened(line, in: slot)
    }

    private func opened(_ app: any AppLine, in slot: Slot) {
        self.apps.add(app, at: slot)
        let debtor = AnswerBudget.Debtor.app(self.stage.core.connectionID(in: slot))
        app.drained = { [unowned self] in
            self.reviewAnswers(of: [debtor])
            self.settleLater()
        }
        app.snapshotSent = { [unowned self] room in
            self.stage.core.snapshotRead(of: room, by: slot, into: &self.stage.actions.pending)
            self.settleLater()
        }
        self.settleLater()
    }

    /// An app sent an event.
    /// - Parameter isBinary: attachments belong to it, which are thrown away.
    func eventReceived(_ json: UnsafeRawBufferPointer, ackID: UInt64?, from slot: Slot, isBinary: Bool = false) {
        let isEvent = self.stage.core.eventReceived(
            Array(json), ackID: ackID, from: slot, isBinary: isBinary, at: self.handled(), seconds: self.seconds,
            into: &self.stage.actions.pending)
        if !isEvent { self.apps[slot]?.reportBadMessage() }
        self.settleLater()
    }

    /// An app went away.
    func disconnected(_ slot: Slot) {
        let connection = self.stage.core.connectionID(in: slot)
        self.stage.core.disconnected(slot, at: self.now, into: &self.stage.actions.pending)
        // The slot may soon be another app's.
        self.apps[slot]?.ended()
        if self.stage.core.joins.answers.owed(by: .app(connection)) > 0 {
            self.answers[departed: connection] = self.apps[slot]
        }
        self.apps.remove(slot)
        self.settleLater()
    }

    // MARK: HTTP

    /// A request came over HTTP.
    func requestReceived(_ request: AppRequest, as identity: Identity, respond: @escaping (HTTPAnswer) -> Void) {
        let number = self.stage.core.requestReceived(
            request, as: identity, at: self.now, seconds: self.seconds, into: &self.stage.actions.pending)
        let isRead = request.isRead
        self.answers.requested(number) { [unowned self] answer in
            var answer = answer
            if isRead {
                let hold = AnswerHold(on: self.eventLoop) { [weak self] in self?.answerRead(number) }
                self.answers.hold(number, by: hold)
                answer.hold = hold
            }
            respond(answer)
        }
        self.settleLater()
    }

    private func answerRead(_ request: UInt64) {
        self.answers.read(request)
        self.stage.core.answerRead(request, at: self.now, into: &self.stage.actions.pending)
        self.settleLater()
    }

    // MARK: Answers

    /// Hears from the apps' connections how much of their answers the kernel took.
    private func reviewAnswers(of debtors: [AnswerBudget.Debtor]) {
        for case .app(let connection) in debtors {
            let bytes = self.line(of: connection)?.outstandingBytes ?? 0
            if bytes == 0 { self.answers[departed: connection] = nil }
            self.stage.core.answersTaken(
                by: .app(connection), holding: bytes, at: self.now, into: &self.stage.actions.pending)
        }
    }

    /// Closes a connection immediately.
    func shed(_ debtor: AnswerBudget.Debtor) {
        switch debtor {
        case .app(let connection): self.line(of: connection)?.shed()
        case .request(let number): self.answers.drop(number)
        }
    }

    private func line(of connection: UInt64) -> (any AppLine)? {
        self.stage.core.slot(of: connection).flatMap { self.apps[$0] } ?? self.answers[departed: connection]
    }

    // MARK: Turns

    /// The links have something.
    func linksAreDue() {
        self.watch.handled(at: .now())
        self.areLinksDue = true
        self.settleLater()
    }

    /// Performs soon, once for all events of a read.
    private func settleLater() {
        self.turns.schedule { [unowned self] in self.turn() }
    }

    /// An app was read. Under an overload of previews, commits and their results do not wait until all apps are read. When
    /// commits alone are many they do: larger turns cost less.
    private func readEnded() {
        guard !self.stage.isPerforming, !self.stage.core.rooms.paces.isIdle else { return }
        self.turns.runIfOverdue(at: .now()) {
            self.links?.standBack()
            self.turn()
        }
    }

    /// Reads the links, which the loop would do only when it has read all apps.
    private func readLinks() {
        let areDue = exchange(&self.areLinksDue, with: false) || self.links?.areDue == true
        if areDue, let links = self.links {
            links.turn()
            self.arrivalsEnded()
        }
        self.settle()
        self.watch.looked(at: .now())
    }

    private func turn() {
        self.readLinks()
        self.turns.turnEnded(commits: self.stage.core.commits.inFlight.acceptedTotal)
    }

    func settle() {
        self.batched { self.perform() }
        let fresh = self.stage.core.takeFreshDebtors()
        if !fresh.isEmpty { self.reviewAnswers(of: fresh) }
        let now = NIODeadline.now()
        // To the nanosecond: their pause may be a fraction of a millisecond, and the timer would ring until it is over.
        self.links?.flush(&self.stage.routes, at: Instant(nanoseconds: now.uptimeNanoseconds))
        self.observation.set(Instant(wholeMillisecondsOf: now) + Self.observationPause)
        self.timer.set(self.stage.core.nextDeadline?.roundedUpToMilliseconds)
        self.timer.set(self.stage.routes.nextDeadline)
        self.previewTimer.set(self.stage.core.nextPreviewDeadline()?.roundedUpToMilliseconds, breath: Self.breath)
    }

    /// Runs what sends to many apps, and flushes their connections once.
    func batched(_ body: () -> Void) {
        self.flushes.flushing(body)
    }

    /// Lets previews wait for each other as long as this process's load asks for.
    private func reviewLoad() {
        self.load.look(
            used: Nanoseconds(ProcessClock.cpuNanoseconds()), isOverloaded: !self.stage.core.rooms.paces.isIdle,
            at: self.now)
        self.stage.previewsWait(self.load.wait)
        self.telemetry.previewsWait(self.load.wait)
    }

    // MARK: Housekeeping

    /// Looks after what nobody waits for; called once a second.
    func keepHouse() {
        self.inFlightWatch.review(self.stage.core.commits.inFlight.oldestAge(at: self.now))
        self.telemetry.slowApps.set(self.apps.countSlowApps())
        self.reviewLoad()
        let debtors = self.stage.core.joins.answers.debtors
        guard !debtors.isEmpty else { return }
        self.reviewAnswers(of: debtors)
        self.settleLater()
    }

    /// Other keys or revocations are in force.
    func tokensChanged(_ tokens: TokenVerifier) {
        self.stage.core.tokensChanged(tokens, into: &self.stage.actions.pending)
        self.settle()
    }

    /// Looks at the tokens' ends; called once in a while in token mode.
    func checkTokens() {
        self.stage.core.checkTokens(at: Int64(self.seconds), into: &self.stage.actions.pending)
        self.settle()
    }
}
