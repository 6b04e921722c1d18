import Glibc
import NIOCore
import NIOPosix
import NIOSSL

/// The client's end of TLS connections: what a ``RawClient`` writes in plain text arrives encrypted, and vice versa.
final class TLSTunnel {
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let context: NIOSSLContext

    /// - Parameter certificate: PEM, the only one that is trusted.
    init(trusting certificate: String) throws {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(certificate.utf8)))
        configuration.shutdownTimeout = .milliseconds(50)
        self.context = try NIOSSLContext(configuration: configuration)
    }

    deinit { try? self.group.syncShutdownGracefully() }

    /// A client of the server on `port`.
    /// - Parameter header: sent in plain text before the handshake.
    /// - Throws: when the server cannot be connected to. A handshake that fails ends the client's connection.
    func client(port: Int, header: [UInt8] = []) throws -> RawClient {
        var ends: [Int32] = [-1, -1]
        precondition(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        let (near, far) = (ends[0], ends[1])
        let (loop, context) = (self.group.next(), self.context)
        try loop.flatSubmit {
            let (plain, secure) = Splice.pair()
            let ends = NIOLoopBound((plain, secure), eventLoop: loop)
            return ClientBootstrap(group: loop)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let handler = try NIOSSLClientHandler(context: context, serverHostname: "localhost")
                        try channel.pipeline.syncOperations.addHandlers([Preface(header), handler, ends.value.1])
                    }
                }
                .connect(host: "127.0.0.1", port: port)
                .flatMap { _ in
                    ClientBootstrap(group: loop)
                        .channelInitializer { channel in
                            channel.eventLoop.makeCompletedFuture {
                                try channel.pipeline.syncOperations.addHandler(ends.value.0)
                            }
                        }
                        .withConnectedSocket(far)
                }
                .map { _ in }
        }.wait()
        return RawClient(accepted: near)
    }
}

/// Writes bytes before anything else.
private final class Preface: ChannelOutboundHandler, ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func channelActive(context: ChannelHandlerContext) {
        context.writeAndFlush(NIOAny(ByteBuffer(bytes: self.bytes)), promise: nil)
        context.fireChannelActive()
    }
}

/// One end of two channels whose bytes go to each other; neither is read while the other is not writable.
private final class Splice: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    private weak var partner: Splice?
    private var context: ChannelHandlerContext?
    private var isReadHeld = false
    /// What arrived before the partner was there.
    private var early: [NIOAny] = []

    static func pair() -> (Splice, Splice) {
        let (one, other) = (Splice(), Splice())
        (one.partner, other.partner) = (other, one)
        return (one, other)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        for data in self.early { context.writeAndFlush(data, promise: nil) }
        self.early = []
    }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if let target = self.partner?.context {
            target.write(data, promise: nil)
        } else {
            self.partner?.early.append(data)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) { self.partner?.context?.flush() }

    func channelInactive(context: ChannelHandlerContext) { self.partner?.context?.close(promise: nil) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        guard context.channel.isWritable, let partner, partner.isReadHeld else { return }
        partner.isReadHeld = false
        partner.context?.read()
    }

    func read(context: ChannelHandlerContext) {
        if self.partner?.context?.channel.isWritable ?? true { context.read() } else { self.isReadHeld = true }
    }
}
