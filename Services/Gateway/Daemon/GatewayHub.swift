import Auth
import Boot
import GatewayCore
import JSONBytes
import Logging
import Mesh
import NIOCore
import SocketIO
import SocketIOServer
import Wire

/// Where the gateway's parts meet, on the one event loop: events of apps and envelopes of the mesh go into the core,
/// its actions go out. Everything here happens on that loop.
final class GatewayHub {
    private let eventLoop: any EventLoop
    let logger: Logger
    var core: Gateway
    private let limits: Limits
    /// Apps by slot; the core knows them by their slots only.
    var apps: [(any AppLine)?] = []
    private var responders: [UInt64: (HTTPAnswer) -> Void] = [:]
    private var topology: MeshTopology
    private var senders: MeshSenders
    private var handshakes: GatewayCore.TokenBucket
    private let degraded: HealthNote
    private let news: Mailbox<MeshNews>
    private var fresh: [MeshNews] = []
    /// Previews of this turn, the rooms that they are of, and of how many envelopes.
    private var previews: [Preview] = []
    private var previewRooms: Set<Identifier> = []
    private var previewEnvelopes = 0
    private var timer: Scheduled<Void>?
    private var timerAt: UInt64 = .max
    private var isSettling = false
    weak var server: SocketIOServer?
    private lazy var face = FaceApps(hub: self) { [unowned self] peer, text in
        self.senders.face(text, to: peer)
        self.settleLater()
    }
    private let mesh: ReadinessCheck
    private let peerCount: Int
    private var waitsForPeersUntil: UInt64 = 0
    /// How long a starting gateway waits for those of its peers that do not answer, ms.
    private static let peerPatienceMs: UInt64 = 3000
    private let telemetry: GatewayTelemetry
    private var isObservationDue = false
    /// How often figures are shown, ms.
    private static let observationMs: Int64 = 200
    /// Bytes that may wait for an app before it gets no more updates and must join again.
    private let behindBytes: Int
    /// Custody older than this is worth a word to operators, ms.
    private static let slowCustodyMs: UInt64 = 2000

