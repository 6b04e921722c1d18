#if os(Linux)
    import NIOCore
    import NIOWebSocket

    /// The end of a WebSocket's pipeline: fills the mailbox, answers pings and close frames, and pauses reading while the
    /// mailbox is full.
    final class WebSocketHandler: ChannelDuplexHandler {
        typealias InboundIn = WebSocketFrame
        typealias OutboundIn = WebSocketFrame
        typealias OutboundOut = WebSocketFrame

        /// What a frame costs beside its bytes.
        private static let frameCost = 16

        private let mailbox: ConnectionMailbox
        private var assembly: MessageAssembly

        init(_ mailbox: ConnectionMailbox, _ assembly: MessageAssembly) {
            self.mailbox = mailbox
            self.assembly = assembly
        }

        func read(context: ChannelHandlerContext) {
            if self.mailbox.mayRead() { context.read() }
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard !self.mailbox.isEnded else { return }
            do throws(MessageAssembly.Failure) {
                switch try self.assembly.received(Self.unwrapInboundIn(data)) {
                case nil: break
                case .message(let text): self.mailbox.deliver(text)
                case .ping(let data): self.answerPing(data, context)
                case .close(let code): self.close(code, context)
                }
            } catch {
                self.close(error.code, context)
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            switch error as? NIOWebSocketError {
            case .invalidFrameLength: self.close(.messageTooLarge, context)
            case .fragmentedControlFrame, .multiByteControlFrameLength: self.close(.protocolError, context)
            case nil:
                self.mailbox.end(discardingMessages: false)
                context.close(promise: nil)
            }
        }

        func channelInactive(context: ChannelHandlerContext) {
            self.mailbox.end(discardingMessages: false)
            context.fireChannelInactive()
        }

        func handlerRemoved(context: ChannelHandlerContext) { self.mailbox.end(discardingMessages: false) }

        private func answerPing(_ data: ByteBuffer, _ context: ChannelHandlerContext) {
            let (mailbox, size) = (self.mailbox, data.readableBytes + Self.frameCost)
            switch mailbox.admit(size) {
            case .accepted:
                context.writeAndFlush(Self.wrapOutboundOut(.client(.pong, data))).whenComplete { _ in
                    mailbox.sent(size)
                }
            case .ended, .overflow: context.close(promise: nil)
            }
        }

        private func close(_ code: WebSocketErrorCode, _ context: ChannelHandlerContext) {
            guard self.mailbox.end(discardingMessages: false) else { return }
            context.writeAndFlush(Self.wrapOutboundOut(.clientClose(code)), promise: nil)
            context.close(promise: nil)
        }
    }
#endif
