internal import Boot
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// Asks one admin server for pages, over a connection that is kept between requests. For one event loop, one list of
/// requests at a time.
final class AdminClient {
    let address: AdminAddress
    private let authorization: String?
    private let eventLoop: any EventLoop
    private var connection: (channel: any Channel, exchange: AdminExchange)?

    init(_ address: AdminAddress, operatorToken token: String?, on eventLoop: any EventLoop) {
        self.address = address
        self.authorization = token.map(OperatorAccess.field)
        self.eventLoop = eventLoop
    }

    /// Fetches pages, in this order.
    /// - Parameters:
    ///   - limit: bytes of all bodies together.
    ///   - patience: the time for all of it, the connection included.
    /// - Returns: fails with an ``AdminFailure``; the connection is closed then.
    func pages(
        _ paths: [String], limit: Int, within patience: TimeAmount
    ) -> EventLoopFuture<[AdminAnswer]> {
        let due = self.eventLoop.assumeIsolated().scheduleTask(in: patience) { self.giveUp() }
        return self.connect(within: patience).assumeIsolated()
            .flatMap { _ in self.request(paths, limit: limit) }
            .always { outcome in
                due.cancel()
                if case .failure = outcome { self.close() }
            }
            .nonisolated()
    }

    func close() {
        self.connection?.channel.close(promise: nil)
        self.connection = nil
    }

    private func request(_ paths: [String], limit: Int) -> EventLoopFuture<[AdminAnswer]> {
        guard let connection = self.connection else { return self.eventLoop.makeFailedFuture(AdminFailure.silent) }
        return connection.exchange.request(paths, limit: limit, on: connection.channel)
    }

    private func giveUp() {
        self.connection?.exchange.give(up: .silent)
        self.close()
    }

    private func connect(within patience: TimeAmount) -> EventLoopFuture<Void> {
        if self.connection?.channel.isActive == true { return self.eventLoop.makeSucceededVoidFuture() }
        self.connection = nil
        let (authority, authorization) = (self.address.authority, self.authorization)
        return ClientBootstrap(group: self.eventLoop)
            .connectTimeout(patience)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHTTPClientHandlers()
                    try pipeline.addHandler(AdminExchange(authority: authority, authorization: authorization))
                }
            }
            .connect(host: self.address.host, port: self.address.port)
            .assumeIsolated()
            .flatMapThrowing { channel in
                let exchange = try channel.pipeline.syncOperations.handler(type: AdminExchange.self)
                self.connection = (channel, exchange)
            }
            .flatMapErrorThrowing { throw Self.failure($0) }
            .nonisolated()
    }

    /// A connection that is still awaited at the end is one to a host that does not answer, or a process that does not
    /// accept.
    private static func failure(_ error: any Error) -> AdminFailure {
        switch error {
        case let failure as AdminFailure: failure
        case ChannelError.connectTimeout: .silent
        case let error as NIOConnectionError:
            .unreachable(error.connectionErrors.first.map { Self.text($0.error) } ?? "its host is unknown")
        default: .unreachable(Self.text(error))
        }
    }

    private static func text(_ error: any Error) -> String {
        (error as? IOError).map { $0.errnoCode == 111 ? "connection refused" : "error \($0.errnoCode)" } ?? "\(error)"
    }
}
