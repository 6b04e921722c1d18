import Glibc
package import Postgres

/// A standby of a live cluster, streaming from it as `standby`, until it is promoted. Removed with the last reference
/// or the process.
package final class LiveStandby: Sendable {
    /// Stop and kill it at will; ``start()`` starts it again.
    package let cluster: PrivateCluster
    private let end: ClusterGuard
    private let runner: String
    private let binaries: String

    init(of primary: PrivateCluster) throws {
        cluster = try PrivateCluster(try temporaryFolder("touchsync-standby"), syncsOnCreation: false)
        end = try ClusterGuard(cluster)
        binaries = try PrivateCluster.findBinaries()
        // PostgreSQL's programs insist on the owner of the data.
        var status = stat()
        stat(primary.dataDirectory, &status)
        let owner = "--reuid=\(status.st_uid) --regid=\(status.st_gid) --clear-groups"
        runner = geteuid() == 0 ? "setpriv \(owner) -- " : ""
        if geteuid() == 0 {
            mkdir(cluster.dataDirectory, 0o700)
            chown(cluster.dataDirectory, status.st_uid, status.st_gid)
        }
        try run(
            "pg_basebackup",
            "--pgdata=\(cluster.dataDirectory) --checkpoint=fast --no-sync --write-recovery-conf --dbname="
                + "'host=\(primary.socketDirectory) port=5432 user=touchsync application_name=standby'")
        try start()
    }

    /// Starts it, as a standby or as what it was promoted to; returns when it takes connections.
    package func start() throws {
        try run(
            "pg_ctl",
            "--pgdata=\(cluster.dataDirectory) --wait --timeout=60 --log=\(cluster.logDirectory)/postgres.log --options='"
                + "-c unix_socket_directories=\(cluster.socketDirectory) -c port=5432 -c listen_addresses=' start")
    }

    /// Makes it a primary; returns when it takes writes.
    package func promote() throws {
        try run("pg_ctl", "--pgdata=\(cluster.dataDirectory) --wait --timeout=60 promote")
    }

    private func run(_ program: String, _ arguments: String) throws {
        let status = system("cd / && \(runner)\(binaries)/\(program) \(arguments) > /dev/null 2>&1")
        guard status == 0 else { throw StandbyFailure(program: program, status: status) }
    }
}

/// A program of PostgreSQL's failed.
package struct StandbyFailure: Error {
    let program: String
    let status: Int32
}

extension LiveCluster {
    /// A standby of this cluster, which has everything and streams.
    package func standby() throws -> LiveStandby {
        try LiveStandby(of: cluster)
    }

    /// Makes commits wait for the standby, or not, and returns when the server does so.
    package func waitsForStandby(_ waits: Bool) throws {
        let server = try BlockingConnection(cluster.connectionString(database: "postgres"))
        try server.execute("SET synchronous_commit = local")
        try server.execute("ALTER SYSTEM SET synchronous_standby_names = '\(waits ? "standby" : "")'")
        try server.execute("SELECT pg_reload_conf()")
        let wanted =
            waits
            ? "SELECT count(*) = 1 FROM pg_stat_replication WHERE sync_state = 'sync'"
            : "SELECT current_setting('synchronous_standby_names') = ''"
        let end = ContinuousClock.now + .seconds(30)
        while try server.execute(wanted).bool(0, 0) != true {
            guard ContinuousClock.now < end else { throw StandbyFailure(program: "synchronous replication", status: 0) }
            poll(nil, 0, 10)
        }
    }
}
