/// PostgreSQL's five-character error code (PostgreSQL manual, appendix A), compared as one integer.
package struct SQLState: Hashable, Sendable, CustomStringConvertible {
    private let packed: UInt64

    /// Accepts any text; anything but five characters of `[0-9A-Z]` becomes ``unspecified``.
    package init(_ code: String) {
        self.init(bytes: code.utf8)
    }

    init(bytes: some Collection<UInt8>) {
        var packed: UInt64 = 0
        var isValid = bytes.count == 5
        for byte in bytes.prefix(5) {
            isValid = isValid && ((48...57).contains(byte) || (65...90).contains(byte))
            packed = packed << 8 | UInt64(byte)
        }
        self.packed = isValid ? packed : 0
    }

    /// The five characters; empty when there is no code.
    package var description: String {
        guard packed != 0 else { return "" }
        return String(
            decoding: (0..<5).map { UInt8(truncatingIfNeeded: packed >> (32 - 8 * UInt64($0))) }, as: UTF8.self)
    }

    /// True when the code begins with these characters: `23` for all integrity violations, `57P` for operator
    /// intervention.
    package func hasPrefix(_ prefix: StaticString) -> Bool {
        prefix.withUTF8Buffer { prefix in
            guard packed != 0, prefix.count <= 5 else { return false }
            return packed >> (40 - 8 * UInt64(prefix.count)) == prefix.reduce(0) { $0 << 8 | UInt64($1) }
        }
    }

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
    /// 08001: no connection could be made.
    package static let cannotConnect = SQLState("08001")
    /// 08006: the connection broke.
    package static let connectionFailure = SQLState("08006")
    /// 08P01: a protocol violation.
    package static let protocolViolation = SQLState("08P01")
    /// 0A000: not supported; also a plan whose result type changed under a prepared statement.
    package static let featureNotSupported = SQLState("0A000")
    /// 22023: a parameter's value is invalid.
    package static let invalidParameter = SQLState("22023")
    /// 23505: a unique key exists already.
    package static let uniqueViolation = SQLState("23505")
    /// 25001: a transaction was opened where each request is its own.
    package static let activeTransaction = SQLState("25001")
    /// 25006: the server is read-only, for example since a failover.
    package static let readOnlyTransaction = SQLState("25006")
    /// 25P03: idle_in_transaction_session_timeout ended the session.
    package static let idleInTransactionTimeout = SQLState("25P03")
    /// 26000: the prepared statement does not exist (any more).
    package static let invalidStatementName = SQLState("26000")
    /// 3D000: the database does not exist.
    package static let undefinedDatabase = SQLState("3D000")
    /// 40001: serialization failure.
    package static let serializationFailure = SQLState("40001")
    /// 40P01: deadlock.
    package static let deadlockDetected = SQLState("40P01")
    /// 42703: the column does not exist.
    package static let undefinedColumn = SQLState("42703")
    /// 42883: the function does not exist.
    package static let undefinedFunction = SQLState("42883")
    /// 42P01: the table does not exist.
    package static let undefinedTable = SQLState("42P01")
    /// 42P04: the database exists already.
    package static let duplicateDatabase = SQLState("42P04")
    /// 42P05: the prepared statement exists already.
    package static let duplicateStatement = SQLState("42P05")
    /// 42501: the role lacks a privilege.
    package static let insufficientPrivilege = SQLState("42501")
    /// 53300: the server has no free connection.
    package static let tooManyConnections = SQLState("53300")
    /// 54000: a limit of the program was exceeded.
    package static let limitExceeded = SQLState("54000")
    /// 55P03: lock_timeout.
    package static let lockNotAvailable = SQLState("55P03")
    /// 57014: statement_timeout, a cancelled statement, or a request's own deadline.
    package static let queryCanceled = SQLState("57014")
}
