import Auth
import GatewayCore
import GatewayDaemon
import Mesh
import Stages
import Timing
import Wire

/// A gateway around its real stage.
final class GatewayShell: Shell {
    private unowned let world: World
    private let process: Process
    private let stage: GatewayStage
    private let links: [Stage: [Link]]
    /// How long previews for one coalescer are collected while many come.
    private static let linkPause = Nanoseconds.milliseconds(3)
    private var apps: [Slot: AppConnection] = [:]
    /// How many snapshots each connection still reads, by its id in the core.
    private var reading: [UInt64: Int] = [:]
    /// How long previews wait for their turn: it is the bound that makes it too long.
    private static let lateness = Nanoseconds.microseconds(100)
    /// What its clock tells, seconds since the world's clock was 0.
    private var seconds = 0.0
    /// When previews that wait are looked at.
    private var previewsAt = Instant.never
    /// When the core's timer fires.
    private var timerAt = Instant.never
    /// For a shell that is wrong on purpose: the commits that it has sent.
    private var sent: Set<String> = []
    private let mistakes: ViewportMistakes
    private var previewMistakes: PreviewMistakes

    init(_ process: Process, in world: World) {
        self.world = world
        self.process = process
        self.mistakes = ViewportMistakes(mutant: world.plan.mutant)
        self.previewMistakes = PreviewMistakes(mutant: world.plan.mutant)
        let core = Gateway(
            name: Identifier(process.name), connectionPrefix: UInt32(truncatingIfNeeded: world.random.next() >> 33) + 1,
            seed: world.random.next(), limits: Self.limits(in: world), tokens: nil)
        let routes = MeshRoutes(
            pause: Self.linkPause, previews: world.outboxLimits(.previews), requests: world.outboxLimits(.requests))
        self.stage = GatewayStage(core, routes: routes, intake: world.intake)
        let links = [Stage.coalescer, .committer, .fanout].map { world.links(of: process, to: $0) }
        self.links = [.coalescer: links[0], .committer: links[1], .fanout: links[2]]
        self.stage.lateness = Self.lateness
        for link in links.joined() where link.isListed {
            self.stage.routes.follow(.added(link.index, name: link.server.name), of: link.server.stage)
        }
    }

    /// In every other world nothing is fast enough, so that rooms are slowed down and let go all the time. A turn delivers
    /// to one room, what there is for another one waits for the next.
    private static func limits(in world: World) -> GatewayLimits {
        var limits = GatewayLimits()
        limits.previewWrites = 1
        if world.plan.mutant == .unnumberedInARow { limits.aheadOfUnnumbered = limits.unacknowledged }
        // In some worlds nearly every room is a large one.
        if world.plan.seed % 3 == 0 { limits.snapshotPart = 250 }
        // In some of these there is space for one at a time.
        if world.plan.seed % 6 == 0 { limits.answerBytes = 20_000 }
        if world.plan.seed % 2 == 0 {
            limits.late = .zero
            limits.calm = .milliseconds(100)
        }
        return limits
    }

    /// How long previews shall wait for each other: the load that it stands for comes and goes.
    private static func wait(at now: Instant) -> Double {
        let shares = [0, 1, 0.25, 0, 0.7]
        return shares[Int(now.elapsed(since: .start).milliseconds / 300) % shares.count]
    }

    func turn(_ inputs: [Input], at moment: Instant) -> Instant? {
        // Whole milliseconds, as the real shell tells the time.
        let now = Instant.start + .milliseconds(moment.elapsed(since: .start).milliseconds)
        self.seconds = Double(moment.nanoseconds) / 1e9 + (self.world.plan.mutant == .clockWrong ? 2 : 0)
        self.stage.core.turnBegan()
        for input in inputs {
            self.read(input, now)
            self.perform()
        }
        self.stage.arrivalsEnded(at: now)
        self.perform()
        self.stage.sendHeld(at: now) { self.performed($0) }
        self.settleAnswers(now)
        self.timeReached(now)
        self.stage.previewsWait(Self.wait(at: now))
        self.stage.routes.flush(at: moment) { envelope, instance in
            guard let link = self.links[instance.stage]?[instance.number] else { return .unroutable }
            return self.world.send(envelope.bytes, on: link)
        }
        self.timerAt = min(self.timerAt, self.stage.core.nextDeadline ?? .never)
        self.previewsAt = min(self.previewsAt, self.stage.core.nextPreviewDeadline() ?? .never)
        let breath = moment + .microseconds(50)
        let previews = self.previewsAt == .never ? .never : max(self.previewsAt, breath)
        let next = min(self.timerAt, self.stage.routes.nextDeadline ?? .never, previews)
        return next == .never ? nil : next
    }

