package import Mesh
internal import ServiceLifecycle

/// A daemon's reactor thread as a service: it runs until shutdown is requested; then its loop drains and its links say
/// goodbye.
package struct ReactorService: Service {
    private let reactor: Reactor

    package init(_ reactor: Reactor) {
        self.reactor = reactor
    }

    package func run() async throws {
        try await withGracefulShutdownHandler {
            try await self.reactor.run()
        } onGracefulShutdown: {
            self.reactor.stop()
        }
    }
}
