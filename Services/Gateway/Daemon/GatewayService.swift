import Auth
package import Boot
import GatewayCore
import Logging
import Mesh
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
package import ServiceLifecycle
import SocketIOServer
import Stages
import Timing
import Trust

/// The running gateway: one event loop, for apps and for the links to the stages.
package struct GatewayService: Service {
    private let settings: GatewaySettings
    private let context: DaemonContext
    /// The rules for tokens, each time that they change.
    private let tokenChanges: AsyncStream<TokenSettings.Rules>
    /// What new connections get under TLS, each time that it changes.
    private let certificateChanges: AsyncStream<TLSIdentity>
    private let sets: StageSets
    private let links: LinkGuard
    /// Asks for a turn of the links, once they are open.
    private let meshWaker: NIOLockedValueBox<Waker?>
    /// Part of what the daemon is built of: one that came later could miss that all others are ready.
    private let listening: ReadinessCheck

    /// The daemon's process. It begins here and not in `Main.swift`: an incremental build may leave what was compiled
    /// there as it was when the layout of the settings changes.
    package static func main() async {
        await DaemonMain.run(GatewaySettings.self) { settings, context in
            try GatewayService.services(settings, context)
        }
    }

    /// The services of a gateway, in order of dependency.
    /// - Throws: when the process has no descriptor left.
    package static func services(_ settings: GatewaySettings, _ context: DaemonContext) throws -> [any Service] {
        let tokens = try TokenWatch(settings.tokens, context)
        let certificates = try TLSWatch(settings.tls, context)
        let sets = StageSets([
            .coalescer: settings.coalescers, .committer: settings.committers, .fanout: settings.fanouts,
        ])
        let links = LinkGuard(settings.linkKeys)
        let meshWaker = NIOLockedValueBox<Waker?>(nil)
        let gateway = GatewayService(
            settings: settings, context: context, tokenChanges: tokens.changes,
            certificateChanges: certificates.changes, sets: sets, links: links, meshWaker: meshWaker,
            listening: context.health.check("listener"))
        let peersWatch = try links.services(context, role: .gateway) {
            meshWaker.withLockedValue { $0 }?.signal()
        }
        var watch = SetWatch(context, pace: settings.lookups)
        sets.follow(on: &watch) { meshWaker.withLockedValue { $0 }?.signal() }
        return try tokens.services + certificates.services + peersWatch + watch.services() + [gateway]
    }

    package func run() async throws {
        let watch = LoopWatch()
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1, metricsDelegate: watch)
        do {
            try await self.serve(on: group.next(), watch)
        } catch {
            try? await group.shutdownGracefully()
            throw error
        }
        try await group.shutdownGracefully()
    }

    private func serve(on eventLoop: any EventLoop, _ watch: LoopWatch) async throws {
        let tokens = try await self.settings.tokens?.makeVerifier()
        let parts = try await eventLoop.submit {
            try GatewayParts(
                eventLoop: eventLoop, watch: watch, settings: self.settings, tokens: tokens, sets: self.sets,
                keys: self.links.keys, context: self.context)
        }.get()
        self.meshWaker.withLockedValue { $0 = parts.meshWaker }
        let address = try await self.listen(parts.server)
        let scheme = self.settings.tls == nil ? "http" : "https"
        let url = "\(scheme)://\(Self.host(self.settings.host)):\(address.port ?? self.settings.port)"
        self.context.health.announce(url: url)
        self.context.logger.info("gateway listens", metadata: ["gateway.url": "\(url)"])
        if self.settings.isOpenToOthers {
            self.context.logger.warning(
                "everybody who reaches this address may do everything: it is not loopback, and there are no token keys",
                metadata: ["gateway.url": "\(url)"])
        }
        self.listening.ready()
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { try await self.followTokens(parts, on: eventLoop) }
            group.addTask { await self.followCertificates(parts, on: eventLoop) }
            try await gracefulShutdown()
            group.cancelAll()
        }
        await self.drain(parts, on: eventLoop)
        try await eventLoop.submit { parts.close() }.get()
    }

    /// Apps cannot connect: the port is in use, or the address is not this machine's.
    private struct Unbound: Error, CustomStringConvertible {
        let description: String
    }

    private func listen(_ server: SocketIOServer) async throws -> SocketAddress {
        let (hosts, port) = (Loopback.addresses(of: self.settings.host), self.settings.port)
        do {
            return try await server.start(hosts: hosts, port: port)
        } catch {
            let place = "port \(port) of \(hosts.joined(separator: " and "))"
            throw Unbound(description: "\(place) cannot be bound: \(error)")
        }
    }

    /// Applies other keys and revocations, until the gateway stops.
    private func followTokens(_ parts: GatewayParts, on eventLoop: any EventLoop) async throws {
        guard let tokens = self.settings.tokens else { return }
        for await rules in self.tokenChanges {
            let verifier = try await tokens.makeVerifier(rules)
            eventLoop.execute { parts.tokensChanged(verifier) }
        }
    }

    /// Presents other certificates to new connections, until the gateway stops.
    private func followCertificates(_ parts: GatewayParts, on eventLoop: any EventLoop) async {
        for await identity in self.certificateChanges {
            eventLoop.execute { parts.server.present(identity) }
        }
    }

    /// An address that a browser can open.
    private static func host(_ host: String) -> String {
        switch host {
        case "0.0.0.0", "::": "127.0.0.1"
        default: host.contains(":") ? "[\(host)]" : host
        }
    }

    /// Takes no new apps, lets the commits in flight finish, then says goodbye in batches.
    private func drain(_ parts: GatewayParts, on eventLoop: any EventLoop) async {
        try? await eventLoop.flatSubmit { parts.drain() }.get()
    }
}

