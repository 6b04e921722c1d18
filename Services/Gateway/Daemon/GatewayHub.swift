import Auth
import Boot
import GatewayCore
import JSONBytes
import Logging
import Mesh
import NIOCore
import SocketIO
import SocketIOServer
import Stages
import Timing
import Wire

/// Where the gateway's parts meet, on the one event loop: events of apps and envelopes of the mesh go into the core,
/// its actions go out. Everything here happens on that loop.
final class GatewayHub {
    let eventLoop: any EventLoop
    let logger: Logger
    var core: Gateway
    private let limits: Limits
    /// Apps by slot; the core knows them by their slots only.
    var apps: [(any AppLine)?] = []
    var responders: [UInt64: (HTTPAnswer) -> Void] = [:]
    var topology: MeshTopology
    var senders: MeshSenders
    private var handshakes: GatewayCore.TokenBucket
    private let degraded: HealthNote
    /// Storage for the core's next actions.
    private var spareActions: [GatewayAction] = []
    /// Room for so many actions is kept between turns.
    private static let keptActions = 1024
    private let outbox: Mailbox<MeshOrder>
    let news: Mailbox<MeshNews>
    let intake: EnvelopeIntake
    var fresh: [MeshNews] = []
    var arrivals = MeshArrivals()
    /// When previews that wait are looked at; see `armDelivery`.
    var delivery: Scheduled<Void>?
    var deliveryAt: UInt64 = .max
    private var timer: Scheduled<Void>?
    private var timerAt: UInt64 = .max
    private let turns: TurnSchedule
    /// Commits that had been accepted when the last turn ended.
    private var commitsSeen: UInt64 = 0
    /// Since when something from the mesh waits for a turn.
    private var newsArrival: NIODeadline?
    let flushes: FlushQueue
    let face = FaceApps()
    let mesh: ReadinessCheck
    let patience = StartupPatience(from: Instant(nanoseconds: NIODeadline.now().uptimeNanoseconds))
    private let telemetry: GatewayTelemetry
    private var isObservationDue = false
    /// How often figures are shown, ms.
    private static let observationMs: Int64 = 200
    /// Bytes that may wait for an app before it gets no more updates and must join again.
    let behindBytes: Int
    /// Custody older than this is worth a word to operators, ms.
    private static let slowCustodyMs: UInt64 = 2000

    init(
        eventLoop: any EventLoop, settings: GatewaySettings, tokens: TokenVerifier?, context: DaemonContext,
        telemetry: GatewayTelemetry, flushes: FlushQueue, outbox: Mailbox<MeshOrder>, news: Mailbox<MeshNews>
    ) {
        self.eventLoop = eventLoop
        self.logger = context.logger
        self.limits = settings.limits
        self.core = Gateway(
            name: Identifier(context.name), connectionPrefix: UInt32.random(in: 1...UInt32.max),
            seed: UInt64.random(in: 0...UInt64.max), limits: settings.limits, tokens: tokens)
        self.topology = MeshTopology(
            coalescers: settings.coalescers.map(\.name), committers: settings.committers.map(\.name),
            fanouts: settings.fanouts.map(\.name))
        self.senders = MeshSenders(
            coalescers: settings.coalescers.count, committers: settings.committers.count,
            fanouts: settings.fanouts.count, pause: settings.linkPause.milliseconds)
        self.outbox = outbox
        self.news = news
        self.intake = EnvelopeIntake(logger: context.logger) { telemetry.envelopeMalformed() }
        self.mesh = context.health.check("mesh")
        self.telemetry = telemetry
        self.degraded = context.health.note("commits")
        self.handshakes = GatewayCore.TokenBucket(
            capacity: settings.handshakesPerSecond, perSecond: settings.handshakesPerSecond,
            now: NIODeadline.now().uptimeNanoseconds / 1_000_000)
        self.flushes = flushes
        self.turns = TurnSchedule(eventLoop: eventLoop, pause: TurnPause(length: settings.turnPause.nanoseconds))
        self.behindBytes = settings.socketIO.maxBufferedBytes / 2
        eventLoop.assumeIsolated().scheduleTask(in: .nanoseconds(Int64(StartupPatience.length.count))) { [weak self] in
            self?.reviewReadiness()
        }
    }

    // MARK: Time

    /// Milliseconds of the monotonic clock.
    var now: UInt64 { NIODeadline.now().uptimeNanoseconds / 1_000_000 }
    /// Seconds since 1970, for tokens only.
    var seconds: Int64 { WallClock.seconds() }

    // MARK: Apps

    /// Whether one more connection may open now, or is told to come a moment later.
    func mayShakeHands() -> Bool {
        if self.handshakes.take(at: self.now) { return true }
        self.telemetry.handshakeRefused()
        return false
    }

    /// An app asks to come in: it is identified by its handshake.
    /// - Parameter guest: the user's name in open mode when the handshake gives none; nil: a random one.
    func admit(
        auth: UnsafeRawBufferPointer, query: (StaticString) -> String?, header: (StaticString) -> String?,
        guest: String? = nil
    ) -> Result<(Identity, HandshakeFields), Refusal> {
        do throws(Refusal) {
            var payload: JSONValue?
            if !auth.isEmpty {
                var document = JSONDocument()
                do {
                    try document.parse(auth, limits: self.limits.json)
                } catch {
                    throw Refusal(.invalid, "The auth payload is not valid JSON.", field: "auth")
                }
                payload = document.root
            }
            let fields = try HandshakeFields(auth: payload, query: query, header: header)
            let guest = guest ?? Self.guestName()
            return self.core.identify(fields, guest: guest, seconds: self.seconds).map { ($0, fields) }
        } catch {
            return .failure(error)
        }
    }

