#if os(Linux)
    import NIOCore
    import NIOHTTP1
    import NIOWebSocket

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
            case asked, upgrading, open, refused
        }

        private let url: TransportURL
        private let upgrader: NIOTypedWebSocketClientUpgrader<NIOConnection>
        private let attempt: Attempt<NIOConnection>
        private var answer = UpgradeAnswer()
        private var state = State.asked

        /// Asks for `url`; `upgrader` makes the connection with which `attempt` ends.
        init(
            _ url: TransportURL, _ upgrader: NIOTypedWebSocketClientUpgrader<NIOConnection>,
            _ attempt: Attempt<NIOConnection>
        ) {
            self.url = url
            self.upgrader = upgrader
            self.attempt = attempt
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
            case .refused: break
            }
        }

        private func answered(_ context: ChannelHandlerContext) {
            do throws(TransportError) {
                guard let head = try self.answer.next() else { return }
                try self.verify(head)
                self.state = .upgrading
                self.upgrade(head, context)
            } catch {
                self.state = .refused
                self.attempt.fail(error)
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            self.attempt.fail(TransportError("\(self.url.authority) opened no WebSocket: \(error)"))
        }

        /// Throws unless the server agrees to a WebSocket, and answers this request.
        private func verify(_ head: HTTPResponseHead) throws(TransportError) {
            guard head.status == .switchingProtocols else {
                throw TransportError("The server did not open a WebSocket but answered \(head.status).")
            }
            let upgrades = head.headers[canonicalForm: "Upgrade"].map { $0.lowercased() }
            let connection = head.headers[canonicalForm: "Connection"].map { $0.lowercased() }
            guard
                upgrades == [self.upgrader.supportedProtocol], connection.contains("upgrade"),
                self.upgrader.shouldAllowUpgrade(upgradeResponse: head)
            else { throw TransportError("\(self.url.authority) agreed to something that was not asked for.") }
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
