internal import FanoutCore
internal import JSONBytes
internal import Mesh
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

    private let connection: Connection
    private let thread: ReactorThread
    private var source: DescriptorSource?
    private var watch: DescriptorWatch?
    private var events: [Connection.Event] = []
    private var asked: [UInt64: DatabaseRequest.Query] = [:]
    private var document = JSONDocument()
    /// True between `up` and `down`.
    private(set) var isUp = false
    /// The tag of the question for epoch and session key; the core's own tags begin at 1.
    private static let identityTag: UInt64 = 0

    init(on thread: ReactorThread, settings: ConnectionSettings, now: UInt64) throws {
        self.thread = thread
        self.connection = try Connection(settings: settings, statements: DatabaseReader.statements)
        self.connection.start(now: now)
    }

    /// How many questions are under way.
    var load: Int { self.asked.count }

    /// Puts a question. False when the connection does not take it.
    func ask(_ request: DatabaseRequest, now: UInt64) -> Bool {
        let call = DatabaseReader.call(request.query)
        guard self.isUp,
            self.connection.submit(.statement(call.statement), call.parameters, tag: request.tag, now: now) == .accepted
        else { return false }
        self.asked[request.tag] = request.query
        return true
    }

    /// Does what can be done without waiting, and tells what happened.
    func turn(now: UInt64, _ tell: (News) -> Void) {
        if self.source?.isReadable == true { self.connection.readable() }
        if self.source?.isWritable == true { self.connection.writable() }
        _ = self.connection.step(now: now, into: &self.events)
        for event in self.events {
            switch event {
            case .connected(let facts):
                self.isUp = true
                _ = self.connection.submit(
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

    /// Ends the connection.
    func close() {
        self.source?.cancel()
        self.source = nil
        self.connection.close(into: &self.events)
        self.events.removeAll()
    }
}