    /// A random name: of 15 bytes, which a text holds without memory of its own.
    private static func guestName() -> String {
        // 36^8 up to 36^9: nine digits.
        "guest-" + String(Int.random(in: 2_821_109_907_456..<101_559_956_668_416), radix: 36)
    }

    /// An app came in.
    func connected(_ app: any AppLine, identity: Identity, handshake: HandshakeFields) -> Slot {
        let slot = self.core.connected(identity: identity, handshake: handshake, at: self.now)
        if slot == self.apps.count {
            self.apps.append(app)
        } else {
            self.apps[slot] = app
        }
        self.settleLater()
        return slot
    }

    /// An app sent an event.
    func received(_ json: UnsafeRawBufferPointer, ackID: UInt64?, from slot: Slot) {
        let isReadable = self.core.received(
            Array(json), ackID: ackID, from: slot, at: self.now, seconds: self.seconds)
        if !isReadable { self.apps[slot]?.reportBadMessage() }
        self.settleLater()
    }

    /// An app went away.
    func disconnected(_ slot: Slot) {
        self.core.disconnected(slot, at: self.now)
        if self.apps.indices.contains(slot) { self.apps[slot] = nil }
        self.settleLater()
    }

    // MARK: HTTP

    func read(room: String, as identity: Identity, respond: @escaping (HTTPAnswer) -> Void) {
        let request = self.core.read(room: room, as: identity, at: self.now)
        self.responders[request] = respond
        self.settleLater()
    }

    func create(
        in room: String, body: [UInt8], session: Identifier, as identity: Identity,
        respond: @escaping (HTTPAnswer) -> Void
    ) {
        let request = self.core.create(in: room, body: body, session: session, as: identity, at: self.now)
        self.responders[request] = respond
        self.settleLater()
    }

    // MARK: Doing what the core decided

    /// The mesh's thread put something into the empty mailbox: handled now, or in the next turn during a pause.
    func newsArrived(at arrival: NIODeadline) {
        guard self.turns.isPausing else { return self.drainNews(since: arrival) }
        self.newsArrival = arrival
        self.settleLater()
    }

    /// Performs soon, once for all events of a read.
    private func settleLater() {
        self.turns.schedule { [unowned self] in self.turn() }
    }

    /// Only commits pause the next turn: it would cost previews their age, and saves no CPU with them.
    private func turn() {
        if let arrival = exchange(&self.newsArrival, with: nil) {
            self.drainNews(since: arrival)
        } else {
            self.settle()
        }
        let commits = self.core.counters.commits
        if exchange(&self.commitsSeen, with: commits) != commits { self.turns.turnWithCommitsEnded() }
    }

    func settle() {
        self.batched { self.perform() }
        let now = self.now
        self.senders.flush(at: now) { orders in
            let weight = orders.reduce(0) { $0 + $1.weight }
            return self.outbox.handOver(&orders, weight: weight) != .full
        }
        self.observeLater()
        self.armTimer(now)
        self.armDelivery()
    }

    /// Runs what sends to many apps, and flushes their connections once.
    func batched(_ body: () -> Void) {
        self.flushes.flushing(body)
    }

    /// Shows the figures, not more often than anybody could look at them.
    private func observeLater() {
        guard !self.isObservationDue else { return }
        self.isObservationDue = true
        self.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(Self.observationMs)) { [weak self] in
            guard let self else { return }
            self.isObservationDue = false
            self.telemetry.observe(self.core, lanesClosed: self.senders.closedCount)
        }
    }

    func perform() {
        // What is done may lead to more.
        while !self.core.actions.isEmpty {
            // Two arrays take turns: what the core wrote into is not made anew for every read.
            var actions = exchange(&self.spareActions, with: [])
            swap(&self.core.actions, &actions)
            for action in actions { self.perform(action) }
            actions.removeAll(keepingCapacity: actions.capacity <= Self.keptActions)
            self.spareActions = actions
        }
    }

    // MARK: Timer

    private func armTimer(_ now: UInt64) {
        let due = min(self.core.nextTick(after: now) ?? .max, self.senders.nextFlush ?? .max)
        guard due < self.timerAt else { return }
        self.timer?.cancel()
        self.timerAt = due
        self.timer = self.eventLoop.assumeIsolated().scheduleTask(deadline: .uptimeNanoseconds(due * 1_000_000)) {
            [unowned self] in
            self.timerAt = .max
            self.core.tick(at: self.now, seconds: self.seconds)
            self.settle()
        }
    }

    /// Looks after what nobody waits for; called once a second.
    func keepHouse() {
        let age = self.core.oldestCustody(at: self.now)
        self.telemetry.custodyAge(age)
        self.degraded.say(age > Self.slowCustodyMs ? "commits have waited for their results for \(age / 1000) s" : nil)
    }

    /// Lets go of back ends that were silent for too long; called once in a while.
    func dropSilentBackEnds() {
        self.face.dropSilent(from: self)
    }

    /// Sends a packet to a back end.
    func sendFace(_ text: [UInt8], to peer: [UInt8]) {
        self.senders.face(text, to: peer)
        self.settleLater()
    }

    /// Looks at the tokens' ends; called once in a while in token mode.
    func checkTokens() {
        self.core.checkTokens(seconds: self.seconds)
        self.settle()
    }
}

/// An answer to an HTTP request.
struct HTTPAnswer {
    let status: Int
    let json: [UInt8]
}
