internal import NIOCore

/// A listener's handler before NIO's own: drops connections that exceed a limit before they are set up, and accepts none
/// while the process is short of descriptors. The kernel's queue then holds those that come.
final class AcceptGate: ChannelDuplexHandler {
    typealias InboundIn = any Channel
    typealias InboundOut = any Channel
    typealias OutboundIn = Never

    private let connections: ConnectionRegistry
    private var context: ChannelHandlerContext?
    private var isReadHeld = false

    init(_ connections: ConnectionRegistry) {
        self.connections = connections
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        self.connections.add(self)
    }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let channel = self.unwrapInboundIn(data)
        guard self.connections.admits(channel.remoteAddress) else { return channel.close(promise: nil) }
        context.fireChannelRead(data)
    }

    func read(context: ChannelHandlerContext) {
        if self.connections.mayAccept { context.read() } else { self.isReadHeld = true }
    }

    func resume() {
        guard self.isReadHeld else { return }
        self.isReadHeld = false
        self.context?.read()
    }
}
