package import Postgres

/// The role that daemons connect as, when it is another one than the owner of the tables. All calls block.
package enum RuntimeRole {
    /// Gives a role the rights that daemons need; safe to repeat. The connection is the owner's.
    /// - Throws: ``PostgresError``: the role does not exist, or owns the tables itself.
    package static func grant(_ role: String, on connectionString: String) throws(PostgresError) {
        let connection = try BlockingConnection(connectionString, applicationName: "touchsync migrate")
        defer { connection.close() }
        try self.grant(role, connection)
    }

    /// Gives every role that has the rights of daemons those on what migrations made since. Does nothing as anybody but
    /// the owner of the tables, who alone can.
    /// - Returns: the roles; empty when the daemons connect as the owner.
    @discardableResult
    package static func renew(on connectionString: String) throws(PostgresError) -> [String] {
        let connection = try BlockingConnection(connectionString, applicationName: "touchsync migrate")
        defer { connection.close() }
        let rows = try connection.execute(
            """
            SELECT r FROM runtime_roles() AS r
            WHERE pg_has_role((SELECT c.relowner FROM pg_class AS c WHERE c.oid = 'meta'::regclass), 'USAGE')
            """)
        let roles = (0..<rows.count).compactMap { rows.text($0, 0) }
        for role in roles { try self.grant(role, connection) }
        return roles
    }

    private static func grant(_ role: String, _ connection: BlockingConnection) throws(PostgresError) {
        var parameters = Parameters()
        parameters.append(text: role)
        try connection.execute("SELECT grant_runtime($1)", parameters)
    }
}
