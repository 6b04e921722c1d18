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
    let logger: Logger
    var core: Gateway
    var actions = ActionBuffer<GatewayAction>()
    /// True while actions are performed: what leads to more meanwhile must come after them.
    var isPerforming = false
    var apps: AppLines
    var responders: [UInt64: (HTTPAnswer) -> Void] = [:]
    /// The lines of apps that have gone and whose connections still hold answers, by their connections' ids.
    private var departed: [UInt64: any AppLine] = [:]
    /// The answers to reads over HTTP that their clients have not read.
    private var holds: [UInt64: WeakHold] = [:]
    var routes: MeshRoutes
    let admission: GatewayAdmission
    private let inFlightWatch: InFlightWatch
    /// The links to the stages behind, once they are open.
    private var links: GatewayLinks?
    /// How long previews shall wait for each other.
    private var gathering: GatheringGauge
    let intake: EnvelopeIntake
    var arrivals = MeshArrivals()
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
    let face: FaceApps
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
        self.logger = context.logger
        self.core = Gateway(
            name: Identifier(context.name), connectionPrefix: UInt32.random(in: 1...UInt32.max),
            seed: UInt64.random(in: 0...UInt64.max), limits: settings.limits, tokens: tokens)
        self.routes = MeshRoutes(pause: Nanoseconds(settings.linkPause))
        self.gathering = GatheringGauge(budget: settings.promptCPU)
        self.intake = telemetry.linkRefusals.intake(at: .gateway, logger: context.logger)
        self.mesh = context.health.check("mesh")
        self.telemetry = telemetry
        self.inFlightWatch = InFlightWatch(note: context.health.note("commits"), telemetry: telemetry)
        self.admission = GatewayAdmission(settings: settings, context: context, telemetry: telemetry)
        self.face = FaceApps(badMessages: RateMeter(perMinute: settings.socketIO.badPacketBudget))
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
            self.reviewGathering()
            telemetry.observe(self.core, self.routes)
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
        if self.core.joins.answers.waitingCount > 0 { self.reviewAnswers(of: self.core.joins.answers.debtors) }
        self.core.timeReached(self.handled(), seconds: self.seconds, into: &self.actions.pending)
        self.settle()
    }

    private func previewTimeReached() {
        let now = self.handled()
        if self.beginPreviewTurn() { self.core.previewTimeReached(now, into: &self.actions.pending) }
        self.readLinks()
    }

    /// Previews may be delivered to as many members as in a turn, unless they were in this pass of the loop.
    /// - Returns: false when they were.
    @discardableResult
    func beginPreviewTurn() -> Bool {
        guard self.watch.takePreviewTurn() else { return false }
        self.core.turnBegan()
        return true
    }

    // MARK: Apps

    /// An app came in.
    func connected(_ app: any AppLine, identity: Identity, handshake: HandshakeFields) -> Slot {
        // What still waits to be done for another app that had the slot before.
        self.perform()
        let slot = self.core.connected(
            identity: identity, handshake: handshake, at: self.now, into: &self.actions.pending)
        self.apps.add(app, at: slot)
        let debtor = AnswerBudget.Debtor.app(self.core.connectionID(in: slot))
        app.drained = { [unowned self] in
            self.reviewAnswers(of: [debtor])
            self.settleLater()
        }
        app.snapshotSent = { [unowned self] room in
            self.core.snapshotRead(of: room, by: slot, into: &self.actions.pending)
            self.settleLater()
        }
        self.settleLater()
        return slot
    }

    /// An app sent an event.
    /// - Parameter isBinary: attachments belong to it, which are thrown away.
    func eventReceived(_ json: UnsafeRawBufferPointer, ackID: UInt64?, from slot: Slot, isBinary: Bool = false) {
        let isEvent = self.core.eventReceived(
            Array(json), ackID: ackID, from: slot, isBinary: isBinary, at: self.handled(), seconds: self.seconds,
            into: &self.actions.pending)
        if !isEvent { self.apps[slot]?.reportBadMessage() }
        self.settleLater()
    }

    /// An app went away.
    func disconnected(_ slot: Slot) {
        let connection = self.core.connectionID(in: slot)
        self.core.disconnected(slot, at: self.now, into: &self.actions.pending)
        // The slot may soon be another app's.
        self.apps[slot]?.ended()
        if self.core.joins.answers.owed(by: .app(connection)) > 0 { self.departed[connection] = self.apps[slot] }
        self.apps.remove(slot)
        self.settleLater()
    }

    // MARK: HTTP

    /// A request came over HTTP.
    func requestReceived(_ request: AppRequest, as identity: Identity, respond: @escaping (HTTPAnswer) -> Void) {
        let number = self.core.requestReceived(
            request, as: identity, at: self.now, seconds: self.seconds, into: &self.actions.pending)
        let isRead = request.isRead
        self.responders[number] = { [unowned self] answer in
            var answer = answer
            if isRead {
                let hold = AnswerHold(on: self.eventLoop) { [weak self] in self?.answerRead(number) }
                self.holds[number] = WeakHold(hold: hold)
                answer.hold = hold
            }
            respond(answer)
        }
        self.settleLater()
    }

    private func answerRead(_ request: UInt64) {
        self.holds[request] = nil
        self.core.answerRead(request, at: self.now, into: &self.actions.pending)
        self.settleLater()
    }

    // MARK: Answers

    /// Hears from the apps' connections how much of their answers the kernel took.
    private func reviewAnswers(of debtors: [AnswerBudget.Debtor]) {
        for case .app(let connection) in debtors {
            let line = self.core.slot(of: connection).flatMap { self.apps[$0] } ?? self.departed[connection]
            let bytes = line?.outstandingBytes ?? 0
            if bytes == 0 { self.departed[connection] = nil }
            self.core.answersTaken(by: .app(connection), holding: bytes, at: self.now, into: &self.actions.pending)
        }
    }

    /// Closes a connection immediately.
    func shed(_ debtor: AnswerBudget.Debtor) {
        switch debtor {
        case .app(let connection):
            (self.core.slot(of: connection).flatMap { self.apps[$0] } ?? self.departed[connection])?.shed()
        case .request(let number): self.holds[number]?.hold?.drop()
        }
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
        guard !self.isPerforming, !self.core.rooms.paces.isIdle else { return }
        self.turns.runIfOverdue(at: .now()) {
            self.links?.standBack()
            self.turn()
        }
    }

    /// Reads the links, which the loop would do only when it has read all apps.
    private func readLinks() {
        let areDue = exchange(&self.areLinksDue, with: false) || self.links?.areDue == true
        if areDue, let links = self.links {
            for news in links.turn() { self.handle(news) }
            self.arrivalsEnded()
        }
        self.settle()
        self.watch.looked(at: .now())
    }

    private func turn() {
        self.readLinks()
        self.turns.turnEnded(commits: self.core.commits.inFlight.acceptedTotal)
    }

    func settle() {
        self.batched { self.perform() }
        let fresh = self.core.takeFreshDebtors()
        if !fresh.isEmpty { self.reviewAnswers(of: fresh) }
        let now = NIODeadline.now()
        // To the nanosecond: their pause may be a fraction of a millisecond, and the timer would ring until it is over.
        self.links?.flush(&self.routes, at: Instant(nanoseconds: now.uptimeNanoseconds))
        self.observation.set(Instant(wholeMillisecondsOf: now) + Self.observationPause)
        self.timer.set(self.core.nextDeadline?.roundedUpToMilliseconds)
        self.timer.set(self.routes.nextDeadline)
        self.previewTimer.set(self.core.nextPreviewDeadline()?.roundedUpToMilliseconds, breath: Self.breath)
    }

    /// Runs what sends to many apps, and flushes their connections once.
    func batched(_ body: () -> Void) {
        self.flushes.flushing(body)
    }

    /// Lets previews wait for each other as long as this process's load asks for.
    private func reviewGathering() {
        self.gathering.look(
            used: Nanoseconds(ProcessClock.cpuNanoseconds()), isOverloaded: !self.core.rooms.paces.isIdle,
            at: self.now)
        self.routes.gather(self.gathering.level)
        self.telemetry.gathering(self.gathering.level)
    }

    // MARK: Housekeeping

    /// Looks after what nobody waits for; called once a second.
    func keepHouse() {
        self.inFlightWatch.review(self.core.commits.inFlight.oldestAge(at: self.now))
        self.telemetry.slowApps.set(self.apps.countSlowApps())
        self.reviewGathering()
        let debtors = self.core.joins.answers.debtors
        guard !debtors.isEmpty else { return }
        self.reviewAnswers(of: debtors)
        self.settleLater()
    }

    /// Lets go of back ends that were silent for too long; called once in a while.
    func dropSilentBackEnds() {
        self.face.dropSilent(from: self)
    }

    /// Sends a packet to a back end.
    func sendFace(_ text: [UInt8], to peer: [UInt8]) {
        self.links?.sendFace(text, to: peer)
        self.settleLater()
    }

    /// Other keys or revocations are in force.
    func tokensChanged(_ tokens: TokenVerifier) {
        self.core.tokensChanged(tokens, into: &self.actions.pending)
        self.settle()
    }

    /// Looks at the tokens' ends; called once in a while in token mode.
    func checkTokens() {
        self.core.checkTokens(at: Int64(self.seconds), into: &self.actions.pending)
        self.settle()
    }
}

/// An answer's hold, which its connection has.
private struct WeakHold {
    weak var hold: AnswerHold?
}
