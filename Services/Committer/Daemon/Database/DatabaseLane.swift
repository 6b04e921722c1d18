internal import CommitterCore
internal import Mesh
internal import PolledPostgres
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

    private let polled: PolledConnection
    private var events: [Connection.Event] = []
    /// When the request under way was sent, ns.
    private(set) var since: UInt64 = 0
    private var tag: UInt64 = 0

    /// A lane that does nothing before ``start(now:)``.
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
    func start(now: UInt64) {
        self.polled.start(now: now)
    }

    /// Sends a request. False when the connection does not take it, which it always does between `up` and `down` while
    /// nothing is under way.
    func submit(_ request: Request, _ parameters: Parameters, now: UInt64) -> Bool {
        self.tag &+= 1
        self.since = now
        return self.polled.connection.submit(.statement(request.rawValue), parameters, tag: self.tag, now: now)
            == .accepted
    }

    /// Does what can be done without waiting, and tells what happened.
    func turn(now: UInt64, _ act: (News) -> Void) {
        self.polled.turn(now: now, into: &self.events)
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

    /// When the next turn is due even if nothing happens, ns.
    var nextDeadline: UInt64? { self.polled.nextDeadline }

    /// Leaves the server that the lane is connected to, and tries the next host.
    func reject(_ reason: String, now: UInt64) {
        self.polled.connection.reject(reason, now: now)
    }

    /// Connects anew to the same server. Nothing may be under way.
    func renew(_ reason: String, now: UInt64) {
        self.polled.connection.renew(reason, now: now)
    }

    /// Ends the connection. What was under way is given up.
    func close() {
        self.polled.close()
    }
}