    private func timeReached(_ now: Instant) {
        if now >= self.previewsAt {
            self.previewsAt = .never
            self.stage.core.turnBegan()
            self.stage.core.previewTimeReached(now, into: &self.stage.actions.pending)
            self.perform()
        }
        if now >= self.timerAt {
            self.timerAt = .never
            self.stage.core.timeReached(now, seconds: self.seconds, into: &self.stage.actions.pending)
            self.perform()
        }
    }

    // MARK: In

    private func read(_ input: Input, _ now: Instant) {
        switch input {
        case .removed(let link) where self.overlooks(link), .down(let link) where self.overlooks(link): break
        case .added, .removed, .up, .down, .resting, .writable:
            guard let (event, stage) = input.event else { return }
            self.changed(event, of: stage, now)
        case .message(let link, let bytes):
            bytes.withUnsafeBytes { self.changed(.envelope(link.index, $0), of: link.server.stage, now) }
        case .app(let connection, let news): self.read(news, of: connection, now)
        case .peerUp, .peerDown, .peerMessage, .peerWritable, .database: break
        }
    }

    private func changed(_ event: StageLinks.Event, of stage: Stage, _ now: Instant) {
        self.stage.linkChanged(event, of: stage, at: now, seconds: self.seconds) { self.performed($0) }
    }

    /// The mutant that goes on as before when an instance is removed.
    private func overlooks(_ link: Link) -> Bool { !link.isListed && self.world.plan.mutant == .removalOff }

    private func read(_ news: AppNews, of connection: AppConnection, _ now: Instant) {
        switch news {
        case .opened:
            self.world.tell(connection, .opened, AppText([]))
            self.world.ping(connection)
        case .connected(let user):
            let identity = Identity(member: Member(user: Identifier(user), name: user, color: "#888888"), rights: nil)
            guard let handshake = self.handshake else { return }
            let slot = self.stage.core.connected(
                identity: identity, handshake: handshake, at: now, into: &self.stage.actions.pending)
            connection.slot = slot
            self.apps[slot] = connection
            self.tell(slot, .accepted, AppText([]))
        case .subscribed(let user, let room, let place):
            let identity = Identity(member: Member(user: Identifier(user), name: user, color: ""), rights: nil)
            let slot = try? self.stage.core.subscribed(
                to: room, after: place, as: identity, at: now, into: &self.stage.actions.pending)
            guard let slot else { return self.world.sever(connection) }
            connection.slot = slot
            self.apps[slot] = connection
        case .event(let json, let ackID):
            guard let slot = connection.slot, self.apps[slot] === connection else { return }
            let event = self.mistakes.altered(json, in: connection.app.room)
            self.stage.core.eventReceived(
                event, ackID: ackID, from: slot, at: now, seconds: self.seconds, into: &self.stage.actions.pending)
            self.mistakes.alter(&self.stage.actions.pending, after: json)
        case .snapshotRead(let room):
            guard let slot = connection.slot, self.apps[slot] === connection else { return }
            self.reading[self.stage.core.connectionID(in: slot), default: 0] -= 1
            self.stage.core.snapshotRead(of: Identifier(room), by: slot, into: &self.stage.actions.pending)
        case .gone:
            guard let slot = connection.slot, self.apps[slot] === connection else { return }
            self.apps[slot] = nil
            self.reading[self.stage.core.connectionID(in: slot)] = nil
            self.stage.core.disconnected(slot, at: now, into: &self.stage.actions.pending)
        }
    }

    private var handshake: HandshakeFields? {
        do { return try HandshakeFields(auth: nil, query: { _ in nil }, header: { _ in nil }) } catch { return nil }
    }

    /// Every app reads what it is sent, snapshots after a while.
    private func settleAnswers(_ now: Instant) {
        for case .app(let connection) in self.stage.core.joins.answers.debtors
        where self.reading[connection, default: 0] <= 0 {
            self.stage.core.answersTaken(by: .app(connection), holding: 0, at: now, into: &self.stage.actions.pending)
        }
        self.perform()
    }

    // MARK: Out

    private func perform() { self.stage.perform { self.performed($0) } }

