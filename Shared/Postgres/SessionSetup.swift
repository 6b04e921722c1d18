/// The first two statements of every session, and the parsing of their results.
enum SessionSetup {
    /// Sets the limits and reads the server's state, in one round trip.
    static let sessionSQL = """
        SELECT set_config('statement_timeout', $1, false), set_config('lock_timeout', $2, false),
            set_config('idle_in_transaction_session_timeout', $3, false),
            set_config('client_connection_check_interval', '2000', false),
            set_config('default_transaction_isolation', 'read committed', false),
            set_config('client_min_messages', 'warning', false),
            set_config('synchronous_commit', CASE current_setting('synchronous_commit')
                WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false),
            current_setting('fsync') = 'on', current_setting('full_page_writes') = 'on',
            current_setting('transaction_read_only') = 'on', pg_is_in_recovery()
        """

    /// Identifies the cluster and its number of promotions. A separate statement, because a role may lack the
    /// privilege.
    static let identitySQL = """
        SELECT system_identifier, CASE WHEN pg_is_in_recovery() THEN NULL
            ELSE ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int4 END
        FROM pg_control_system()
        """

    static func sessionParameters(_ settings: ConnectionSettings) -> Parameters {
        var parameters = Parameters()
        for limit in [settings.statementTimeout, settings.lockTimeout, .seconds(10)] {
            parameters.append(text: String(limit.settingMilliseconds))
        }
        return parameters
    }

    static func facts(_ rows: ResultRows) -> ServerFacts {
        var facts = ServerFacts()
        facts.synchronousCommit = rows.text(0, 6) ?? ""
        facts.fsync = rows.bool(0, 7) ?? false
        facts.fullPageWrites = rows.bool(0, 8) ?? false
        facts.isReadOnly = rows.bool(0, 9) ?? true
        facts.isInRecovery = rows.bool(0, 10) ?? false
        return facts
    }

    static func identity(_ rows: ResultRows) -> (systemIdentifier: UInt64?, timeline: UInt32?) {
        (rows.int8(0, 0).map(UInt64.init(bitPattern:)), rows.int4(0, 1).map(UInt32.init(bitPattern:)))
    }
}
