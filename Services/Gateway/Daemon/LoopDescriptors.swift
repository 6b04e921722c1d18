import Glibc
import Mesh
import NIOCore
import NIOPosix

/// Watches libzmq's descriptors on the event loop.
///
/// NIO can read a descriptor, but not only be told that it is readable. libzmq's are eventfds: reading takes the number
/// that they count out of them, so it is written back before libzmq looks. Both happen on one thread, in one go.
///
/// The loop finds several descriptors readable at once, and handles one after the other. NIO asserts that each still is when
/// its turn comes. Who uses links before that calls ``standBack()``, as libzmq may take out a signal that was found.
final class LoopDescriptors: ReactorHost {
    private let eventLoop: any EventLoop
    private var channels: [Int32: EventLoopFuture<any Channel>] = [:]
    private var standsBack = false

    init(eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    var count: Int { self.channels.count }

    func watch(_ descriptor: Int32, signalled: @escaping () -> Void) throws(MeshError) {
        // NIO closes what it is given.
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw MeshError(errno: errno, "cannot watch a link") }
        let handler = NIOLoopBound(EventDescriptorHandler(descriptor, signalled), eventLoop: self.eventLoop)
        self.channels[descriptor] = NIOPipeBootstrap(group: self.eventLoop)
            .channelOption(.maxMessagesPerRead, value: 1)
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 16))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(handler.value) }
            }
            .takingOwnershipOfDescriptor(input: copy)
    }

    func unwatch(_ descriptor: Int32) {
        self.channels.removeValue(forKey: descriptor)?.whenSuccess { $0.close(promise: nil) }
    }

    /// Passes over what the loop has found but not yet handled; what is signalled still when it has is found again.
    func standBack() {
        guard !exchange(&self.standsBack, with: true) else { return }
        self.read(false)
        self.eventLoop.assumeIsolated().execute {
            self.standsBack = false
            self.read(true)
        }
    }

    private func read(_ reads: Bool) {
        for channel in self.channels.values {
            channel.whenSuccess { try? $0.syncOptions?.setOption(.autoRead, value: reads) }
        }
    }
}

/// Writes back what was read from an eventfd, and passes the signal on.
private final class EventDescriptorHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let descriptor: Int32
    private let signalled: () -> Void

    init(_ descriptor: Int32, _ signalled: @escaping () -> Void) {
        self.descriptor = descriptor
        self.signalled = signalled
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let count = self.unwrapInboundIn(data)
        count.withUnsafeReadableBytes { _ = write(self.descriptor, $0.baseAddress, $0.count) }
        self.signalled()
    }
}
