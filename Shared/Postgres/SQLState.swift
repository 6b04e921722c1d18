/// PostgreSQL's five-character error code (PostgreSQL manual, appendix A).
package struct SQLState: Hashable, Sendable, CustomStringConvertible {
    /// The five characters; empty when there is no code.
    package let description: String

    /// Accepts any text; anything but five characters of `[0-9A-Z]` becomes ``unspecified``.
    package init(_ code: String) {
        let isValid = code.utf8.count == 5 && code.utf8.allSatisfy { (48...57).contains($0) || (65...90).contains($0) }
        self.description = isValid ? code : ""
    }

    /// True when the code begins with these characters: `23` for all integrity violations, `57P` for operator
    /// intervention.
    package func hasPrefix(_ prefix: String) -> Bool { self != .unspecified && self.description.hasPrefix(prefix) }

    /// The same statement may succeed when it is retried, perhaps on another connection.
    package var isRetriable: Bool {
        switch self {
        case .serializationFailure, .deadlockDetected, .lockNotAvailable, .queryCanceled, .readOnlyTransaction,
            .invalidStatementName, .idleInTransactionTimeout:
            true
        default:
            endsSession || hasPrefix("53") || hasPrefix("08")
        }
    }

    /// The server, or this session of it, is no longer usable: another connection must be opened.
    package var endsSession: Bool {
        switch self {
        case .readOnlyTransaction, .tooManyConnections, .idleInTransactionTimeout: true
        default: hasPrefix("57P") || hasPrefix("08")
        }
    }
}

extension SQLState {
    /// No code: the error did not come from a server.
    package static let unspecified = SQLState("")
    /// 01000: a warning came between the request and its result.
    package static let warning = SQLState("01000")
    /// Internal: the caller rejected the server.
    package static let rejected = SQLState("TS900")
    package static let cannotConnect = SQLState("08001")
    package static let connectionFailure = SQLState("08006")
    package static let protocolViolation = SQLState("08P01")
    /// 0A000: not supported; also a plan whose result type changed under a prepared statement.
    package static let featureNotSupported = SQLState("0A000")
    package static let invalidParameter = SQLState("22023")
    package static let uniqueViolation = SQLState("23505")
    /// 25001: a transaction was opened where each request is its own.
    package static let activeTransaction = SQLState("25001")
    /// 25006: the server is read-only, for example since a failover.
    package static let readOnlyTransaction = SQLState("25006")
    package static let idleInTransactionTimeout = SQLState("25P03")
    package static let invalidStatementName = SQLState("26000")
    package static let undefinedDatabase = SQLState("3D000")
    package static let serializationFailure = SQLState("40001")
    package static let deadlockDetected = SQLState("40P01")
    package static let undefinedColumn = SQLState("42703")
    package static let undefinedFunction = SQLState("42883")
    package static let undefinedTable = SQLState("42P01")
    package static let duplicateDatabase = SQLState("42P04")
    package static let duplicateStatement = SQLState("42P05")
    package static let insufficientPrivilege = SQLState("42501")
    package static let tooManyConnections = SQLState("53300")
    package static let limitExceeded = SQLState("54000")
    /// 55P03: lock_timeout.
    package static let lockNotAvailable = SQLState("55P03")
    /// 57014: statement_timeout, a cancelled statement, or a request's own deadline.
    package static let queryCanceled = SQLState("57014")
}
