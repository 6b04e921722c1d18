import Auth
import GatewayCore
import GatewayDaemon
import Mesh
import Stages
import Timing
import Wire

/// A gateway of a world: the same shell and core as the real one, over the world's apps and network.
final class GatewayNode: Shell {
    private unowned let world: World
    private let shell: GatewayShell<WorldApps>
    private let apps: WorldApps
    /// How long previews for one coalescer are collected while many come.
    private static let linkPause = Nanoseconds.milliseconds(3)

    init(_ process: Process, in world: World) {
        self.world = world
        let core = Gateway(
            name: Identifier(process.name), connectionPrefix: UInt32(truncatingIfNeeded: world.random.next() >> 33) + 1,
            seed: world.random.next(), limits: Self.limits(in: world), tokens: nil)
        let routes = MeshRoutes(
            pause: Self.linkPause, previews: world.outboxLimits(.previews), requests: world.outboxLimits(.requests))
        self.apps = WorldApps(process, routes, in: world)
        self.shell = GatewayShell(core, over: self.apps, intake: world.intake)
        for link in self.apps.links.values.joined() where link.isListed {
            self.apps.routes.follow(.added(link.index, name: link.server.name), of: link.server.stage)
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

    /// Commits without a result. Those without a number it tries again after up to 8 s, without end.
    var hasCommitsInFlight: Bool { !self.shell.core.commits.inFlight.isEmpty }

    /// How long previews shall wait for each other: the load that it stands for comes and goes.
    private static func wait(at now: Instant) -> Double {
        let shares = [0, 1, 0.25, 0, 0.7]
        return shares[Int(now.elapsed(since: .start).milliseconds / 300) % shares.count]
    }

    func turn(_ inputs: [Input], at moment: Instant) -> Instant? {
        self.apps.passBegins()
        for case .app(let connection, let news) in inputs { self.read(news, of: connection, moment) }
        if moment >= self.shell.previewsAt { self.shell.previewTimeReached(at: moment) }
        self.shell.turn { for input in inputs { self.readLink(input) } }
        if moment >= self.shell.timerAt { self.shell.timeReached(at: moment) }
        self.shell.previewsWait(Self.wait(at: moment))
        let previews = self.shell.previewsAt
        let breath = moment + GatewayShell<WorldApps>.breath
        let next = min(self.shell.timerAt, previews == .never ? .never : max(previews, breath))
        return next == .never ? nil : next
    }

    // MARK: In

    private func readLink(_ input: Input) {
        switch input {
        case .removed(let link) where self.overlooks(link), .down(let link) where self.overlooks(link): break
        case .added, .removed, .up, .down, .resting, .writable:
            if let (event, stage) = input.event { self.shell.linkChanged(event, of: stage) }
        case .message(let link, let bytes):
            bytes.withUnsafeBytes { self.shell.linkChanged(.envelope(link.index, $0), of: link.server.stage) }
        case .app, .peerUp, .peerDown, .peerMessage, .peerWritable, .database: break
        }
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
            let slot = self.shell.connected(identity: identity, handshake: handshake, at: now)
            self.apps.add(connection, at: slot)
            self.apps.tell(slot, .accepted, AppText([]))
        case .subscribed(let user, let room, let place):
            let identity = Identity(member: Member(user: Identifier(user), name: user, color: ""), rights: nil)
            let slot = try? self.shell.subscribed(to: room, after: place, as: identity, at: now)
            guard let slot else { return self.world.sever(connection) }
            self.apps.add(connection, at: slot)
        case .event(let json, let ackID):
            guard let slot = self.apps.slot(of: connection) else { return }
            let mistakes = self.apps.mistakes
            let event = mistakes.altered(json, in: connection.app.room)
            _ = self.shell.eventReceived(event, ackID: ackID, from: slot, at: now)
            mistakes.alter(&self.shell.actions.pending, after: json)
        case .snapshotRead(let room):
            guard let slot = self.apps.slot(of: connection) else { return }
            self.apps.snapshotRead(by: slot)
            self.shell.snapshotRead(of: Identifier(room), by: slot)
            self.shell.reviewAnswers(of: [.app(self.shell.core.relay.connections.id(in: slot))], at: now)
        case .gone:
            guard let slot = self.apps.slot(of: connection) else { return }
            let id = self.shell.core.relay.connections.id(in: slot)
            self.shell.disconnected(slot, at: now)
            self.shell.reviewAnswers(of: [.app(id)], at: now)
        }
    }

    private var handshake: HandshakeFields? {
        do { return try HandshakeFields(auth: nil, query: { _ in nil }, header: { _ in nil }) } catch { return nil }
    }

    func count(into counts: inout [String: Int64]) {
        counts["gateway.resent", default: 0] += Int64(self.shell.core.commits.inFlight.resentTotal)
        counts["gateway.held", default: 0] += Int64(self.shell.core.commits.inFlight.heldTotal)
        counts["gateway.gaps", default: 0] += Int64(self.shell.core.relay.rooms.streams.gapsTotal)
        counts["gateway.resyncs", default: 0] += Int64(self.shell.core.relay.rooms.streams.resyncsTotal)
        counts["outboxes.dropped-envelopes", default: 0] += Int64(self.apps.routes.droppedEnvelopes)
        counts["gateway.interval-changes", default: 0] += Int64(self.shell.core.relay.rooms.intervals.changes)
    }
}
