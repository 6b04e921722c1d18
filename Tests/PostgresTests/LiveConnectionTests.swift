import Glibc
import PipelineTestKit
import Testing

@testable import Postgres

/// One connection, driven as a reactor would, against a real server.
@Suite("Live connection", .serialized, .timeLimit(.minutes(1)))
struct LiveConnectionTests {
    let database: LiveDatabase
    let statements = [
        Statement(name: "put", sql: "INSERT INTO t (k, v) VALUES ($1, $2)", parameterTypes: [.int8, .text]),
        Statement(name: "echo", sql: "SELECT $1::int8 AS n", parameterTypes: [.int8]),
    ]

    init() throws {
        database = try LivePostgres.freshDatabase()
        try database.connect().executeScript(
            """
            CREATE TABLE t (k int8 PRIMARY KEY, v text CHECK (v <> 'bad'));
            CREATE TABLE parent (k int8 PRIMARY KEY);
            CREATE TABLE child (k int8 REFERENCES parent DEFERRABLE INITIALLY DEFERRED);
            """)
    }

    func driver(configure: (inout ConnectionSettings) -> Void = { _ in }) throws -> ConnectionDriver {
        try ConnectionDriver(database.connectionString, statements: statements, configure: configure)
    }

    func number(_ value: Int64) -> Parameters {
        var parameters = Parameters()
        parameters.append(int8: value)
        return parameters
    }

    func row(_ key: Int64, _ text: String) -> Parameters {
        var parameters = number(key)
        parameters.append(text: text)
        return parameters
    }

    @Test func saysWhatTheServerIsAndSetsTheSessionsLimits() throws {
        let driver = try driver()
        #expect(driver.connect())
        let facts = try #require(driver.connections.first)
        #expect(facts.fsync && facts.fullPageWrites && !facts.isReadOnly && !facts.isInRecovery)
        #expect(facts.durabilityProblems.isEmpty)
        #expect(facts.systemIdentifier != nil && facts.timeline == 1)
        #expect(facts.backendProcess > 0)
        for (name, value) in [
            ("statement_timeout", "4s"), ("lock_timeout", "2s"), ("idle_in_transaction_session_timeout", "10s"),
            ("transaction_isolation", "read committed"), ("synchronous_commit", "on"),
            ("application_name", "touchsync"),
        ] {
            #expect(driver.answer(.sql("SELECT current_setting('\(name)')"))?.rows?.text(0, 0) == value)
        }
    }

    @Test("a stronger synchronous_commit of the role's stays")
    func strongerDefault() throws {
        try database.connect().execute("ALTER DATABASE \(database.name) SET synchronous_commit = remote_apply")
        let driver = try driver()
        #expect(driver.connect())
        #expect(driver.connections.first?.synchronousCommit == "remote_apply")
        try database.connect().execute("ALTER DATABASE \(database.name) SET synchronous_commit = off")
        let other = try self.driver()
        #expect(other.connect())
        #expect(other.connections.first?.synchronousCommit == "on")
    }

    @Test func thousandsOfRequestsThroughThePipelineAnsweredInOrder() throws {
        let driver = try driver { $0.maximumQueued = 5000 }
        #expect(driver.connect())
        for tag in 0..<3000 as Range<UInt64> {
            #expect(driver.submit(.statement(1), number(Int64(tag)), tag: tag) == .accepted)
        }
        #expect(driver.connection.inFlight == 64)
        #expect(driver.run { $0.count >= 3001 })
        let tags = driver.events.compactMap { event -> UInt64? in
            guard case .rows(let tag, let rows) = event, rows.int8(0, 0) == Int64(tag) else { return nil }
            return tag
        }
        #expect(tags == Array(0..<3000))
        #expect(driver.connection.inFlight == 0 && driver.connection.queued == 0)
    }

    @Test func parametersLargerThanEverySocketBufferBothWaysAtOnce() throws {
        let driver = try driver()
        #expect(driver.connect())
        var parameters = Parameters()
        parameters.append(text: String(repeating: "7", count: 6 << 20))
        for tag in 0..<6 as Range<UInt64> {
            #expect(driver.submit(.sql("SELECT $1::text"), parameters, tag: tag) == .accepted)
        }
        #expect(driver.run { $0.count >= 7 })
        for tag in 0..<6 as Range<UInt64> {
            #expect(driver.answers[tag]?.rows?.withBytes(0, 0) { $0.count } == 6 << 20)
        }
    }

