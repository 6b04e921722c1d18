#if os(Linux)
    import Glibc
    import NIOCore
    import NIOHTTP1
    import NIOPosix
    import NIOSSL
    import NIOWebSocket
    import TouchSyncClientCore

    /// Reaches servers over SwiftNIO, on the process' shared event loops.
    ///
    /// With `wss` and `https` the server's certificate must be valid for the URL's host.
    public struct NIOTransport: Transport {
        private let settings: NIOTransportSettings
        private let trust: NIOTrust

        /// A transport with these settings.
        public init(_ settings: NIOTransportSettings = NIOTransportSettings()) {
            self.settings = settings
            self.trust = NIOTrust(roots: settings.trustRoots)
        }

        public func open(_ url: String) async throws -> any TransportConnection {
            let url = try TransportURL(url, .webSocket)
            let tls = try await self.tls(url)
            let attempt = Attempt<NIOConnection>()
            do {
                return try await attempt.run {
                    Self.connect(url, tls, attempt) { channel in try self.upgrade(channel, url, attempt) }
                }
            } catch is SilentEnd {
                throw await Self.speaksTLS(url) ? UpgradeHandler.wrongScheme(url) : UpgradeHandler.silence(url)
            }
        }

        public func get(_ url: String, token: String?, limit: Int) async throws -> TransportResponse {
            let url = try TransportURL(url, .http)
            var headers: HTTPHeaders = ["Host": url.authority, "Connection": "close"]
            if let token { headers.add(name: "Authorization", value: try BearerToken.header(token)) }
            let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: url.target, headers: headers)
            let tls = try await self.tls(url)
            let attempt = Attempt<TransportResponse>()
            return try await attempt.run {
                let expiry = TransportError(
                    .unreachable, "The server did not answer within \(self.settings.requestTime).")
                attempt.expire(after: self.settings.requestTime, on: Self.group.any(), expiry)
                Self.connect(url, tls, attempt) { channel in try Self.request(channel, head, limit, attempt) }
            }
        }

        static var group: MultiThreadedEventLoopGroup { .singleton }

        private func tls(_ url: TransportURL) async throws -> NIOSSLContext? {
            guard url.isSecure else { return nil }
            do {
                return try await self.trust.context()
            } catch {
                throw TransportError(.tls, "TLS has no valid settings: \(error)")
            }
        }
    }

    // MARK: - Connecting

    extension NIOTransport {
        /// Connects, and lets `configure` continue on the channel's event loop; every failure ends `attempt`.
        static func connect<Value>(
            _ url: TransportURL, _ tls: NIOSSLContext?, _ attempt: Attempt<Value>,
            _ configure: @escaping @Sendable (any Channel) throws -> Void
        ) {
            @Sendable func fail(_ error: any Error) {
                attempt.fail(error is TransportError ? error : Self.error(connecting: error, url))
            }
            ClientBootstrap(group: Self.group)
                .channelInitializer { channel in channel.eventLoop.makeCompletedFuture { try attempt.adopt(channel) } }
                .connect(host: url.host, port: url.port)
                .flatMapThrowing { channel in
                    channel.closeFuture.whenComplete { _ in
                        fail(TransportError(.notTouchSync, "\(url.authority) closed the connection."))
                    }
                    if let tls { try Self.secure(channel, url, tls) }
                    try configure(channel)
                }
                .whenFailure(fail)
        }

        /// Why there is no connection by TCP.
        private static func error(connecting error: any Error, _ url: TransportURL) -> TransportError {
            let attempts = (error as? NIOConnectionError)?.connectionErrors.map(\.error) ?? [error]
            if attempts.isEmpty { return TransportError(.unreachable, "The host \(url.host) has no address.") }
            let isRefused = attempts.contains { ($0 as? IOError)?.errnoCode == ECONNREFUSED }
            return isRefused
                ? TransportError(.refused, "Nothing accepts connections at \(url.authority).")
                : TransportError(.unreachable, "\(url.authority) is not reachable: \(attempts[0])")
        }

        /// Names are sent to the server and verified; addresses are verified only.
        private static func secure(_ channel: any Channel, _ url: TransportURL, _ tls: NIOSSLContext) throws {
            let isAddress = (try? SocketAddress(ipAddress: url.host, port: url.port)) != nil
            let handler = try NIOSSLClientHandler(context: tls, serverHostname: isAddress ? nil : url.host)
            try channel.pipeline.syncOperations.addHandler(handler)
        }
    }

    // MARK: - WebSockets

    extension NIOTransport {
        /// Asks for a WebSocket; `attempt` ends with the answer.
        func upgrade(_ channel: any Channel, _ url: TransportURL, _ attempt: Attempt<NIOConnection>) throws {
            let settings = self.settings
            let upgrader = NIOTypedWebSocketClientUpgrader<NIOConnection>(
                maxFrameSize: min(max(settings.messageLimit, 0), Int(UInt32.max)), enableAutomaticErrorHandling: false
            ) { channel, _ in
                channel.eventLoop.makeCompletedFuture { try Self.connection(channel, settings) }
            }
            try channel.pipeline.syncOperations.addHandler(UpgradeHandler(url, upgrader, attempt))
        }

        private static func connection(_ channel: any Channel, _ settings: NIOTransportSettings) throws -> NIOConnection
        {
            let mailbox = ConnectionMailbox(sendLimit: settings.sendLimit)
            let assembly = MessageAssembly(
                messageLimit: settings.messageLimit, fragmentLimit: settings.fragmentLimit)
            try channel.pipeline.syncOperations.addHandler(WebSocketHandler(mailbox, assembly))
            return NIOConnection(channel, mailbox)
        }
    }

    // MARK: - HTTP

    extension NIOTransport {
        private static func request(
            _ channel: any Channel, _ head: HTTPRequestHead, _ limit: Int, _ attempt: Attempt<TransportResponse>
        ) throws {
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHTTPClientHandlers()
            try pipeline.addHandler(HTTPGetHandler(attempt, limit: limit))
            channel.write(HTTPClientRequestPart.head(head), promise: nil)
            channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
        }
    }

    // MARK: - Settings

    /// What a `NIOTransport` permits.
    public struct NIOTransportSettings: Sendable {
        /// The maximum size of a received message, in bytes; at most 4 GiB.
        public var messageLimit = 64 << 20
        /// The maximum number of frames of a received message.
        public var fragmentLimit = 1 << 20
        /// How many bytes may wait to be sent; a connection with more is closed.
        public var sendLimit = 64 << 20
        /// How long `get` may take.
        public var requestTime = Duration.seconds(30)
        /// Certificates in PEM that are trusted beside the system's.
        public var trustRoots: [String] = []

        /// The defaults.
        public init() {}
    }
#endif