    /// - Returns: what is for stages.
    private func performed(_ action: GatewayAction) -> GatewayAction? {
        switch action {
        case .acknowledge(let slot, let id, let json):
            if self.world.plan.mutant == .answersLost, self.world.random.place(40) == 0 { return nil }
            self.tell(slot, .acknowledged(id), AppText(json))
        case .snapshot(let slot, let snapshot):
            self.tell(slot, .acknowledged(snapshot.ackID), AppText(Array(snapshot.arguments.dropFirst().dropLast())))
            self.send(snapshot.parts, of: snapshot.room, to: slot)
        case .dropSnapshot, .dropPreviews: break
        case .emit(let slot, let json): self.tell(slot, .event, AppText(json))
        case .broadcast(let slots, let json, _):
            let text = AppText(json)
            for slot in slots { self.tell(slot, .event, text) }
        case .signal(let slots, let json):
            let text = AppText(json)
            for slot in slots { self.tell(slot, .event, text) }
        case .previews(let slots, let previews):
            for slot in slots { self.show(previews.filter { $0.sender != slot }, to: slot) }
        case .sightings(let sightings, let previews):
            for sighting in sightings { self.show(sighting, of: previews) }
        case .preview(let shard, let preview):
            return .preview(shard: shard, self.previewMistakes.altered(preview))
        case .commit(_, let commit): return self.isLost(commit) ? nil : action
        case .fanout(let shard, let record): return self.mistakes.altered(record).map { .fanout(shard: shard, $0) }
        case .formerFanout: return self.world.plan.mutant == .farewellOff ? nil : action
        case .previewsEnd: return action
        case .opening(let slot, let text): self.tell(slot, .event, AppText(text))
        case .events(let slots, let bytes):
            let text = AppText(bytes)
            for slot in slots { self.tell(slot, .event, text) }
        case .close(let slot), .noStream(let slot, _):
            if let connection = self.apps[slot] { self.world.sever(connection) }
        case .disconnect, .shed, .expel, .tokenRefused, .http, .traced: break
        }
        return nil
    }

    /// A hop promises nothing: in some worlds commits are lost that others follow.
    private func isLost(_ commit: Commit) -> Bool {
        if self.world.plan.isUnnumbered, self.world.now < self.world.healAt, self.world.random.place(16) == 0 {
            self.world.count("commits.lost")
            return true
        }
        guard self.world.plan.mutant == .inFlightOff else { return false }
        return !self.sent.insert("\(commit.session) \(commit.number)").inserted
    }

    private func show(_ sighting: Sighting, of previews: [PreviewText]) {
        guard let app = self.apps[sighting.slot]?.app else { return }
        let seen = sighting.indices.map { previews[$0] }
        self.show(seen.filter { self.mistakes.shows($0, to: app) }, to: sighting.slot)
    }

    private func show(_ previews: [PreviewText], to slot: Slot) {
        guard let app = self.apps[slot]?.app else { return }
        let events = app.takesBatches ? PreviewText.batches(of: previews) : previews.map(\.json)
        if events.count < previews.count { self.world.count("previews.batches") }
        for json in events { self.tell(slot, .event, AppText(json)) }
    }

    /// All parts are under way immediately; the app has read them a while later.
    private func send(_ parts: SnapshotParts, of room: Identifier, to slot: Slot) {
        guard !parts.isEmpty, let connection = self.apps[slot] else { return }
        self.reading[self.stage.core.connectionID(in: slot), default: 0] += 1
        self.world.count("gateway.snapshot-parts", Int64(parts.count))
        for part in parts { self.tell(slot, .event, AppText(part)) }
        self.world.after(self.world.random.number(0...60) * .millisecond) { [weak world = self.world] in
            world?.tell(connection, .snapshotRead(room: room.text))
        }
    }

    private func tell(_ slot: Slot, _ kind: AppMessage, _ text: AppText) {
        if let connection = self.apps[slot] { self.world.tell(connection, kind, text) }
    }

    func count(into counts: inout [String: Int64]) {
        counts["gateway.resent", default: 0] += Int64(self.stage.core.commits.inFlight.resentTotal)
        counts["gateway.held", default: 0] += Int64(self.stage.core.commits.inFlight.heldTotal)
        counts["gateway.gaps", default: 0] += Int64(self.stage.core.rooms.gapsTotal)
        counts["gateway.resyncs", default: 0] += Int64(self.stage.core.rooms.resyncsTotal)
        counts["outboxes.dropped-envelopes", default: 0] += Int64(self.stage.routes.droppedEnvelopes)
        counts["gateway.pace-changes", default: 0] += Int64(self.stage.core.rooms.paces.changes)
    }
}
