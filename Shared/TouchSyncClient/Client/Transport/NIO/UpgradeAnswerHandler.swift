#if os(Linux)
    import NIOCore
    import NIOHTTP1

    /// Ends an attempt whose request to upgrade is answered by anything but status 101.
    final class UpgradeAnswerHandler: ChannelInboundHandler, RemovableChannelHandler {
        typealias InboundIn = HTTPClientResponsePart
        typealias InboundOut = HTTPClientResponsePart

        private let attempt: Attempt<NIOConnection>

        /// Ends `attempt`.
        init(_ attempt: Attempt<NIOConnection>) { self.attempt = attempt }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            if case .head(let head) = Self.unwrapInboundIn(data), head.status != .switchingProtocols {
                return self.attempt.fail(
                    TransportError("The server did not open a WebSocket but answered \(head.status)."))
            }
            context.fireChannelRead(data)
        }
    }
#endif
