internal import CommitterCore
internal import Mesh
internal import Postgres

/// One connection to PostgreSQL in the reactor's poll set, carrying one request at a time.
final class DatabaseLane {
    /// What the lane's connection had to say.
    enum News {
        case up(ServerFacts)
        case down(PostgresError)
        case attemptFailed(PostgresError)
        case rows(ResultRows)
        case failed(PostgresError)
    }

    private let connection: Connection
    private let thread: ReactorThread
    private var source: DescriptorSource?
    private var watch: DescriptorWatch?
    private var events: [Connection.Event] = []
    /// When the request under way was sent, ns.
    private(set) var since: UInt64 = 0
    private var tag: UInt64 = 0

    /// A lane that does nothing before ``start(now:)``.
    init(on thread: ReactorThread, settings: ConnectionSettings) throws {
        self.thread = thread
        self.connection = try Connection(
            settings: settings, statements: [BatchColumns.statement, StateColumns.statement])
    }

    /// The places of the statements that every connection prepares.
    enum Request: Int {
        case commitBatch = 0
        case loadState = 1
    }

    /// Begins to connect.
    func start(now: UInt64) {
        self.connection.start(now: now)
    }

    /// Sends a request. False when the connection does not take it, which it always does between `up` and `down` while
    /// nothing is under way.
    func submit(_ request: Request, _ parameters: Parameters, now: UInt64) -> Bool {
        self.tag &+= 1
        self.since = now
        return self.connection.submit(.statement(request.rawValue), parameters, tag: self.tag, now: now) == .accepted
    }

    /// Does what can be done without waiting, and tells what happened.
    func turn(now: UInt64, _ act: (News) -> Void) {
        if self.source?.isReadable == true { self.connection.readable() }
        if self.source?.isWritable == true { self.connection.writable() }
        _ = self.connection.step(now: now, into: &self.events)
        for event in self.events {
            switch event {
            case .connected(let facts): act(.up(facts))
            case .rows(let tag, let rows): if tag == self.tag { act(.rows(rows)) }
            case .failed(let tag, let error): if tag == self.tag { act(.failed(error)) }
            case .attemptFailed(let error): act(.attemptFailed(error))
            case .disconnected(let error): act(.down(error))
            }
        }
        self.events.removeAll(keepingCapacity: true)
    }

    /// Registers with the poller what the connection waits for now. Last in every turn.
    func poll() {
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

    /// When the next turn is due even if nothing happens, ns.
    var nextDeadline: UInt64? { self.connection.nextDeadline }

    /// Ends the connection. What was under way is given up.
    func close() {
        self.source?.cancel()
        self.source = nil
        self.connection.close(into: &self.events)
        self.events.removeAll()
    }
}
