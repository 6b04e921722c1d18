internal import Boot
internal import CommitterCore
package import Postgres

/// The periodic maintenance of the tables, in steps that are separate short transactions. Of several committers that
/// try at the same time one does the step, the others find nothing to do. All calls block.
package struct Upkeep: Sendable {
    package enum Done: Equatable, Sendable {
        /// A partition of the log was created or dropped, or some old rows that have none were dropped.
        case log(String)
        /// This many sessions ended.
        case sessions(Int)
        case history(HistoryNote)
    }

    /// How many whole days the log is kept, and the number of days without a commit or a join after which a session ends.
    package let logDays: Int, sessionDays: Int
    /// The bound of a user's sessions in a room.
    package let userSessions: Int
    private let clock: @Sendable () -> Int64

    /// The upkeep under these settings.
    /// - Parameter clock: this machine's time, seconds since 1970.
    package init(
        logDays: Int, sessionDays: Int, userSessions: Int = CommitterLimits().userSessions,
        clock: @escaping @Sendable () -> Int64 = WallClock.seconds
    ) {
        self.logDays = logDays
        self.sessionDays = sessionDays
        self.userSessions = userSessions
        self.clock = clock
    }

    /// Connects for one round.
    /// - Throws: ``PostgresError``.
    package func begin(_ databaseURL: String) throws(PostgresError) -> Round {
        let connection = try BlockingConnection(
            databaseURL, applicationName: "touchsync upkeep", statementTimeout: .seconds(10))
        // None of this is ever acknowledged, and a blocking COMMIT would wait forever for a lost standby.
        try connection.execute("SET synchronous_commit = local")
        return Round(self, connection)
    }

    /// One round: the history first, then the log, then the sessions, until nothing is left to do.
    package final class Round {
        /// What it found; complete when ``step()`` has returned nil.
        package private(set) var findings = UpkeepFindings()
        private let upkeep: Upkeep
        private let connection: BlockingConnection
        private var isHistoryNoted = false

        init(_ upkeep: Upkeep, _ connection: BlockingConnection) {
            self.upkeep = upkeep
            self.connection = connection
        }

        /// Does the next step.
        /// - Returns: nil when nothing was left to do.
        /// - Throws: ``PostgresError``, or ``WrongClock``; completed steps stay completed.
        package func step() throws -> Done? {
            if !self.isHistoryNoted {
                self.isHistoryNoted = true
                if let note = try self.noteHistory() { return .history(note) }
            }
            try self.checkClock()
            var log = Parameters()
            log.append(int4: Int32(clamping: self.upkeep.logDays))
            if let done = try self.connection.execute("SELECT keep_log($1)", log).text(0, 0) { return .log(done) }
            var sessions = Parameters()
            sessions.append(int4: Int32(clamping: self.upkeep.sessionDays))
            sessions.append(int4: Int32(clamping: self.upkeep.logDays))
            let count = try self.connection.execute("SELECT sweep_sessions($1, $2)", sessions).int8(0, 0) ?? 0
            if count > 0 { return .sessions(Int(count)) }
            self.findings.missingDays = try self.countMissingDays()
            self.findings.otherUserSessions = try self.noteUserSessions()
            return nil
        }

        /// How many of the days that `maintain_log` makes have no partition.
        private func countMissingDays() throws(PostgresError) -> Int {
            let days = try self.connection.execute(
                """
                SELECT count(*) FROM generate_series(0, 3) AS n
                CROSS JOIN LATERAL (
                    SELECT date_trunc('day', clock_timestamp(), 'UTC') + n * interval '24 hours') AS d (day)
                WHERE NOT EXISTS (SELECT FROM log_partitions() AS p WHERE p.lower <= d.day AND d.day < p.upper)
                """)
            return Int(days.int8(0, 0) ?? 0)
        }

        /// Sets the bound of a user's sessions that claims go by, as batches do. While a batch has the row locked it is
        /// left to that batch.
        /// - Returns: the bound before, if it was another one.
        private func noteUserSessions() throws(PostgresError) -> String? {
            var bound = Parameters()
            bound.append(text: "\(self.upkeep.userSessions)")
            let former = try self.connection.execute(
                """
                UPDATE meta AS m SET value = $1
                FROM (
                    SELECT k.ctid, k.value FROM meta AS k
                    WHERE k.key = 'user_sessions' AND k.value <> $1 FOR UPDATE SKIP LOCKED) AS o
                WHERE m.ctid = o.ctid RETURNING o.value
                """, bound)
            return former.text(0, 0)
        }

        /// A database that is ahead by a week, as after a failover to a machine with another clock, would drop the whole log,
        /// and requests could be applied twice.
        private func checkClock() throws {
            let now =
                try self.connection.execute("SELECT extract(epoch FROM clock_timestamp())::bigint").int8(0, 0) ?? 0
            let ahead = now - self.upkeep.clock()
            guard abs(ahead) <= WrongClock.tolerance else { throw WrongClock(secondsAhead: ahead) }
        }

        /// Nil when the role may not read the server's identity.
        private func noteHistory() throws(PostgresError) -> HistoryNote? {
            do throws(PostgresError) {
                return HistoryNote(try self.connection.execute(HistoryNote.ownSQL))
            } catch {
                guard error.sqlState == .insufficientPrivilege else { throw error }
                return nil
            }
        }
    }
}

/// What a round of upkeep found that only an operator can mend.
package struct UpkeepFindings: Equatable, Sendable {
    /// The days among today and the next three for which the log has no partition.
    package var missingDays: Int
    /// The `user-sessions` that was in force instead of this committer's; nil when it was the same.
    package var otherUserSessions: String?

    /// Findings; by default none.
    package init(missingDays: Int = 0, otherUserSessions: String? = nil) {
        self.missingDays = missingDays
        self.otherUserSessions = otherUserSessions
    }

    /// Those that last. Days that the round before did not miss are perhaps being made by another committer. What the
    /// first round finds in force is perhaps the setting before the start; later ones find what another committer set.
    /// - Parameter last: what the round before found; nil in the first round.
    package func lasting(since last: UpkeepFindings?) -> UpkeepFindings {
        guard let last else { return UpkeepFindings() }
        return UpkeepFindings(
            missingDays: min(last.missingDays, self.missingDays), otherUserSessions: self.otherUserSessions)
    }
}

/// The clocks of the database and of this machine differ too much to decide by them what is old enough to be dropped.
package struct WrongClock: Error, Equatable, CustomStringConvertible {
    /// How far the database is ahead, seconds.
    package let secondsAhead: Int64

    /// More is wrong, seconds.
    static let tolerance: Int64 = 3600

    package var description: String {
        "the database's clock is \(abs(self.secondsAhead)) s \(self.secondsAhead > 0 ? "ahead of" : "behind") this machine's"
    }
}