/// The parts of a gateway that live on its event loop.
final class GatewayParts: @unchecked Sendable {  // Built and used on the event loop only; the reference alone travels.
    let server: SocketIOServer
    let meshWaker: Waker
    private let eventLoop: any EventLoop
    private let hub: GatewayHub
    private let apps: SocketIOApps
    private let pages: HTTPPages
    private var housekeeping: RepeatedTask?
    private let drainSpread: Nanoseconds
    /// The pause between the steps of a farewell.
    private static let drainPause = TimeAmount.milliseconds(20)
    /// How long closing may take after the end of a farewell, while answers to polls go out.
    private static let closing = Nanoseconds.milliseconds(500)

    init(
        eventLoop: any EventLoop, watch: LoopWatch, settings: GatewaySettings, tokens: TokenVerifier?,
        sets: StageSets, keys: LinkKeys?, context: DaemonContext
    ) throws {
        self.eventLoop = eventLoop
        let telemetry = GatewayTelemetry(context)
        self.drainSpread = Nanoseconds(settings.drainSpread)
        let flushes = FlushQueue(eventLoop: eventLoop)
        self.hub = GatewayHub(
            eventLoop: eventLoop, settings: settings, tokens: tokens, context: context, telemetry: telemetry,
            flushes: flushes, watch: watch)
        self.meshWaker = try self.hub.openLinks(settings: settings, sets: sets, keys: keys, context: context)
        self.apps = SocketIOApps(hub: self.hub)
        self.pages = HTTPPages(
            hub: self.hub, adminPages: context.pages, origins: settings.socketIO.origins,
            appServer: settings.appServer, maxBody: settings.limits.messageBytes)
        self.server = SocketIOServer(
            eventLoop: eventLoop, configuration: settings.socketIO, routes: [.socketIO(path: "/socket.io/", self.apps)],
            http: self.pages, flushes: flushes)
        let server = self.server
        let hub = NIOLoopBound(self.hub, eventLoop: eventLoop)
        let pulse = context.health.pulse("apps")
        let hasTokens = tokens != nil
        self.housekeeping = eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: .seconds(1)) { _ in
            pulse.beat()
            hub.value.keepHouse()
            telemetry.observe(server)
            if hasTokens { hub.value.checkTokens() }
        }
    }

    func tokensChanged(_ tokens: TokenVerifier) { self.hub.tokensChanged(tokens) }

    /// Takes leave of all apps, then waits for the commits that others left behind.
    func drain() -> EventLoopFuture<Void> {
        let promise = self.eventLoop.makePromise(of: Void.self)
        self.server.refuseSessions()
        self.leave(self.hub.announceDraining(spread: self.drainSpread), promise)
        return promise.futureResult
    }

    private func leave(_ farewell: Farewell, _ promise: EventLoopPromise<Void>) {
        var farewell = farewell
        self.hub.proceed(&farewell)
        // A proxy tries another gateway when nobody listens here. But every poll is a request, perhaps on a new connection.
        if !self.server.hasPollingSessions { _ = self.server.stopAccepting() }
        let isDone = farewell.isOver && self.hub.shell.core.commits.inFlight.isEmpty
        // At the end those, too, that never became apps.
        let isLate = self.hub.now >= farewell.end
        guard isDone || isLate, self.server.drain(upTo: .max) == 0 || self.hub.now >= farewell.end + Self.closing else {
            let next = farewell
            self.eventLoop.scheduleTask(in: Self.drainPause) { self.leave(next, promise) }
            return
        }
        promise.succeed()
    }

    func close() {
        self.housekeeping?.cancel()
        self.hub.closeLinks()
    }
}
