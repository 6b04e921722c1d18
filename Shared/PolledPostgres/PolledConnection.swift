package import Mesh
package import Postgres
package import Timing

/// One connection to PostgreSQL in a reactor's poll set: the only place where Mesh and Postgres meet. Confined to the
/// reactor's thread.
///
/// In every turn of the loop call ``turn(at:into:)`` first and ``poll()`` last, and return at ``nextDeadline``.
package final class PolledConnection {
    /// Submit requests here.
    package let connection: Connection
    private let thread: ReactorThread
    private var source: DescriptorSource?
    private var watch: DescriptorWatch?

    /// A connection that is idle until ``start(at:)``.
    /// - Parameter statements: prepared whenever the connection comes up.
    package init(on thread: ReactorThread, settings: ConnectionSettings, statements: [Statement]) throws {
        self.thread = thread
        self.connection = try Connection(settings: settings, statements: statements)
    }

    /// Starts to connect, and reconnects whenever the connection is lost.
    package func start(at now: Instant) {
        self.connection.start(at: now)
    }

    /// Does what is possible without blocking, and appends the events.
    package func turn(at now: Instant, into events: inout [Connection.Event]) {
        if self.source?.isReadable == true { self.connection.readable() }
        if self.source?.isWritable == true { self.connection.writable() }
        if self.connection.isDue(at: now) { _ = self.connection.step(at: now, into: &events) }
    }

    /// Registers the connection's present interest with the poller.
    package func poll() {
        let watch = self.connection.watch
        if watch == self.watch { return }
        if watch.generation != self.watch?.generation || watch.descriptor != self.watch?.descriptor {
            self.source?.cancel()
            self.source = nil
        }
        self.watch = watch
        guard watch.descriptor >= 0 else { return }
        var interest: DescriptorInterest = []
        if watch.wantsRead { interest.insert(.read) }
        if watch.wantsWrite { interest.insert(.write) }
        if let source = self.source {
            source.interest = interest
        } else {
            self.source = self.thread.watch(descriptor: watch.descriptor, interest: interest)
        }
    }

    /// When the next turn is due even without events.
    package var nextDeadline: Instant? { self.connection.nextDeadline }

    /// Closes the connection. Requests in flight are abandoned.
    package func close() {
        self.source?.cancel()
        self.source = nil
        var events: [Connection.Event] = []
        self.connection.close(into: &events)
    }
}
