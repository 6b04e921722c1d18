import Glibc
package import Postgres

/// Real PostgreSQL for tests: one private cluster for each test process, a fresh database for each test.
///
/// The cluster is started by the first test that needs it and goes away with the process, even a killed one. Missing
/// PostgreSQL programs are an error, never a skipped test.
package enum LivePostgres {
    private static let shared = Result { try LiveCluster() }

    /// A new, empty database on the shared cluster.
    package static func freshDatabase() throws -> LiveDatabase {
        try shared.get().freshDatabase()
    }

    /// A cluster that only this test uses, already started; for tests that stop, kill or reconfigure the server.
    package static func ownCluster(settings: [(name: String, value: String)] = []) throws -> LiveCluster {
        try LiveCluster(settings: settings)
    }
}

/// A running private cluster in a temporary folder, removed with the last reference or the process.
package final class LiveCluster: Sendable {
    /// Stop, kill and start it at will.
    package let cluster: PrivateCluster
    private let end: ClusterGuard

    init(settings: [(name: String, value: String)] = []) throws {
        cluster = try PrivateCluster(
            try temporaryFolder("touchsync-test"), settings: settings, syncsOnCreation: false)
        end = try ClusterGuard(cluster)
        _ = try cluster.start()
    }

    /// A new, empty database.
    package func freshDatabase() throws -> LiveDatabase {
        try LiveDatabase(self)
    }
}

/// A database that nobody else uses, dropped by ``close()`` or with its last reference.
package final class LiveDatabase: Sendable {
    /// Made up.
    package let name: String
    /// For ``Connection``, ``BlockingConnection`` or any libpq client.
    package let connectionString: String
    private let cluster: LiveCluster

    init(_ cluster: LiveCluster) throws {
        self.cluster = cluster
        name = "test_" + String(UInt64.random(in: 0 ... .max), radix: 36)
        connectionString = cluster.cluster.connectionString(database: name)
        _ = try Migrator.ensureDatabase(connectionString)
    }

    deinit {
        close()
    }

    /// A blocking connection to it.
    package func connect() throws(PostgresError) -> BlockingConnection {
        try BlockingConnection(connectionString)
    }

    /// The same as another role of the cluster.
    package func connectionString(as role: String) -> String {
        connectionString.replacing("//touchsync@", with: "//\(role)@")
    }

    /// A blocking connection as another role.
    package func connect(as role: String) throws(PostgresError) -> BlockingConnection {
        try BlockingConnection(connectionString(as: role))
    }

    /// Drops the database and whoever is connected to it; harmless when the server is gone.
    package func close() {
        let server = try? BlockingConnection(cluster.cluster.connectionString(database: "postgres"))
        // Where commits wait for a standby that is gone, this one must not.
        _ = try? server?.execute("SET synchronous_commit = local")
        _ = try? server?.execute("DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
    }
}
