internal import FanoutCore
internal import JSONBytes
internal import Mesh
internal import PolledPostgres
internal import Postgres
internal import Wire

/// One connection to PostgreSQL in the reactor's poll set; several questions may be under way on it.
final class DatabaseLine {
    /// What the connection had to say.
    enum News {
        case up(ServerFacts)
        case down(PostgresError)
        case identity(epoch: Identifier, key: [UInt8])
        case answer(tag: UInt64, DatabaseReply)
    }

    private let polled: PolledConnection
    private var events: [Connection.Event] = []
    private var asked: [UInt64: DatabaseRequest.Query] = [:]
    private var document = JSONDocument()
    /// True between `up` and `down`.
    private(set) var isUp = false
    /// The tag of the question for epoch and session key; the core's own tags begin at 1.
    private static let identityTag: UInt64 = 0

    init(on thread: ReactorThread, settings: ConnectionSettings, now: UInt64) throws {
        self.polled = try PolledConnection(on: thread, settings: settings, statements: DatabaseReader.statements)
        self.polled.start(now: now)
    }

    /// How many questions are under way.
    var load: Int { self.asked.count }

    /// Puts a question. False when the connection does not take it.
    func ask(_ request: DatabaseRequest, now: UInt64) -> Bool {
        let call = DatabaseReader.call(request.query)
        guard self.isUp,
            self.polled.connection.submit(.statement(call.statement), call.parameters, tag: request.tag, now: now)
                == .accepted
        else { return false }
        self.asked[request.tag] = request.query
        return true
    }

    /// Does what can be done without waiting, and tells what happened.
    func turn(now: UInt64, _ tell: (News) -> Void) {
        self.polled.turn(now: now, into: &self.events)
        for event in self.events {
            switch event {
            case .connected(let facts):
                self.isUp = true
                _ = self.polled.connection.submit(
                    .statement(DatabaseReader.identity), Parameters(), tag: Self.identityTag, now: now)
                tell(.up(facts))
            case .rows(let tag, let rows): self.answered(tag, rows, tell)
            case .failed(let tag, _):
                if self.asked.removeValue(forKey: tag) != nil { tell(.answer(tag: tag, .failed)) }
            case .attemptFailed(let error): tell(.down(error))
            case .disconnected(let error):
                self.isUp = false
                tell(.down(error))
            }
        }
        self.events.removeAll(keepingCapacity: true)
    }

    private func answered(_ tag: UInt64, _ rows: ResultRows, _ tell: (News) -> Void) {
        if tag == Self.identityTag {
            if let identity = DatabaseReader.identity(rows) {
                tell(.identity(epoch: identity.epoch, key: identity.key))
            }
        } else if let query = self.asked.removeValue(forKey: tag) {
            tell(.answer(tag: tag, DatabaseReader.reply(to: query, rows, &self.document)))
        }
    }

    /// Registers with the poller what the connection waits for now. Last in every turn.
    func poll() {
        self.polled.poll()
    }

    /// When the next turn is due even if nothing happens, ns.
    var nextDeadline: UInt64? { self.polled.nextDeadline }

    /// Ends the connection.
    func close() {
        self.polled.close()
    }
}
