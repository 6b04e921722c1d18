import Glibc
import PipelineTestKit
import Testing

@testable import Postgres

/// A server of one's own, stopped, killed and started again.
@Suite("Private cluster", .serialized, .timeLimit(.minutes(2)))
struct PrivateClusterTests {
    /// One for all tests of this suite, which run one after the other and leave it in any state.
    static let live = Result { try LivePostgres.ownCluster() }
    let cluster: PrivateCluster

    init() throws {
        cluster = try Self.live.get().cluster
        _ = try cluster.start()
    }

    func driver() throws -> ConnectionDriver {
        let driver = try ConnectionDriver(
            cluster.connectionString,
            statements: [Statement(name: "echo", sql: "SELECT $1::int8", parameterTypes: [.int8])])
        #expect(driver.connect())
        return driver
    }

    func number(_ value: Int64) -> Parameters {
        var parameters = Parameters()
        parameters.append(int8: value)
        return parameters
    }

    @Test func startIsIdempotentAdoptsAndStopStops() throws {
        let process = try #require(cluster.processID)
        #expect(try cluster.start() == .adopted)
        let second = try PrivateCluster(cluster.folder)
        #expect(try second.start() == .adopted)
        #expect(second.processID == process && second.connectionString == cluster.connectionString)
        for mode in [.fast, .immediate] as [PrivateCluster.StopMode] {
            try cluster.stop(mode)
            #expect(cluster.processID == nil)
            try cluster.stop(mode)
            #expect(try cluster.start() == .started)
        }
    }

    @Test("nobody else gets in: socket folder and data are private, TCP is closed")
    func isPrivate() throws {
        for folder in [cluster.dataDirectory, cluster.socketDirectory] {
            var status = stat()
            #expect(stat(folder, &status) == 0 && status.st_mode & 0o777 == 0o700, "\(folder)")
            #expect((status.st_uid != 0) == true || geteuid() != 0, "\(folder)")
        }
        let rows = try BlockingConnection(cluster.connectionString).execute(
            """
            SELECT current_setting('listen_addresses'), current_setting('fsync'), current_setting('full_page_writes'),
                current_setting('lc_collate'), current_setting('server_encoding'), current_setting('data_checksums')
            """)
        #expect((0..<6).map { rows.text(0, $0) } == ["", "on", "on", "C", "UTF8", "on"])
        #expect(cluster.connectionString.hasPrefix("postgresql://touchsync@/touchsync?host=%2F"))
    }

    @Test("killed with its lock file left behind: the next start recovers")
    func killed() throws {
        try BlockingConnection(cluster.connectionString).execute(
            "CREATE TABLE IF NOT EXISTS kept AS SELECT 42::int8 AS n")
        try cluster.kill()
        #expect(cluster.processID == nil)
        #expect(access("\(cluster.dataDirectory)/postmaster.pid", F_OK) == 0)
        #expect(try cluster.start() == .started)
        #expect(try BlockingConnection(cluster.connectionString).execute("SELECT n FROM kept").int8(0, 0) == 42)
    }

    @Test("a lock file whose number belongs to somebody else now does not stop the start")
    func reusedProcessNumber() throws {
        try cluster.stop()
        let path = "\(cluster.dataDirectory)/postmaster.pid"
        try TextFile.write("1\n\(cluster.dataDirectory)\n0\n5432\n\(cluster.socketDirectory)\n\n0 0\nready\n", to: path)
        #expect(cluster.processID == nil)
        #expect(try cluster.start() == .started)
    }

    @Test("a backend killed with SIGKILL: crash restart, unknown outcome, service again")
    func backendKilled() throws {
        let driver = try driver()
        let process = try #require(driver.connections.first?.backendProcess)
        _ = driver.submit(.sql("SELECT pg_sleep(4)"), tag: 1)
        kill(process, SIGKILL)
        #expect(driver.run { _ in driver.connections.count == 2 })
        #expect(driver.answers[1]?.error?.outcome == .unknown)
        #expect(driver.disconnections.count == 1)
        #expect(driver.answer(.statement(0), number(7))?.rows?.int8(0, 0) == 7)
    }