    @Test func errorsDoNotPoisonNeighboursAndEachRequestIsATransactionOfItsOwn() throws {
        let driver = try driver()
        #expect(driver.connect())
        let rows: [(Int64, String)] = [(1, "a"), (2, "bad"), (3, "c"), (1, "again"), (4, "d")]
        for (tag, row) in rows.enumerated() {
            #expect(driver.submit(.statement(0), self.row(row.0, row.1), tag: UInt64(tag)) == .accepted)
        }
        #expect(driver.run { $0.count >= 6 })
        let answers = driver.answers
        for good in [0, 2, 4] as [UInt64] { #expect(answers[good]?.rows != nil) }
        #expect(answers[1]?.error?.sqlState == .checkViolation)
        #expect(answers[1]?.error?.outcome == .failed && answers[1]?.error?.isRetriable == false)
        #expect(answers[3]?.error?.sqlState == .uniqueViolation)
        #expect(try database.connect().execute("SELECT array_agg(k ORDER BY k)::text FROM t").text(0, 0) == "{1,3,4}")
    }

    @Test func anErrorAtTheCommitItselfComesAfterTheResultAndWins() throws {
        let driver = try driver()
        #expect(driver.connect())
        _ = driver.submit(.sql("INSERT INTO child VALUES (5)"), tag: 1)
        _ = driver.submit(.statement(1), number(9), tag: 2)
        #expect(driver.run { $0.count >= 3 })
        #expect(driver.answers[1]?.error?.sqlState == .foreignKeyViolation)
        #expect(driver.answers[2]?.rows?.int8(0, 0) == 9)
        #expect(driver.disconnections.isEmpty)
    }

    @Test func nulAndBytesThatAreNotUTF8AreRefusedForThatRequestOnly() throws {
        let driver = try driver()
        #expect(driver.connect())
        var broken = number(2)
        broken.append([0xC3, 0x28] as [UInt8], .text)
        for (tag, parameters) in [row(1, "a\u{0}b"), broken, row(3, "ü")].enumerated() {
            #expect(driver.submit(.statement(0), parameters, tag: UInt64(tag)) == .accepted)
        }
        var array = BinaryArray(of: .text)
        array.append(text: "x\u{0}")
        var parameters = Parameters()
        parameters.append(array: array)
        #expect(driver.submit(.sql("SELECT $1::text[]"), parameters, tag: 3) == .accepted)
        #expect(driver.run { $0.count >= 5 })
        for tag in [0, 1, 3] as [UInt64] {
            #expect(driver.answers[tag]?.error?.sqlState == .invalidByteSequence, "\(tag)")
            #expect(driver.answers[tag]?.error?.isRetriable == false, "\(tag)")
        }
        #expect(driver.answers[2]?.rows != nil)
    }

    @Test("26000: prepared again by itself")
    func deallocated() throws {
        let driver = try driver()
        #expect(driver.connect())
        #expect(driver.answer(.sql("DEALLOCATE ALL")) != nil)
        let error = try #require(driver.answer(.statement(1), number(1))?.error)
        #expect(error.sqlState == .invalidStatementName && error.isRetriable && error.outcome == .failed)
        #expect(driver.answer(.statement(1), number(2))?.rows?.int8(0, 0) == 2)
        #expect(driver.disconnections.isEmpty)
    }

    @Test("a plan that no longer fits its table costs one connection, not all later requests")
    func staleplan() throws {
        let driver = try ConnectionDriver(
            database.connectionString, statements: [Statement(name: "all", sql: "SELECT * FROM t")])
        #expect(driver.connect())
        #expect(throws: PostgresError.self) { try driver.answer(.statement(0))?.rows?.column("w") }
        try database.connect().execute("ALTER TABLE t ADD COLUMN w int4")
        #expect(driver.answer(.statement(0))?.error?.sqlState == .featureNotSupported)
        #expect(driver.run { _ in driver.connections.count == 2 })
        #expect(try driver.answer(.statement(0))?.rows?.column("w") == 2)
    }

    @Test func beginAndCOPYAreNotAccepted() throws {
        for sql in ["BEGIN", "START TRANSACTION", "COPY t TO STDOUT", "COPY t FROM STDIN"] {
            let driver = try driver()
            #expect(driver.connect())
            #expect(driver.answer(.sql(sql))?.error != nil, "\(sql)")
            #expect(driver.run { _ in driver.connections.count == 2 }, "\(sql)")
            #expect(driver.answer(.statement(1), number(3))?.rows?.int8(0, 0) == 3)
        }
    }

    @Test func aWARNINGMakesTheOutcomeUnknown() throws {
        let driver = try driver()
        #expect(driver.connect())
        _ = driver.submit(.sql("DO $$ BEGIN RAISE WARNING 'careful'; END $$"), tag: 1)
        _ = driver.submit(.sql("DO $$ BEGIN RAISE NOTICE 'nothing'; END $$"), tag: 2)
        #expect(driver.run { $0.count >= 3 })
        #expect(driver.answers[1]?.error == PostgresError(.warning, "careful", outcome: .unknown))
        #expect(driver.answers[2]?.rows != nil)
    }

    @Test("limits of the server: a slow statement and a held lock fail, retriable, and the connection stays")
    func serverLimits() throws {
        let driver = try driver { settings in
            settings.statementTimeout = .milliseconds(300)
            settings.lockTimeout = .milliseconds(100)
        }
        #expect(driver.connect())
        let slow = try #require(driver.answer(.sql("SELECT pg_sleep(30)"))?.error)
        #expect(slow.sqlState == .queryCanceled && slow.isRetriable && slow.outcome == .failed)
        let holder = try database.connect()
        try holder.execute("BEGIN")
        try holder.execute("LOCK TABLE t")
        let blocked = try #require(driver.answer(.statement(0), row(1, "x"))?.error)
        #expect(blocked.sqlState == .lockNotAvailable && blocked.isRetriable)
        #expect(driver.disconnections.isEmpty)
    }

    @Test("a request past its own deadline: unknown, and another connection")
    func deadline() throws {
        let driver = try driver()
        #expect(driver.connect())
        _ = driver.submit(.sql("SELECT pg_sleep(4)"), tag: 1, timeout: .milliseconds(200))
        _ = driver.submit(.statement(1), number(1), tag: 2)
        #expect(driver.run { _ in driver.connections.count == 2 })
        #expect(driver.answers[1]?.error?.outcome == .unknown)
        #expect(driver.answers[2]?.error?.outcome == .unknown)
        #expect(driver.disconnections.map(\.sqlState) == [.queryCanceled])
        #expect(driver.answer(.statement(1), number(2))?.rows?.int8(0, 0) == 2)
    }

    @Test("pg_terminate_backend: in flight unknown, then a new connection with its statements")
    func terminated() throws {
        let driver = try driver()
        #expect(driver.connect())
        _ = driver.submit(.sql("SELECT pg_sleep(4)"), tag: 1)
        _ = driver.submit(.statement(1), number(1), tag: 2)
        var process = Parameters()
        process.append(int4: driver.connections.first?.backendProcess)
        #expect(try database.connect().execute("SELECT pg_terminate_backend($1)", process).bool(0, 0) == true)
        #expect(driver.run { _ in driver.connections.count == 2 })
        #expect(driver.answers[1]?.error?.outcome == .unknown)
        #expect(driver.answers[2]?.error?.outcome == .unknown)
        #expect(driver.disconnections.map(\.sqlState) == [.adminShutdown])
        #expect(driver.answer(.statement(1), number(2))?.rows?.int8(0, 0) == 2)
    }

    @Test("terminated while idle: the reason is told, and it comes back")
    func terminatedIdle() throws {
        let driver = try driver()
        #expect(driver.connect())
        var process = Parameters()
        process.append(int4: driver.connections.first?.backendProcess)
        try database.connect().execute("SELECT pg_terminate_backend($1)", process)
        #expect(driver.run { _ in driver.connections.count == 2 })
        #expect(driver.disconnections.map(\.sqlState) == [.adminShutdown])
    }

    @Test func theSecondOfTwoHostsServesWhenTheFirstRefuses() throws {
        let base = try ConnectionTargets.parse(database.connectionString)
        let good = try #require(base["host"])
        let both = ConnectionTargets.text(of: base.merging(["host": "/nonexistent,\(good)"]) { $1 })
        let driver = try ConnectionDriver(both)
        #expect(driver.connect())
        #expect(driver.events.count == 2)
        #expect(driver.connections.first?.host.hasPrefix(good) == true)
        try BlockingConnection(both).close()
    }

    @Test func aReadOnlyDefaultIsNotWhatAWriterWants() throws {
        try database.connect().execute("ALTER DATABASE \(database.name) SET default_transaction_read_only = on")
        let driver = try driver()
        #expect(driver.run { $0.count >= 2 })
        #expect(driver.connections.isEmpty)
    }

    @Test func aStatementWhoseTableDoesNotExistYetIsPreparedOnceItDoes() throws {
        let driver = try ConnectionDriver(
            database.connectionString, statements: [Statement(name: "later", sql: "SELECT count(*) FROM later")])
        #expect(driver.run { $0.count >= 2 })
        #expect(driver.connections.isEmpty)
        try database.connect().execute("CREATE TABLE later (k int8)")
        #expect(driver.connect())
        #expect(driver.answer(.statement(0))?.rows?.int8(0, 0) == 0)
    }

    @Test func aMissingDatabaseIsAnAttemptThatFailedByItsCode() throws {
        let base = try ConnectionTargets.parse(database.connectionString)
        let driver = try ConnectionDriver(ConnectionTargets.text(of: base.merging(["dbname": "nowhere"]) { $1 }))
        #expect(driver.run { !$0.isEmpty })
        guard case .attemptFailed(let error)? = driver.events.first else { return #expect(Bool(false)) }
        #expect(error.sqlState == .undefinedDatabase)
    }

    @Test("close returns what is open; a deinit without it is fine too")
    func close() throws {
        let driver = try driver()
        #expect(driver.connect())
        _ = driver.submit(.sql("SELECT pg_sleep(1)"), tag: 1)
        driver.connection.close(into: &driver.events)
        #expect(driver.answers[1]?.error?.outcome == .unknown)
        #expect(driver.submit(.statement(1), number(1), tag: 2) == .notReady)
        #expect(driver.connection.descriptor == -1 && driver.connection.nextDeadline == nil)
    }
}
