internal import Boot
internal import DequeModule
internal import FanoutCore
internal import Logging
internal import Mesh
internal import PolledPostgres
internal import Postgres
internal import Stages
internal import Timing
internal import Wire

/// Brings the core's questions to PostgreSQL over a few connections, and its answers back.
///
/// While no connection is up a question fails immediately; the core asks again. Questions queue here while all
/// connections are busy; there are never more of them than rooms and joins that wait, and one for histories.
final class RoomDatabase: StageDatabase {
    typealias Request = DatabaseRequest
    typealias News = FanoutStage.News

    /// What a call on a connection is for.
    private struct Call {
        let statement: RoomStatement
        /// The core's tag; 0 for the identity.
        let tag: UInt64
    }

    private let links: [PolledConnection]
    private var calls: [UInt64: Call] = [:]
    private var waiting: Deque<DatabaseRequest> = []
    private var lastRequest: UInt64 = 0
    private var events: [Connection.Event] = []
    private var reader = RowReader()
    private var hasIdentity = false
    /// The last connection found that the schema lacks what the statements need.
    private var isSchemaTooOld = false
    /// Rejects a former primary, which has another history.
    private var lineage = ServerLineage()
    /// The server of each link; nil while it is down.
    private var servers: [ServerFacts?]

    private let check: ReadinessCheck
    private let logger: Logger
    private var troubleLog = LogLimiter(every: .seconds(1))

    init(on thread: ReactorThread, name: String, settings: FanoutSettings, check: ReadinessCheck) throws {
        var connection = ConnectionSettings(connectionString: settings.databaseURL)
        connection.applicationName = name
        // The deadline of a question runs while it is queued on a connection. All others wait before that, without one.
        (connection.maximumInFlight, connection.maximumQueued) = (8, 8)
        self.links = try (0..<settings.databaseConnections).map { _ in
            try PolledConnection(on: thread, settings: connection, statements: RoomStatement.all)
        }
        self.servers = Array(repeating: nil, count: self.links.count)
        self.check = check
        self.logger = thread.logger
        check.notReady("the database does not answer")
    }

    /// How many connections are up.
    var upCount: Int { self.links.count { $0.connection.isReady } }
    /// How many questions wait or are under way.
    var openCount: Int { self.waiting.count + self.calls.count }

    /// Reports whether questions can be asked, and why not.
    private func report() {
        if self.hasIdentity, self.upCount > 0 { return self.check.ready() }
        self.check.notReady(self.isSchemaTooOld ? Self.schemaIsTooOld : "the database does not answer")
    }

    private static let schemaIsTooOld =
        "the database's schema is too old: fan-outs need version \(RoomStatement.schemaVersion); run touchsync migrate as "
        + "the owner of the tables"

    func start(at now: Instant) {
        for link in self.links { link.start(at: now) }
    }

    /// When the next turn is due even if nothing happens. Last in every turn.
    func poll() -> Instant? {
        var next = Instant.never
        for link in self.links {
            link.poll()
            next = min(next, link.nextDeadline ?? .never)
        }
        return next == .never ? nil : next
    }

    func close() {
        for link in self.links { link.close() }
    }

    /// Reads the connections' events, and passes on what they mean.
    /// - Parameter isWanted: false for the tag of a question whose answer nobody waits for any more. It is not asked: a
    ///   database that is slower than the questions come would be asked old ones only.
    func turn(at now: Instant, isWanted: (UInt64) -> Bool, _ act: (News) -> Void) {
        for (index, link) in self.links.enumerated() {
            link.turn(at: now, into: &self.events)
            guard !self.events.isEmpty else { continue }
            for event in self.events { self.read(event, of: index, at: now, act) }
            self.events.removeAll(keepingCapacity: true)
            self.report()
        }
        while let next = self.waiting.first {
            if !isWanted(next.tag) {
                act(.answer(next.tag, .failed))
            } else if self.submit(next, at: now) != .accepted {
                break
            }
            self.waiting.removeFirst()
        }
        if !self.waiting.isEmpty, self.upCount == 0 {
            let failed = self.waiting
            self.waiting.removeAll()
            for request in failed { act(.answer(request.tag, .failed)) }
        }
    }

    /// Leaves the present server for the next host: it contradicts what committers published. Where there is no other,
    /// or where the other takes no writes, the connections come back to it.
    ///
    /// Only this notices a former primary that takes writes again before anything here has seen its successor.
    func review(at now: Instant) {
        for link in self.links { link.connection.reject("the database lacks what was published", at: now) }
    }

    /// Submits a question. Returns false when no connection is up.
    func ask(_ request: DatabaseRequest, at now: Instant) -> Bool {
        if self.waiting.isEmpty {
            switch self.submit(request, at: now) {
            case .accepted: return true
            case .notReady: return false
            case .full: break
            }
        }
        // However many rooms are to be loaded, those that are loaded go on.
        if request.query.isAboutAllRooms { self.waiting.prepend(request) } else { self.waiting.append(request) }
        return true
    }

