#if os(Linux)
    import NIOCore
    import NIOHTTP1
    import NIOTLS
    import NIOWebSocket
    import TouchSyncClientCore

    /// The client's half of the opening handshake (RFC 6455, 4.1): sends the request to upgrade, and gives way to the
    /// WebSocket's handlers when the server agrees.
    ///
    /// They are in place before the read that brings the answer is over. So nothing is lost that the server sends in the
    /// same packet, not even if it closes the connection at the same moment.
    final class UpgradeHandler: ChannelInboundHandler, RemovableChannelHandler {
        typealias InboundIn = ByteBuffer
        typealias InboundOut = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private enum State {
            case asked, upgrading, open
            /// The server refuses, and its answer is read to the end, if it is not too long.
            case refusing(HTTPResponseHead)
            case refused
        }

        /// The longest body of a refusal that is read, bytes.
        private static let refusalLimit = 4096

        private let url: TransportURL
        private let upgrader: NIOTypedWebSocketClientUpgrader<NIOConnection>
        private let attempt: Attempt<NIOConnection>
        private var answer = UpgradeAnswer()
        private var state = State.asked
        /// Whether TLS stands, if the URL wants it.
        private var isSecured: Bool

        /// Asks for `url`; `upgrader` makes the connection with which `attempt` ends.
        init(
            _ url: TransportURL, _ upgrader: NIOTypedWebSocketClientUpgrader<NIOConnection>,
            _ attempt: Attempt<NIOConnection>
        ) {
            self.url = url
            self.upgrader = upgrader
            self.attempt = attempt
            self.isSecured = !url.isSecure
        }

        func handlerAdded(context: ChannelHandlerContext) {
            var headers: HTTPHeaders = [
                "Host": self.url.authority, "Connection": "Upgrade", "Upgrade": self.upgrader.supportedProtocol,
            ]
            self.upgrader.addCustom(upgradeRequestHeaders: &headers)
            let lines = headers.map { name, value in "\(name): \(value)\r\n" }.joined()
            let request = ByteBuffer(string: "GET \(self.url.target) HTTP/1.1\r\n\(lines)\r\n")
            context.writeAndFlush(Self.wrapOutboundOut(request), promise: nil)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch self.state {
            case .asked:
                self.answer.append(Self.unwrapInboundIn(data))
                self.answered(context)
            case .upgrading: self.answer.append(Self.unwrapInboundIn(data))
            case .open: context.fireChannelRead(data)
            case .refusing(let head):
                self.answer.append(Self.unwrapInboundIn(data))
                self.refused(head)
            case .refused: break
            }
        }

        private func answered(_ context: ChannelHandlerContext) {
            do throws(TransportError) {
                guard let head = try self.answer.next() else { return }
                guard head.status == .switchingProtocols else { return self.refused(head) }
                try self.verify(head)
                self.state = .upgrading
                self.upgrade(head, context)
            } catch {
                self.state = .refused
                self.attempt.fail(error)
            }
        }

        /// The answer is a refusal, of which the body may say more.
        private func refused(_ head: HTTPResponseHead, isOver: Bool = false) {
            let length = head.headers.first(name: "Content-Length").flatMap(Int.init) ?? 0
            let body = self.answer.rest.readableBytesView
            guard isOver || length > Self.refusalLimit || body.count >= length else {
                self.state = .refusing(head)
                return
            }
            self.state = .refused
            self.attempt.fail(TransportError(status: Int(head.status.code), body: Array(body.prefix(length))))
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if case .handshakeCompleted = event as? TLSUserEvent { self.isSecured = true }
            context.fireUserInboundEventTriggered(event)
        }

        func channelInactive(context: ChannelHandlerContext) {
            if case .refusing(let head) = self.state { self.refused(head, isOver: true) }
            self.attempt.fail(self.end("closed the connection without an answer"))
            context.fireChannelInactive()
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            self.attempt.fail(self.end("opened no WebSocket: \(error)"))
        }

        /// Why an attempt ends that has no answer.
        private func end(_ what: String) -> any Error {
            if !self.url.isSecure, self.answer.isEmpty { return SilentEnd() }
            if !self.isSecured {
                return TransportError(.tls, "\(self.url.authority) failed in TLS, or speaks none: it \(what).")
            }
            if !self.url.isSecure, self.answer.isTLS { return Self.wrongScheme(self.url) }
            return TransportError(.notTouchSync, "\(self.url.authority) \(what).")
        }

        static func wrongScheme(_ url: TransportURL) -> TransportError {
            TransportError(.tls, "\(url.authority) speaks TLS, and the url begins with http.")
        }

        static func silence(_ url: TransportURL) -> TransportError {
            TransportError(.notTouchSync, "\(url.authority) closed the connection without an answer.")
        }

        /// Throws unless the server agrees to a WebSocket, and answers this request.
        private func verify(_ head: HTTPResponseHead) throws(TransportError) {
            let upgrades = head.headers[canonicalForm: "Upgrade"].map { $0.lowercased() }
            let connection = head.headers[canonicalForm: "Connection"].map { $0.lowercased() }
            guard
                upgrades == [self.upgrader.supportedProtocol], connection.contains("upgrade"),
                self.upgrader.shouldAllowUpgrade(upgradeResponse: head)
            else {
                throw TransportError(.notTouchSync, "\(self.url.authority) agreed to something that was not asked for.")
            }
        }

        private func upgrade(_ head: HTTPResponseHead, _ context: ChannelHandlerContext) {
            self.upgrader.upgrade(channel: context.channel, upgradeResponse: head)
                .assumeIsolated()
                .whenComplete { result in
                    switch result {
                    case .success(let connection): self.attempt.succeed(connection)
                    case .failure(let error): self.errorCaught(context: context, error: error)
                    }
                    self.state = .open
                    if self.answer.rest.readableBytes > 0 {
                        context.fireChannelRead(Self.wrapInboundOut(self.answer.rest))
                    }
                    context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
                }
        }
    }
#endif