    @Test("a neighbour's crash: this connection is told to go, and comes back")
    func neighbourKilled() throws {
        let driver = try driver()
        let neighbour = try BlockingConnection(cluster.connectionString)
        kill(try #require(try neighbour.execute("SELECT pg_backend_pid()").int4(0, 0)), SIGKILL)
        #expect(driver.run { _ in driver.connections.count == 2 })
        #expect(driver.disconnections.map(\.sqlState) == [.crashShutdown])
    }

    @Test("stop -m immediate, then start: down in between, then everything as before")
    func immediateStop() throws {
        let driver = try driver()
        _ = driver.submit(.sql("SELECT pg_sleep(4)"), tag: 1)
        try cluster.stop(.immediate)
        #expect(driver.run { $0.contains { if case .attemptFailed = $0 { true } else { false } } })
        #expect(driver.answers[1]?.error?.outcome == .unknown)
        #expect(driver.submit(.statement(0), number(1), tag: 2) == .notReady)
        _ = try cluster.start()
        #expect(driver.run { _ in driver.connections.count == 2 })
        #expect(driver.answer(.statement(0), number(7))?.rows?.int8(0, 0) == 7)
    }

    @Test func aCancelledWaitForASynchronousStandbyLooksLikeSuccessAndIsUnknownHere() throws {
        let admin = try BlockingConnection(cluster.connectionString(database: "postgres"))
        try admin.execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
        try admin.execute("SELECT pg_reload_conf()")
        let driver = try driver()
        let process = try #require(driver.connections.first?.backendProcess)
        // DDL would wait, too: an advisory write is enough to need a commit record.
        _ = driver.submit(.sql("SELECT pg_logical_emit_message(true, 'test', 'x')"), tag: 1)
        var parameters = Parameters()
        parameters.append(int4: process)
        let waits = "SELECT count(*) FROM pg_stat_activity WHERE pid = $1 AND wait_event = 'SyncRep'"
        #expect(
            driver.run { _ in (try? admin.execute(waits, parameters).int8(0, 0)) == 1 || driver.connection.inFlight == 0
            })
        #expect(driver.answers[1] == nil)
        try admin.execute("SELECT pg_cancel_backend($1)", parameters)
        #expect(driver.run { _ in driver.answers[1] != nil })
        let error = try #require(driver.answers[1]?.error)
        #expect(error.outcome == .unknown && error.sqlState == .warning)
        #expect(driver.disconnections.isEmpty)
        try admin.execute("ALTER SYSTEM RESET synchronous_standby_names")
        try admin.execute("SELECT pg_reload_conf()")
    }

    @Test("a role that flips to read-only: refused, retriable, another connection until it is writable again")
    func readOnlyFlip() throws {
        let admin = try BlockingConnection(cluster.connectionString(database: "postgres"), requiresReadWrite: false)
        let driver = try driver()
        let write = Query.sql("SELECT pg_create_restore_point('x'), txid_current()")
        #expect(driver.answer(write)?.rows != nil)
        try admin.execute("ALTER SYSTEM SET default_transaction_read_only = on")
        try admin.execute("SELECT pg_reload_conf()")
        // The session hears of it when it likes; until then writes go through.
        let create = Query.sql("CREATE TABLE IF NOT EXISTS flip (k int8)")
        var error: PostgresError?
        for _ in 0..<10_000 where error == nil { error = driver.answer(create)?.error }
        #expect(error?.sqlState == .readOnlyTransaction && error?.isRetriable == true && error?.outcome == .failed)
        #expect(driver.run { $0.contains { if case .attemptFailed = $0 { true } else { false } } })
        #expect(driver.connections.count == 1 && driver.disconnections.map(\.sqlState) == [.readOnlyTransaction])
        try admin.executeScript("SET default_transaction_read_only = off")
        try admin.execute("ALTER SYSTEM RESET default_transaction_read_only")
        try admin.execute("SELECT pg_reload_conf()")
        #expect(driver.run { _ in driver.connections.count == 2 })
        #expect(driver.answer(create)?.rows != nil)
    }
}

/// Where a cluster can live, and what is said when it cannot.
@Suite("Private cluster's place", .serialized, .timeLimit(.minutes(1)))
struct ClusterPlaceTests {
    /// A cluster that is gone, with its files, when the body has returned.
    func withCluster(_ folder: String, _ body: (PrivateCluster) throws -> Void) throws {
        let cluster = try PrivateCluster(folder, syncsOnCreation: false)
        let end = try ClusterGuard(cluster)
        #expect(try cluster.start() == .created)
        try BlockingConnection(cluster.connectionString).close()
        try body(cluster)
        withExtendedLifetime(end) {}
    }

    @Test("a deep folder gets a short socket path that fits, private as well; the guard leaves nothing behind")
    func deepFolder() throws {
        let base = try temporaryFolder("touchsync-deep")
        let deep = "\(base)/\(String(repeating: "d", count: 100))"
        var socket = ""
        var server: Int32 = 0
        try withCluster("\(deep)/cluster") { cluster in
            socket = cluster.socketDirectory
            server = try #require(cluster.processID)
        }
        #expect(socket.hasPrefix("/tmp/touchsync-") && access(socket, F_OK) != 0)
        #expect(access("\(deep)/cluster", F_OK) != 0 && kill(server, 0) != 0)
        #expect(rmdir(deep) == 0 && rmdir(base) == 0)
    }

    @Test("a folder that the server's user may not enter: data elsewhere, linked", .enabled(if: geteuid() == 0))
    func unreachableFolder() throws {
        let base = try temporaryFolder("touchsync-closed")
        chmod(base, 0o700)
        try withCluster("\(base)/cluster") { cluster in
            #expect(cluster.dataDirectory.hasPrefix("/var/lib/touchsync/"))
            #expect(access("\(base)/cluster/data/PG_VERSION", F_OK) == 0)
        }
        #expect(rmdir(base) == 0)
    }

    @Test("initdb was killed half-way: the next start begins again")
    func halfMade() throws {
        let base = try temporaryFolder("touchsync-half")
        #expect(mkdir("\(base)/data.draft", 0o700) == 0)
        try TextFile.write("15\n", to: "\(base)/data.draft/PG_VERSION")
        try withCluster(base) { _ in }
    }
}
