import CLibpq
import Glibc

/// Calls into libpq whose arguments or results need translation.
enum LibpqCall {
    /// `PQconnectStartParams` with these options; nil when out of memory.
    static func start(_ options: [String: String]) -> OpaquePointer? {
        let keys = options.keys.map { strdup($0) }
        let values = options.values.map { strdup($0) }
        defer { for pointer in keys + values { free(pointer) } }
        return PQconnectStartParams(keys.map { UnsafePointer($0) } + [nil], values.map { UnsafePointer($0) } + [nil], 0)
    }

    /// Consumes a result and translates it for the command that it answers.
    static func reply(
        adopting result: OpaquePointer, to command: ConnectionMachine<Connection.Request, ResultRows>.Command,
        of handle: OpaquePointer
    ) -> ConnectionMachine<Connection.Request, ResultRows>.Reply {
        switch PQresultStatus(result) {
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY:
            let tag = PQcmdStatus(result).map { String(cString: $0) } ?? ""
            let rows = ResultRows(adopting: result)
            if tag == "BEGIN" || tag == "START TRANSACTION" {
                let text = "every request is a transaction of its own: BEGIN is not accepted"
                return .failed(PostgresError(.activeTransaction, text), endsSession: false)
            }
            return describe(rows, command, handle)
        case PGRES_PIPELINE_SYNC:
            PQclear(result)
            return .synced
        case PGRES_PIPELINE_ABORTED:
            PQclear(result)
            let error = PostgresError(.protocolViolation, "not run: aborted pipeline", outcome: .notExecuted)
            return .failed(error, endsSession: false)
        case PGRES_FATAL_ERROR:
            defer { PQclear(result) }
            let error = LibpqText.error(of: result)
            // Without a code the error is libpq's own: the connection broke.
            guard error.sqlState != .unspecified else {
                return .failed(PostgresError(.connectionFailure, error.message), endsSession: true)
            }
            let severity = PQresultErrorField(result, DiagnosticField.severity).map { String(cString: $0) }
            // After an ERROR more results may follow, even when the end of the stream has been read already.
            return .failed(error, endsSession: severity != "ERROR")
        case let status:
            PQclear(result)
            let error = PostgresError(.protocolViolation, "unexpected result status \(status.rawValue)")
            return .failed(error, endsSession: true)
        }
    }

    private static func describe(
        _ rows: ResultRows, _ command: ConnectionMachine<Connection.Request, ResultRows>.Command,
        _ handle: OpaquePointer
    ) -> ConnectionMachine<Connection.Request, ResultRows>.Reply {
        switch command {
        case .request, .prepare:
            return .rows(rows)
        case .identity:
            let identity = SessionSetup.identity(rows)
            return .identity(systemIdentifier: identity.systemIdentifier, timeline: identity.timeline)
        case .session:
            var facts = SessionSetup.facts(rows)
            facts.backendProcess = PQbackendPID(handle)
            let host = PQhost(handle).map { String(cString: $0) } ?? ""
            facts.host = "\(host):\(PQport(handle).map { String(cString: $0) } ?? "")"
            if facts.isReadOnly {
                return .failed(PostgresError(.readOnlyTransaction, "the server is read-only"), endsSession: false)
            }
            return .facts(facts)
        }
    }
}
