internal import NIOCore
internal import NIOPosix
internal import ServiceLifecycle

/// Ends when the supervisor is gone: the kernel closes the supervisor's end of the pipe however it died, SIGKILL
/// included, and this end reads end of file. (PR_SET_PDEATHSIG would fire when the *thread* that started us ends, and
/// comparing parent ids is racy.)
package struct ParentWatch: Service {
    private let descriptor: Int32

    /// - Parameter descriptor: the read end of a pipe whose write end only the supervisor has; this value takes
    ///   ownership.
    package init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Returns at end of file, or at graceful shutdown.
    package func run() async throws {
        // One thread, whatever the machine has; the singleton group has one for each core.
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let channel = try await NIOPipeBootstrap(group: group)
            .takingOwnershipOfDescriptor(input: self.descriptor).get()
        await withTaskCancellationOrGracefulShutdownHandler {
            // An error on the pipe is an end as well.
            try? await channel.closeFuture.get()
        } onCancelOrGracefulShutdown: {
            channel.close(promise: nil)
        }
        try await group.shutdownGracefully()
    }
}
