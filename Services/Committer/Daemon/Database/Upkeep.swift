internal import CommitterCore
package import Postgres

/// What the tables need from time to time, in steps that are short transactions of their own. Of several committers
/// that try at the same moment one does the step, the others find nothing to do. Everything here blocks.
package struct Upkeep: Sendable {
    /// What one step did.
    package enum Done: Equatable, Sendable {
        /// A day of the log was made or dropped.
        case log(String)
        /// So many sessions ended.
        case sessions(Int)
        /// The history was compared.
        case history(HistoryNote)
    }

    /// How many whole days the log is kept, and after how many days without a commit a session ends.
    package let logDays: Int, sessionDays: Int

    /// The upkeep under these settings.
    package init(logDays: Int, sessionDays: Int) {
        self.logDays = logDays
        self.sessionDays = sessionDays
    }

    /// Connects for one round.
    /// - Throws: ``PostgresError``.
    package func begin(_ databaseURL: String) throws(PostgresError) -> Round {
        let connection = try BlockingConnection(
            databaseURL, applicationName: "touchsync upkeep", statementTimeout: .seconds(10))
        // Nothing of this is ever acknowledged, and a blocking COMMIT would wait for a lost standby without end.
        try connection.execute("SET synchronous_commit = local")
        return Round(self, connection)
    }

    /// One round: the history first, then the log, then the sessions, until nothing is left to do.
    package final class Round {
        private let upkeep: Upkeep
        private let connection: BlockingConnection
        private var isHistoryNoted = false

        init(_ upkeep: Upkeep, _ connection: BlockingConnection) {
            self.upkeep = upkeep
            self.connection = connection
        }

        /// Does the next step.
        /// - Returns: nil when nothing was left to do.
        /// - Throws: ``PostgresError``; what was done before stays done.
        package func step() throws(PostgresError) -> Done? {
            if !self.isHistoryNoted {
                self.isHistoryNoted = true
                if let note = try self.noteHistory() { return .history(note) }
            }
            var log = Parameters()
            log.append(int4: Int32(clamping: self.upkeep.logDays))
            if let done = try self.connection.execute("SELECT maintain_log($1)", log).text(0, 0) { return .log(done) }
            var sessions = Parameters()
            sessions.append(int4: Int32(clamping: self.upkeep.sessionDays))
            sessions.append(int4: Int32(clamping: self.upkeep.logDays))
            let count = try self.connection.execute("SELECT sweep_sessions($1, $2)", sessions).int8(0, 0) ?? 0
            return count > 0 ? .sessions(Int(count)) : nil
        }

        /// Nil when the role may not ask which server this is.
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
