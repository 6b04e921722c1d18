package import Postgres
package import Wire

/// The result of `note_history`: a server's history, compared with what the database has seen before.
package struct HistoryNote: Equatable, Sendable {
    /// See the function.
    package enum Verdict: String, Sendable {
        case same
        /// Nothing was recorded before.
        case first
        /// A standby took over that had all commits.
        case failover
        /// A standby took over that may lack commits.
        case lost
        /// The database was restored from a backup.
        case restored
        /// A former primary, which must not be written to.
        case behind
    }

    package var verdict: Verdict
    package var epoch: Identifier

    package static var statement: Statement { Self.call.statement }

    private static let call = PreparedCall<ServerFacts>(
        "note_history",
        [
            .int8("p_system") { $0.systemIdentifier.map(Int64.init(bitPattern:)) },
            .int4("p_timeline") { $0.timeline.map(Int32.init(bitPattern:)) },
        ]
    ) { "SELECT verdict, epoch FROM note_history(\($0))" }

    /// The same with the server's current values; it fails when the role lacks the privilege. Whether commits wait for
    /// a standby is passed explicitly: every lane's session waits, the session that calls this one may not.
    static let ownSQL = """
        SELECT n.verdict, n.epoch FROM pg_control_system() AS c, note_history(
            c.system_identifier, ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int4,
            current_setting('synchronous_standby_names') <> '') AS n
        """

    package static func parameters(_ facts: ServerFacts) -> Parameters {
        Self.call.parameters(facts)
    }

    package init(_ verdict: Verdict, epoch: Identifier) {
        self.verdict = verdict
        self.epoch = epoch
    }

    /// Parses the answer; nil when it is malformed.
    package init?(_ rows: ResultRows) {
        guard rows.count == 1, let verdict = rows.text(0, 0).flatMap(Verdict.init), let epoch = rows.text(0, 1) else {
            return nil
        }
        self.init(verdict, epoch: Identifier(epoch))
    }
}
