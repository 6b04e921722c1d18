internal import CommitterCore
internal import Mesh
internal import PolledPostgres
internal import Postgres
internal import Timing

/// One connection to PostgreSQL in the reactor's poll set, carrying one request at a time.
final class DatabaseLane {
    enum News {
        case up(ServerFacts)
        case down(PostgresError)
        case attemptFailed(PostgresError)
        case rows(ResultRows)
        case failed(PostgresError)
    }

    private let polled: PolledConnection
    private var events: [Connection.Event] = []
    /// When the request in flight was sent.
    private(set) var since = Instant.start
    private var tag: UInt64 = 0
    /// The server; nil while the connection is down.
    private(set) var server: ServerFacts?

    /// A lane that is idle until ``start(at:)``.
    init(on thread: ReactorThread, settings: ConnectionSettings) throws {
        self.polled = try PolledConnection(
            on: thread, settings: settings,
            statements: [BatchColumns.statement, StateColumns.statement, HistoryNote.statement])
    }

    /// The indices of the statements that every connection prepares.
    enum Request: Int {
        case commitBatch = 0
        case loadState = 1
        case noteHistory = 2
    }

    func start(at now: Instant) {
        self.polled.start(at: now)
    }

    /// Sends a request. False when the connection does not accept it, which cannot happen between `up` and `down` while
    /// no request is in flight.
    func submit(_ request: Request, _ parameters: Parameters, at now: Instant) -> Bool {
        self.tag &+= 1
        self.since = now
        return self.polled.connection.submit(.statement(request.rawValue), parameters, tag: self.tag, at: now)
            == .accepted
    }

    /// Does what is possible without blocking, and reports the events.
    func turn(at now: Instant, _ act: (News) -> Void) {
        self.polled.turn(at: now, into: &self.events)
        for event in self.events {
            switch event {
            case .connected(let facts):
                self.server = facts
                act(.up(facts))
            case .rows(let tag, let rows): if tag == self.tag { act(.rows(rows)) }
            case .failed(let tag, let error): if tag == self.tag { act(.failed(error)) }
            case .attemptFailed(let error): act(.attemptFailed(error))
            case .disconnected(let error):
                self.server = nil
                act(.down(error))
            }
        }
        self.events.removeAll(keepingCapacity: true)
    }

    /// Registers the connection's present interest with the poller. Call it last in every turn.
    func poll() {
        self.polled.poll()
    }

    /// When the next turn is due even without events.
    var nextDeadline: Instant? { self.polled.nextDeadline }

    /// Abandons the present server, and tries the next host.
    func reject(_ reason: String, at now: Instant) {
        self.polled.connection.reject(reason, at: now)
    }

    /// Reconnects to the same server. No request may be in flight.
    func renew(_ reason: String, at now: Instant) {
        self.polled.connection.renew(reason, at: now)
    }

    /// Closes the connection. A request in flight is abandoned.
    func close() {
        self.polled.close()
    }
}
