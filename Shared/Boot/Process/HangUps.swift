internal import ServiceLifecycle
internal import UnixSignals

/// Calls back on each SIGHUP, which does not end the process while this service runs.
package struct HangUps: Service {
    private let received: @Sendable () -> Void

    /// - Parameter received: called for each signal; several in a row may count as one.
    package init(received: @escaping @Sendable () -> Void) {
        self.received = received
    }

    package func run() async throws {
        for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() { self.received() }
    }
}
