#if os(Linux)
    import NIOCore
    import NIOWebSocket

    /// An open WebSocket over SwiftNIO. It is closed at the latest when nobody refers to it.
    ///
    /// A receiver whose task is cancelled closes the connection.
    final class NIOConnection: TransportConnection {
        private let channel: any Channel
        private let mailbox: ConnectionMailbox

        init(_ channel: any Channel, _ mailbox: ConnectionMailbox) {
            self.channel = channel
            self.mailbox = mailbox
        }

        deinit { self.close() }

        func send(_ text: String) {
            let size = text.utf8.count
            switch self.mailbox.admit(size) {
            case .ended: break
            case .overflow: self.abandon()
            case .accepted:
                // Never immediately, even on the event loop: the messages before it may still wait for their turn there.
                self.channel.eventLoop.execute { [channel, mailbox] in
                    let frame = WebSocketFrame.client(.text, ByteBuffer(string: text))
                    channel.writeAndFlush(frame).whenComplete { _ in mailbox.sent(size) }
                }
            }
        }

        func receive() async -> String? {
            await withTaskCancellationHandler {
                await self.mailbox.receive { self.channel.read() }
            } onCancel: {
                self.close()
            }
        }

        func close() {
            guard self.mailbox.end(discardingMessages: true) else { return }
            self.channel.eventLoop.execute { [channel] in
                // TLS says goodbye in both directions, so what the server still sends is read.
                channel.read()
                channel.writeAndFlush(WebSocketFrame.clientClose(.normalClosure), promise: nil)
                channel.close(promise: nil)
            }
        }

        private func abandon() {
            self.mailbox.end(discardingMessages: true)
            self.channel.close(promise: nil)
        }
    }
#endif
