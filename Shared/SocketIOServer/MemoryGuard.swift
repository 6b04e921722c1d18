internal import NIOCore
internal import SocketIO

/// Keeps the bytes that connections and sessions hold below a budget: counts them now and then and, above the budget,
/// closes the largest of whoever holds most.
///
/// Each of them is bounded by itself; the budget bounds their sum. Each knows what it holds, and the application what it
/// keeps for each: counting adds these figures up. That costs something for each connection, so it is done once a second
/// while less than half of the budget is in use, and more often from there on.
final class MemoryGuard {
    private let loop: ServerLoop
    private let connections: ConnectionRegistry
    private let sessions: SessionRegistry
    private var task: Scheduled<Void>?
    private(set) var heldBytes = 0
    private static let calmInterval = TimeAmount.seconds(1), busyInterval = TimeAmount.milliseconds(100)

    init(_ loop: ServerLoop, _ connections: ConnectionRegistry, _ sessions: SessionRegistry) {
        self.loop = loop
        self.connections = connections
        self.sessions = sessions
    }

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
    }

    /// Who is to blame for what a connection or session holds.
    private enum Owner: Hashable {
        /// The application's name for its client.
        case client(String)
        case address(AddressKey)
        /// A connection or session of nobody else.
        case itself(ObjectIdentifier)

        init(_ holder: AnyObject, _ session: EngineIOSession?, _ account: AddressAccount?) {
            if let client = session?.layer?.owner {
                self = .client(client)
            } else {
                self = account.map { .address($0.key) } ?? .itself(ObjectIdentifier(holder))
            }
        }
    }

    private struct Holder {
        let bytes: Int
        let close: () -> Void
    }

    /// Closes the largest connections and sessions of those who hold most until `excess` bytes are free.
    private func shed(_ excess: Int) {
        var owners: [Owner: (bytes: Int, holders: [Holder])] = [:]
        func add(_ holder: Holder, of owner: Owner) {
            guard holder.bytes > 0 else { return }
            owners[owner, default: (0, [])].bytes += holder.bytes
            owners[owner]?.holders.append(holder)
        }
        for connection in self.connections.all {
            let holder = Holder(bytes: connection.heldBytes) { connection.shed() }
            add(holder, of: Owner(connection, connection.session, connection.account))
        }
        for session in self.sessions.all {
            let holder = Holder(bytes: session.heldBytes) {
                self.loop.statistics.shedConnections += 1
                session.endAsSlowReader()
            }
            add(holder, of: Owner(session, session, session.account))
        }
        for owner in owners.keys { owners[owner]?.holders.sort { $0.bytes < $1.bytes } }
        var freed = 0
        while freed < excess, let owner = owners.max(by: { $0.value.bytes < $1.value.bytes })?.key,
            let holder = owners[owner]?.holders.popLast()
        {
            owners[owner]?.bytes -= holder.bytes
            freed += holder.bytes
            holder.close()
        }
        self.heldBytes -= freed
    }
}