    init(
        eventLoop: any EventLoop, settings: GatewaySettings, context: DaemonContext, telemetry: GatewayTelemetry,
        outbox: Mailbox<MeshOrder>, news: Mailbox<MeshNews>
    ) {
        self.eventLoop = eventLoop
        self.logger = context.logger
        self.limits = settings.limits
        self.core = Gateway(
            name: Identifier(context.name), connectionPrefix: UInt32.random(in: 1...UInt32.max),
            seed: UInt64.random(in: 0...UInt64.max), limits: settings.limits, tokens: settings.tokens)
        self.topology = MeshTopology()
        self.senders = MeshSenders(outbox: outbox, pause: settings.linkPause.milliseconds)
        self.news = news
        self.mesh = context.health.check("mesh")
        self.telemetry = telemetry
        self.degraded = context.health.note("commits")
        self.handshakes = GatewayCore.TokenBucket(
            capacity: settings.handshakesPerSecond, perSecond: settings.handshakesPerSecond,
            now: NIODeadline.now().uptimeNanoseconds / 1_000_000)
        self.behindBytes = settings.socketIO.maxBufferedBytes / 2
        self.peerCount = settings.coalescers.count + settings.committers.count + settings.fanouts.count
        self.waitsForPeersUntil = self.now + Self.peerPatienceMs
        eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(Int64(Self.peerPatienceMs))) { [weak self] in
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
                    throw Refusal(.invalid, "the auth payload is no valid JSON", field: "auth")
                }
                payload = document.root
            }
            let fields = try HandshakeFields(auth: payload, query: query, header: header)
            let guest = guest ?? "guest-" + String(UInt64.random(in: 1 << 40..<1 << 52), radix: 36)
            return self.core.identify(fields, guest: guest, seconds: self.seconds).map { ($0, fields) }
        } catch {
            return .failure(error)
        }
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

    // MARK: Mesh

    /// Takes over what the mesh's thread has laid down.
    func drainNews() {
        self.news.drain(into: &self.fresh)
        let now = self.now
        for item in self.fresh {
            switch item {
            case .up(let stage, let peer, let greeting):
                self.senders.up(stage, peer, greeting: greeting)
                self.linkChanged(stage, peer, isUp: true, at: now)
            case .down(let stage, let peer):
                self.senders.down(stage, peer)
                self.linkChanged(stage, peer, isUp: false, at: now)
            case .previewLane(let peer, let isOpen): self.senders.setOpen(isOpen, peer: peer)
            case .envelope(let stage, let peer, let bytes):
                self.envelopeReceived(bytes, from: stage, peer, at: now)
            case .face(let peer, let text): self.face.received(text, from: peer)
            case .faceGone(let peer): self.face.gone(peer)
            }
        }
        self.fresh.removeAll(keepingCapacity: true)
        self.takePreviews()
        self.batched {
            self.perform()
            self.releaseHeld(at: now)
        }
        self.settle()
    }

    private func linkChanged(_ stage: Stage, _ peer: String, isUp: Bool, at now: UInt64) {
        let change = self.topology.changed(stage, peer, isUp: isUp)
        switch stage {
        case .fanout:
            for (hadOwner, shards) in [(true, change.handedOver), (false, change.orphaned)] where !shards.isEmpty {
                self.core.fanoutMoved(shards: shards, hadOwner: hadOwner, at: now)
                self.perform()
            }
        case .coalescer, .committer:
            if !change.orphaned.isEmpty { self.core.commitPathChanged(shards: change.orphaned, at: now) }
        }
        self.reviewReadiness()
    }

    /// Ready when every stage answers. At the start all of its peers are waited for, for a moment: gateways that see
    /// different peers would turn to different fan-outs for the same room.
    private func reviewReadiness() {
        if let missing = Stage.allCases.first(where: { !self.topology.isServed($0) }) {
            self.mesh.notReady("no \(missing) answers")
        } else if self.topology.liveCount == self.peerCount || self.now >= self.waitsForPeersUntil {
            self.mesh.ready()
        } else {
            self.mesh.notReady("some peers do not answer yet")
        }
    }

    private func envelopeReceived(_ bytes: [UInt8], from stage: Stage, _ peer: String, at now: UInt64) {
        do {
            try bytes.withUnsafeBytes { bytes in try self.decode(bytes, from: stage, peer, at: now) }
        } catch {
            self.logger.warning("envelope refused", metadata: ["wire.error": "\(error)"])
        }
    }

    private func decode(
        _ bytes: UnsafeRawBufferPointer, from stage: Stage, _ peer: String, at now: UInt64
    ) throws(EnvelopeError) {
        var envelope = try EnvelopeReader(bytes)
        let before = self.previews.count
        defer { if self.previews.count > before { self.previewEnvelopes += 1 } }
        while let (kind, fields) = try envelope.next() {
            switch kind {
            case .preview: self.take(try EnvelopeReader.decode(Preview.self, fields))
            case .update:
                let update = try EnvelopeReader.decode(Update.self, fields)
                self.takePreviews(of: update.room)
                self.core.updated(update)
            case .commitResult: self.core.resulted(try EnvelopeReader.decode(CommitResult.self, fields), at: now)
            case .joinReply:
                let reply = try EnvelopeReader.decode(JoinReply.self, fields)
                self.takePreviews(of: reply.room)
                self.core.joinReplied(reply, at: now, seconds: self.seconds)
            case .roomPosition:
                let position = try EnvelopeReader.decode(RoomPosition.self, fields)
                self.takePreviews(of: position.room)
                self.core.positioned(position)
            case .presence: self.core.presenceChanged(try EnvelopeReader.decode(Presence.self, fields))
            case .gestureEnded:
                let ended = try EnvelopeReader.decode(GestureEnded.self, fields)
                self.takePreviews(of: ended.gesture.room)
                self.core.gestureEnded(ended)
            case .sessionClaimed: self.core.sessionClaimed(try EnvelopeReader.decode(SessionClaimed.self, fields))
            case .roomState: self.core.readAnswered(try EnvelopeReader.decode(RoomState.self, fields))
            case .commitCredit:
                self.senders.allow(try EnvelopeReader.decode(CommitCredit.self, fields), stage, peer)
            case .commit, .join, .leave, .roomInterest, .gestureEnd, .roomRead: break
            }
        }
    }

    private func take(_ preview: Preview) {
        if self.previews.last?.room != preview.room { self.previewRooms.insert(preview.room) }
        self.previews.append(preview)
    }

    /// Delivers what came of a room's previews before something else of the room is told.
    private func takePreviews(of room: Identifier) {
        if self.previewRooms.contains(room) { self.takePreviews() }
    }

    /// Delivers this turn's previews. Several envelopes of them in one turn mean that this loop is behind: then only the
    /// latest count, so that it delivers less the later it is.
    private func takePreviews() {
        guard !self.previews.isEmpty else { return }
        self.core.previewed(self.previewEnvelopes > 1 ? PreviewOutbox.folded(self.previews) : self.previews)
        self.previews.removeAll(keepingCapacity: true)
        self.previewRooms.removeAll(keepingCapacity: true)
        self.previewEnvelopes = 0
    }

    // MARK: Doing what the core decided

    /// Performs soon, once for all events of a read.
    private func settleLater() {
        guard !self.isSettling else { return }
        self.isSettling = true
        self.eventLoop.assumeIsolated().execute { [unowned self] in self.settle() }
    }

    private func settle() {
        self.isSettling = false
        self.batched { self.perform() }
        let now = self.now
        self.senders.flush(at: now)
        self.observeLater()
        self.armTimer(now)
    }

    /// Runs what sends to many apps, and flushes their connections once.
    private func batched(_ body: () -> Void) {
        if let server = self.server { server.flushing(body) } else { body() }
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

    private func perform() {
        // What is done may lead to more.
        while !self.core.actions.isEmpty {
            let actions = exchange(&self.core.actions, with: [])
            for action in actions { self.perform(action) }
        }
    }

    private func perform(_ action: GatewayAction) {
        switch action {
        case .acknowledge(let slot, let id, let json): self.apps[slot]?.acknowledge(id, json)
        case .emit(let slot, let json): self.apps[slot]?.emit(json)
        case .broadcast(let slots, let json, let step): self.broadcast(json, to: slots, step: step)
        case .previews(let slots, let previews): self.deliver(previews, to: slots)
        case .disconnect(let slot): self.apps[slot]?.disconnect()
        case .preview(let shard, let preview):
            if let peer = self.topology.owner(.coalescer, shard) { self.senders.preview(preview, to: peer) }
        case .commit(let shard, let path, let commit): self.send(commit, shard: shard, path: path)
        case .fanout(let shard, let record):
            if let peer = self.topology.owner(.fanout, shard) { self.senders.record(record, to: peer) }
        case .formerFanout(let shard, let record):
            if let peer = self.topology.formerOwner(.fanout, shard) { self.senders.record(record, to: peer) }
        case .http(let request, let status, let json):
            self.responders.removeValue(forKey: request)?(HTTPAnswer(status: status, json: json))
        }
    }

    /// The peer that a commit goes to: the other way when nobody answers on this one.
    private func target(_ shard: Int, _ path: CommitPath) -> (stage: Stage, peer: String)? {
        let stages: [Stage] = path == .coalescer ? [.coalescer, .committer] : [.committer, .coalescer]
        return stages.lazy.compactMap { stage in self.topology.owner(stage, shard).map { (stage, $0) } }.first
    }

    private func send(_ commit: Commit, shard: Int, path: CommitPath) {
        guard let target = self.target(shard, path) else { return }
        if !self.senders.commit(commit, stage: target.stage, to: target.peer) { self.core.commitNotSent(commit) }
    }

    /// Sends commits that wait for credit as far as there is some, one of each shard by turns.
    private func releaseHeld(at now: UInt64) {
        var isGoingOn = true
        while isGoingOn {
            isGoingOn = false
            for shard in self.core.heldShards {
                guard let path = self.core.nextHeldPath(in: shard) else { continue }
                if let target = self.target(shard, path), !self.senders.isOpen(target.stage, target.peer) { continue }
                self.core.releaseHeld(in: shard, at: now)
                self.perform()
                isGoingOn = true
            }
        }
    }

    private func broadcast(_ json: [UInt8], to slots: [Slot], step: StreamStep?) {
        let packet = PreparedPacket(event: json)
        var behind: [Slot] = []
        for slot in slots {
            guard let app = self.apps[slot] else { continue }
            if step?.seq != nil, app.isBehind(self.behindBytes) {
                behind.append(slot)
            } else {
                app.send(packet, json: json, step: step)
            }
        }
        if let step, let seq = step.seq, !behind.isEmpty { self.core.fellBehind(behind, in: step.room, at: seq) }
    }

    /// Gives each member the previews of all others in one write. Members that move nothing themselves share one buffer.
    private func deliver(_ previews: [PreviewText], to slots: [Slot]) {
        let packets = previews.map { PreparedPacket(event: $0.json) }
        let movers = Set(previews.compactMap(\.sender))
        let all = packets.count == 1 ? packets[0] : PreparedPacket.concatenating(packets)
        for slot in slots {
            guard let app = self.apps[slot] else { continue }
            if !movers.contains(slot) {
                app.send(previews, butOf: nil, packet: all)
                continue
            }
            let others = previews.indices.filter { previews[$0].sender != slot }
            guard let first = others.first else { continue }
            let packet =
                others.count == 1 ? packets[first] : PreparedPacket.concatenating(others.map { packets[$0] })
            app.send(previews, butOf: slot, packet: packet)
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
        self.face.dropSilent()
    }

    /// Shows how many requests are relayed to other gateways, which no event tells; called once in a while.
    func observeRelays() {
        if let server { self.telemetry.observe(server) }
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