    // MARK: Out

    private func submit(_ request: DatabaseRequest, at now: Instant) -> Submission {
        guard let index = self.idlest() else { return .notReady }
        let (statement, parameters) = RoomStatement.call(request.query)
        return self.submit(statement, parameters, request.tag, index, now)
    }

    private func submit(
        _ statement: RoomStatement, _ parameters: Parameters, _ tag: UInt64, _ link: Int, _ now: Instant
    ) -> Submission {
        self.lastRequest += 1
        let submission = self.links[link].connection.submit(
            .statement(statement.rawValue), parameters, tag: self.lastRequest, at: now)
        if submission == .accepted {
            self.calls[self.lastRequest] = Call(statement: statement, tag: tag)
        }
        return submission
    }

    /// The connection that is up and has the fewest requests.
    private func idlest() -> Int? {
        self.links.indices.filter { self.links[$0].connection.isReady }.min {
            self.load(of: $0) < self.load(of: $1)
        }
    }

    private func load(of link: Int) -> Int {
        self.links[link].connection.inFlight + self.links[link].connection.queued
    }

    // MARK: In

    private func read(_ event: Connection.Event, of link: Int, at now: Instant, _ act: (News) -> Void) {
        switch event {
        case .connected(let facts):
            if let objection = self.lineage.objection(to: facts) {
                self.links[link].connection.reject(objection, at: now)
                return
            }
            self.servers[link] = facts
            self.leaveFormerServers(at: now)
            _ = self.submit(.identity, Parameters(), 0, link, now)
        case .rows(let id, let rows):
            guard let request = self.calls.removeValue(forKey: id) else { return }
            do throws(PostgresError) {
                try self.answered(request, rows, of: link, at: now, act)
            } catch {
                self.failed(request, error, act)
            }
        case .failed(let id, let error):
            guard let request = self.calls.removeValue(forKey: id) else { return }
            self.failed(request, error, act)
        case .attemptFailed(let error):
            self.isSchemaTooOld = error.sqlState.isOfMissingObject
            self.troubled(error)
        case .disconnected(let error):
            self.servers[link] = nil
            self.troubled(error)
        }
    }

    private func troubled(_ error: PostgresError) {
        guard let suppressed = self.troubleLog.admit(at: .now) else { return }
        self.logger.warning(
            "database trouble",
            metadata: [
                "pg.sqlstate": "\(error.sqlState)", "error": "\(error.message)", "log.suppressed": "\(suppressed)",
            ])
    }

    private func unreadable(_ statement: RoomStatement) {
        self.logger.error("database rows unreadable", metadata: ["pg.statement": "\(statement)"])
    }

    /// A connection that came up first may be to the server that the newest one replaces.
    private func leaveFormerServers(at now: Instant) {
        for (link, server) in zip(self.links, self.servers) where server.map(self.lineage.isFormer) ?? false {
            link.connection.reject("the server was replaced by another one", at: now)
        }
    }

    private func answered(
        _ request: Call, _ rows: ResultRows, of link: Int, at now: Instant, _ act: (News) -> Void
    ) throws(PostgresError) {
        if request.statement == .identity {
            guard let identity = try RowReader.identity(rows) else { return self.unreadable(.identity) }
            self.isSchemaTooOld = identity.schemaVersion < RoomStatement.schemaVersion
            guard !self.isSchemaTooOld else {
                return self.links[link].connection.reject(Self.schemaIsTooOld, at: now)
            }
            self.hasIdentity = true
            act(.reached(epoch: identity.epoch, issuer: identity.seal.issuer { WallClock.milliseconds() }))
            return
        }
        let reply = try self.reply(to: request.statement, rows)
        if reply == nil { self.unreadable(request.statement) }
        act(.answer(request.tag, reply ?? .failed))
    }

    private func failed(_ request: Call, _ error: PostgresError, _ act: (News) -> Void) {
        self.troubled(error)
        if request.statement != .identity { act(.answer(request.tag, .failed)) }
    }

    private func reply(to statement: RoomStatement, _ rows: ResultRows) throws(PostgresError) -> DatabaseReply? {
        switch statement {
        case .identity: nil
        case .heads: try RowReader.heads(rows).map(DatabaseReply.heads)
        case .room: try RowReader.room(rows).map(DatabaseReply.room)
        case .roomLog, .shardLog: try self.reader.log(rows).map(DatabaseReply.log)
        case .history: try self.reader.history(rows).map(DatabaseReply.history)
        case .claim: try RowReader.claim(rows).map(DatabaseReply.claim)
        case .moveEpoch: rows.text(0, 0).map { DatabaseReply.epoch(Identifier($0)) }
        }
    }
}

extension SQLState {
    /// The state of a statement that names a table, column or function that does not exist.
    fileprivate var isOfMissingObject: Bool {
        [.undefinedTable, .undefinedColumn, .undefinedFunction].contains(self)
    }
}
