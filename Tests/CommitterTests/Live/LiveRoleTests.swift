import Canvas
import CommitterCore
import CommitterDaemon
import PipelineTestKit
import Postgres
import Testing
import Wire

/// The daemons' statements under a role that owns nothing.
@Suite(.timeLimit(.minutes(1))) struct LiveRoleTests {
    private let owner: LiveTables
    private let runtime: LiveTables
    private let role: String

    init() throws {
        self.owner = try LiveTables()
        self.role = "runtime_\(self.owner.database.name)"
        _ = try self.owner.rows("CREATE ROLE \(self.role) LOGIN")
        try RuntimeRole.grant(self.role, on: self.owner.database.connectionString)
        self.runtime = try LiveTables(self.owner.database, as: self.role)
    }

    @Test func batchesWriteAndEvictWithTheRightsOfTheRole() throws {
        var limits = CommitterLimits()
        limits.userSessions = 1
        for (session, id) in zip(["-----------1AAA", "-----------2AAA"] as [Identifier], ["a", "b"] as [Identifier]) {
            var ledger = ShardLedger(shard: Shard.of(room: "room"), rules: .defaults, limits: limits)
            ledger.admit([commit(1, create(id), session: session), commit(2, create(id), session: session)])
            #expect(try ledger.run(on: self.runtime).refusals.map { $0?.code } == [nil, .conflict])
            _ = try self.owner.rows("UPDATE sessions SET updated_at = updated_at - interval '1 hour'")
        }
        #expect(try self.owner.number("SELECT count(*) FROM sessions") == 1)
        #expect(try self.owner.number("SELECT count(*) FROM session_floors") == 1)
        #expect(try self.owner.number("SELECT count(*) FROM refusals") == 1)
        // Claims know the bound from the batches.
        #expect(try self.owner.rows("SELECT value FROM meta WHERE key = 'user_sessions'").text(0, 0) == "1")
        let claim = "SELECT claim FROM claim_session('room', '-----------3AAA', 'ann')"
        #expect(try self.runtime.rows(claim).int4(0, 0) == 2)
        #expect(try self.owner.rows("SELECT session FROM sessions").text(0, 0) == "-----------3AAA")
        #expect(try self.owner.number("SELECT count(*) FROM sessions") == 1)
        #expect(try self.owner.number("SELECT count(*) FROM refusals") == 0)
        #expect(try self.owner.number("SELECT undo_depth FROM undo_stacks") == 2)
    }

    @Test func upkeepSweepsKeepsTheLogAndNotesTheHistory() throws {
        var ledger = ledger()
        ledger.admit([commit(1, create("a"), session: "h:0123")])
        _ = try ledger.run(on: self.runtime)
        for table in ["sessions", "undo_stacks"] {
            _ = try self.owner.rows("UPDATE \(table) SET updated_at = updated_at - interval '60 days'")
        }
        let round = try Upkeep(logDays: 7, sessionDays: 30).begin(self.owner.database.connectionString(as: self.role))
        var done: [Upkeep.Done] = []
        while let step = try round.step() { done.append(step) }
        #expect(done.contains(.sessions(1)) && done.count == 5)
        #expect(try self.owner.number("SELECT count(*) FROM undo_stacks") == 0)
        guard case .history(let note) = done.first else {
            Issue.record("the role may not compare histories")
            return
        }
        #expect(note.verdict == .first)
        // A failover that commits did not wait for: the epoch changes.
        _ = try self.owner.rows("UPDATE history SET timeline = timeline - 1")
        let after = try Upkeep(logDays: 7, sessionDays: 30).begin(self.owner.database.connectionString(as: self.role))
        guard case .history(let lost) = try after.step() else { return }
        #expect(lost.verdict == .lost && lost.epoch != note.epoch)
    }

    /// What is not here, daemons need not have: whoever adds a right names it.
    @Test func rightsOnTablesAreExactly() throws {
        let rows = try self.owner.rows(
            """
            SELECT c.relname || ' ' || string_agg(p.right, ' ' ORDER BY p.place)
            FROM pg_class AS c CROSS JOIN (VALUES (1, 'SELECT'), (2, 'INSERT'), (3, 'UPDATE'), (4, 'DELETE'),
                (5, 'TRUNCATE'), (6, 'REFERENCES'), (7, 'TRIGGER')) AS p (place, "right")
            WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
                AND has_table_privilege('\(self.role)', c.oid, p.right)
            GROUP BY c.relname ORDER BY c.relname
            """)
        #expect(
            (0..<rows.count).map { rows.text($0, 0) } == [
                "commit_log SELECT INSERT", "elements SELECT INSERT UPDATE", "history SELECT UPDATE",
                "meta SELECT INSERT", "refusals SELECT INSERT DELETE", "rooms SELECT INSERT UPDATE",
                "schema_migrations SELECT", "session_floors SELECT INSERT UPDATE",
                "sessions SELECT INSERT UPDATE DELETE", "shards SELECT UPDATE",
                "undo_stacks SELECT INSERT UPDATE DELETE",
            ])
    }

    /// Whoever migrates later need not name the role again.
    @Test func rolesThatHaveTheRightsGetThemAgain() throws {
        _ = try self.owner.rows("REVOKE SELECT ON elements FROM \(self.role)")
        #expect(self.runtime.failure("SELECT FROM elements") == .insufficientPrivilege)
        #expect(try RuntimeRole.renew(on: self.owner.database.connectionString) == [self.role])
        #expect(self.runtime.failure("SELECT FROM elements") == nil)
        // Nobody but the owner can, and a daemon that is another role need not.
        #expect(try RuntimeRole.renew(on: self.owner.database.connectionString(as: self.role)) == [])
        let other = try LiveTables()
        #expect(try RuntimeRole.renew(on: other.database.connectionString) == [])
    }

    @Test func anotherRoleHasNoRightOnTheLogsUpkeep() throws {
        _ = try self.owner.rows("CREATE ROLE \(self.role)_other LOGIN")
        let other = try LiveTables(self.owner.database, as: "\(self.role)_other")
        for sql in ["SELECT keep_log(7)", "SELECT maintain_log(7)", "SELECT grant_runtime('\(self.role)_other')"] {
            #expect(other.failure(sql) == .insufficientPrivilege, "\(sql)")
        }
    }
}
