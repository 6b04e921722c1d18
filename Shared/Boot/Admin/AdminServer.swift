internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import ServiceLifecycle

/// Serves the admin pages over plain HTTP on one event loop, by default on loopback only: open ones to everybody who
/// addresses it by one of its names, the rest to whoever also presents the operator's token. At most
/// ``connectionLimit`` connections are open, each idle for at most 15 s; further ones are closed immediately.
///
/// Not on Hummingbird: three pages do not justify its dependencies (TLS, HTTP/2 and tracing among them) and minutes of
/// build. The gateway's API shares the port of Socket.IO, and with it the HTTP of that server.
package struct AdminServer: Service {
    package static let connectionLimit = 64
    /// How long another thread may take to answer a question, unless set otherwise.
    package static let patience = Duration.seconds(3)

    /// The address cannot be bound: it is in use, or not this machine's.
    package struct Unbound: Error, CustomStringConvertible {
        package let description: String
    }

    private let host: String
    private let port: Int
    private let pages: AdminPages
    private let gate: AdminGate
    private let patience: Duration
    private let bound: @Sendable (_ url: String) -> Void

    /// - Parameters:
    ///   - port: 0 chooses any free one.
    ///   - access: who may see more than open pages.
    ///   - metrics: count the requests that are refused.
    ///   - patience: how long another thread may take to answer a question.
    ///   - bound: called with the server's address, `http://127.0.0.1:PORT`, once it listens.
    package init(
        host: String, port: Int, pages: AdminPages, access: OperatorAccess, metrics: MetricsRegistry,
        patience: Duration = Self.patience,
        bound: @escaping @Sendable (_ url: String) -> Void = { _ in }
    ) {
        self.host = host
        self.port = port
        self.pages = pages
        self.gate = AdminGate(host: host, access: access, metrics: metrics)
        self.patience = patience
        self.bound = bound
    }

    /// Listens until graceful shutdown or cancellation.
    /// - Throws: ``Unbound`` when the address cannot be bound.
    package func run() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let outcome: Result<Void, any Error>
        do {
            try await self.serve(on: group)
            outcome = .success(())
        } catch {
            outcome = .failure(error)
        }
        try await group.shutdownGracefully()
        try outcome.get()
    }

    private func serve(on group: MultiThreadedEventLoopGroup) async throws {
        let (pages, gate, patience) = (self.pages, self.gate, self.patience)
        let open = NIOLockedValueBox(0)
        let (host, port) = (self.host, self.port)
        let channel = try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 64)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                let isWelcome = open.withLockedValue { count in
                    count += 1
                    return count <= Self.connectionLimit
                }
                channel.closeFuture.whenComplete { _ in open.withLockedValue { $0 -= 1 } }
                guard isWelcome else { return channel.close() }
                return channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.configureHTTPServerPipeline(withErrorHandling: true)
                    try pipeline.addHandler(AdminHandler(pages: pages, gate: gate, patience: patience))
                }
            }
            .bind(host: self.host, port: self.port)
            .flatMapErrorThrowing { throw Unbound(description: "admin address \(host):\(port) cannot be bound: \($0)") }
            .get()
        if let port = channel.localAddress?.port {
            self.bound("http://\(host.contains(":") ? "[\(host)]" : host):\(port)")
        }
        try await withTaskCancellationOrGracefulShutdownHandler {
            try await channel.closeFuture.get()
        } onCancelOrGracefulShutdown: {
            channel.close(promise: nil)
        }
    }
}
