internal import Boot
internal import Postgres

/// Checks a reachable database.
struct DatabaseCheckup {
    let connection: BlockingConnection
    let url: String
    let migrations: [Migration]

    func examine() throws -> [Finding] {
        [try self.version(), try self.durability(), try self.role(), try self.clock(), self.schema()]
    }

    private func setting(_ name: String) throws -> String {
        var parameters = Parameters()
        parameters.append(text: name)
        return try self.connection.execute("SELECT current_setting($1)", parameters).text(0, 0) ?? ""
    }

    private func version() throws -> Finding {
        let number = Int(try self.setting("server_version_num")) ?? 0
        let text = "\(ConnectionString.masked(self.url)) is PostgreSQL \(try self.setting("server_version"))"
        guard number < 140_000 else { return .ok("database", text) }
        return .fail("database", text, "PostgreSQL 14 or newer is needed")
    }

    private func durability() throws -> Finding {
        let off = try ["fsync", "full_page_writes", "synchronous_commit"].filter { try self.setting($0) == "off" }
        guard !off.isEmpty else { return .ok("durability", "fsync, full_page_writes and synchronous_commit are on") }
        return .fail(
            "durability", "\(off.joined(separator: ", ")) off: acknowledged commits may be lost",
            "ALTER SYSTEM SET … = on, then pg_ctl reload")
    }

    private func role() throws -> Finding {
        if try self.setting("transaction_read_only") == "on" {
            return .fail(
                "role", "the server is read-only (a standby, or default_transaction_read_only)",
                "name the primary, or several hosts with target_session_attrs=read-write")
        }
        let rows = try self.connection.execute(
            """
            SELECT current_user, r.rolsuper, coalesce(pg_has_role(c.relowner, 'MEMBER'), false)
            FROM pg_roles AS r LEFT JOIN pg_class AS c ON c.oid = to_regclass('commit_log') WHERE r.rolname = current_user
            """)
        let name = rows.text(0, 0) ?? ""
        guard rows.bool(0, 1) == true || rows.bool(0, 2) == true else { return .ok("role", "\(name), read-write") }
        return .warn(
            "role",
            "\(name) \(rows.bool(0, 1) == true ? "is a superuser" : "owns the tables"): whoever breaks into a "
                + "daemon can drop them",
            "touchsync migrate --runtime-role NAME as the owner, and let daemons connect as NAME")
    }

    /// Compares the time of day here and there, as far as the way there allows.
    private func clock() throws -> Finding {
        let before = WallClock.exactSeconds()
        let rows = try self.connection.execute("SELECT extract(epoch FROM clock_timestamp())::float8")
        return Self.clock(rows.float8(0, 0), from: before, to: WallClock.exactSeconds())
    }

    /// What a time of day there says that was told between two moments here, seconds.
    static func clock(_ there: Double?, from before: Double, to after: Double) -> Finding {
        guard let there else { return .ok("clock", "the server tells no time") }
        let skew = max(0, before - there, there - after)
        let text = "the server's clock is \((skew * 1000).rounded()) ms off this host's"
        guard skew > 0.3 else { return .ok("clock", text) }
        return .warn("clock", text, "let NTP hold the clocks of all hosts: motions start by them")
    }

    private func schema() -> Finding {
        do {
            let pending = try Migrator(self.migrations).pending(self.url)
            guard !pending.isEmpty else { return .ok("schema", "up to date (\(self.migrations.count) migrations)") }
            return .warn(
                "schema", "\(pending.count) of \(self.migrations.count) migrations are not applied",
                "touchsync migrate (touchsync up does it by itself)")
        } catch {
            return .fail("schema", "\(error)", "this database belongs to another version; see the message")
        }
    }
}
