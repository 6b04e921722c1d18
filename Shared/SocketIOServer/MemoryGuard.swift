internal import NIOCore
internal import SocketIO

/// Keeps the bytes that connections and sessions hold below a budget: counts them now and then and, above the budget,
/// closes those that hold most.
///
/// Each of them is bounded by itself; the budget bounds their sum. Each knows what it holds, and the application what it
/// keeps for each: counting adds these figures up. That costs something for each connection, so it is done once a second
/// while less than half of the budget is in use, and more often from there on.
final class MemoryGuard {
    private let loop: ServerLoop
    private let connections: ConnectionRegistry
    private let sessions: SessionRegistry
    private var task: Scheduled<Void>?
    /// What was held at the last count.
    private(set) var heldBytes = 0
    private static let calmInterval = TimeAmount.seconds(1), busyInterval = TimeAmount.milliseconds(100)

    init(_ loop: ServerLoop, _ connections: ConnectionRegistry, _ sessions: SessionRegistry) {
        self.loop = loop
        self.connections = connections
        self.sessions = sessions
    }

    /// Begins to count; again has no effect.
    func start() {
        if self.task == nil { self.schedule() }
    }

    private func schedule() {
        let isBusy = self.heldBytes > self.loop.configuration.memoryBudget / 2
        self.task = self.loop.eventLoop.assumeIsolated().scheduleTask(
            in: isBusy ? Self.busyInterval : Self.calmInterval
        ) {
            self.check()
            self.schedule()
        }
    }

    func stop() {
        self.task?.cancel()
        self.task = nil
    }

    private func check() {
        self.connections.accounts.sweep()
        self.heldBytes = self.connections.heldBytes + self.sessions.heldBytes
        let budget = self.loop.configuration.memoryBudget
        if self.heldBytes > budget { self.shed(self.heldBytes - budget / 8 * 7) }
        self.loop.isOverloaded = self.heldBytes > budget / 8 * 7
    }

    /// Closes the largest connections and sessions until `excess` bytes are free.
    private func shed(_ excess: Int) {
        var holders: [(bytes: Int, close: () -> Void)] = self.connections.all.map { connection in
            (connection.heldBytes, { connection.drop() })
        }
        holders += self.sessions.all.map { session in (session.heldBytes, { session.endAsSlowReader() }) }
        holders.sort { $0.bytes > $1.bytes }
        var freed = 0
        for holder in holders {
            guard freed < excess, holder.bytes > 0 else { break }
            freed += holder.bytes
            self.loop.statistics.shedConnections += 1
            holder.close()
        }
        self.heldBytes -= freed
    }
}
