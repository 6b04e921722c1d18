internal import CommitterCore
internal import Mesh
internal import PolledPostgres
internal import Postgres
internal import Timing

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

    private let polled: PolledConnection
    private var events: [Connection.Event] = []
    /// When the request under way was sent.
    private(set) var since = Instant.start
    private var tag: UInt64 = 0

    /// A lane that does nothing before ``start(at:)``.
    init(on thread: ReactorThread, settings: ConnectionSettings) throws {
        self.polled = try PolledConnection(
            on: thread, settings: settings,
            statements: [BatchColumns.statement, StateColumns.statement, HistoryNote.statement])
    }

    /// The places of the statements that every connection prepares.
    enum Request: Int {
        case commitBatch = 0
        case loadState = 1
        case noteHistory = 2
    }

    /// Begins to connect.
    func start(at now: Instant) {
        self.polled.start(at: now)
    }

    /// Sends a request. False when the connection does not take it, which it always does between `up` and `down` while
    /// nothing is under way.
    func submit(_ request: Request, _ parameters: Parameters, at now: Instant) -> Bool {
        self.tag &+= 1
        self.since = now
        return self.polled.connection.submit(.statement(request.rawValue), parameters, tag: self.tag, at: now)
            == .accepted
    }

    /// Does what can be done without waiting, and reports what happened.
    func turn(at now: Instant, _ act: (News) -> Void) {
        self.polled.turn(at: now, into: &self.events)
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
        self.polled.poll()
    }

    /// When the next turn is due even if nothing happens.
    var nextDeadline: Instant? { self.polled.nextDeadline }

    /// Leaves the server that the lane is connected to, and tries the next host.
    func reject(_ reason: String, at now: Instant) {
        self.polled.connection.reject(reason, at: now)
    }

    /// Connects again to the same server. Nothing may be under way.
    func renew(_ reason: String, at now: Instant) {
        self.polled.connection.renew(reason, at: now)
    }

    /// Ends the connection. What was under way is given up.
    func close() {
        self.polled.close()
    }
}
