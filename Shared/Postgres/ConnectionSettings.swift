internal import Timing

/// How to reach the database, with limits and timeouts.
package struct ConnectionSettings: Sendable {
    /// A libpq connection string, URI or `key=value`. Several hosts are tried in turn, each with its own timeout. Its
    /// options override the transport settings that are added (keepalives, `tcp_user_timeout`, …).
    package var connectionString: String
    /// Shown in pg_stat_activity.
    package var applicationName = "touchsync"
    /// The server cancels a statement after this (57014).
    package var statementTimeout: Duration = .seconds(4)
    /// The server stops waiting for a lock after this (55P03).
    package var lockTimeout: Duration = .seconds(2)
    /// Without a result after this, a request's outcome is unknown and the connection is abandoned. Longer than the
    /// statement timeout, so that a server that is only slow reports itself that nothing was done.
    package var requestDeadline: Duration = .seconds(5)
    /// The longest delay between rounds of attempts.
    package var backoffMaximum: Duration = .seconds(2)
    package var maximumInFlight = 64
    /// The maximum number of requests that wait to be sent.
    package var maximumQueued = 1024

    package init(connectionString: String) {
        self.connectionString = connectionString
    }
}

/// A statement that every connection prepares.
package struct Statement: Sendable {
    /// Unique on the connection.
    package var name: String
    /// One statement with `$1`, `$2`, …
    package var sql: String
    /// The parameters' types in order; missing ones are inferred.
    package var parameterTypes: [PostgresType]

    package init(name: String, sql: String, parameterTypes: [PostgresType] = []) {
        self.name = name
        self.sql = sql
        self.parameterTypes = parameterTypes
    }
}

package enum Query: Equatable, Sendable {
    /// A prepared statement by its index in the connection's list.
    case statement(Int)
    /// One statement, parsed and planned each time.
    case sql(String)
}

/// What a poller needs to know about a connection's socket.
package struct DescriptorWatch: Equatable, Sendable {
    /// The socket; -1 when there is none.
    package var descriptor: Int32
    /// Changes whenever the socket may be another one, even if its number is the same.
    package var generation: UInt64
    /// True when reading must be polled.
    package var wantsRead: Bool
    /// True when writing must be polled.
    package var wantsWrite: Bool
}

extension Duration {
    /// Whole milliseconds for PostgreSQL's settings, at least 1: 0 would mean "no limit" there.
    var settingMilliseconds: Int64 {
        max(1, Int64(clamping: Nanoseconds(self).milliseconds))
    }
}
