import CLibpq
import Glibc
internal import Timing

/// A connection that blocks on every request: for commands, migrations and tests.
///
/// Never use it on a reactor thread or on a daemon's cooperative pool. One thread at a time.
package final class BlockingConnection {
    private let handle: OpaquePointer
    private let inbox = NoticeInbox()
    private var binding = ParameterBinding()
    private var isClosed = false

    /// Connects: tries every host of the connection string once, each with its own timeout.
    ///
    /// - Parameters:
    ///   - statementTimeout: none when nil; waits for locks are then unlimited, too.
    ///   - requiresReadWrite: reject a standby.
    package init(
        _ connectionString: String, applicationName: String = "touchsync", statementTimeout: Duration? = nil,
        requiresReadWrite: Bool = true
    ) throws(PostgresError) {
        let parsed = try ConnectionTargets(
            connectionString,
            defaults: ConnectionTargets.defaults(
                applicationName: applicationName, requiresReadWrite: requiresReadWrite))
        let timeout = Nanoseconds.seconds(UInt64(max(1, min(3600, parsed.connectTimeout ?? 3))))
        var last = PostgresError(.cannotConnect, "no host", outcome: .notExecuted)
        for target in parsed.targets {
            switch Self.connect(target, timeout: timeout) {
            case .failure(let error):
                last = error
            case .success(let handle):
                self.handle = handle
                inbox.attach(to: handle)
                try setUp(statementTimeout)
                return
            }
        }
        throw last
    }

    deinit {
        close()
    }

    /// The version of libpq: 150018 is 15.18.
    package static var libraryVersion: Int { Int(PQlibVersion()) }

    /// Runs one statement with bound parameters; its rows are in binary format.
    @discardableResult
    package func execute(_ sql: String, _ parameters: Parameters = Parameters()) throws(PostgresError) -> ResultRows {
        if let refusal = parameters.refusal { throw refusal }
        try requireOpen()
        let result = binding.bind(parameters) { binding, count in
            PQexecParams(handle, sql, count, binding.types, binding.values, binding.lengths, binding.formats, 1)
        }
        return try rows(result)
    }

    /// Runs several statements unchanged, in one implicit transaction unless they contain transaction control.
    package func executeScript(_ sql: String) throws(PostgresError) {
        try requireOpen()
        _ = try rows(PQexec(handle, sql))
    }

    /// BEGIN, the body, COMMIT; ROLLBACK when the body throws.
    @discardableResult
    package func transaction<Value>(_ body: () throws -> Value) throws -> Value {
        try execute("BEGIN")
        do {
            let value = try body()
            try execute("COMMIT")
            return value
        } catch {
            // On a broken connection this fails too, and the server rolls back by itself.
            _ = try? execute("ROLLBACK")
            throw error
        }
    }

    /// Ends the session; later calls throw.
    package func close() {
        guard !isClosed else { return }
        isClosed = true
        PQfinish(handle)
    }

    private func requireOpen() throws(PostgresError) {
        guard !isClosed else {
            throw PostgresError(.connectionFailure, "the connection is closed", outcome: .notExecuted)
        }
    }

    private func setUp(_ statementTimeout: Duration?) throws(PostgresError) {
        var parameters = Parameters()
        parameters.append(text: statementTimeout.map { String($0.settingMilliseconds) } ?? "0")
        try execute(
            """
            SELECT set_config('statement_timeout', $1, false), set_config('lock_timeout', '0', false),
                set_config('client_min_messages', 'warning', false),
                set_config('default_transaction_isolation', 'read committed', false),
                set_config('synchronous_commit', CASE current_setting('synchronous_commit')
                    WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false)
            """, parameters)
    }

    private func rows(_ result: OpaquePointer?) throws(PostgresError) -> ResultRows {
        let warnings = inbox.drainWarnings()
        guard let result else { throw connectionError() }
        switch PQresultStatus(result) {
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY:
            let rows = ResultRows(adopting: result)
            // See ConnectionMachine: a warning is the only sign of a COMMIT that did not wait for its standby.
            if let warning = warnings.first { throw PostgresError(.warning, warning, outcome: .unknown) }
            return rows
        case PGRES_FATAL_ERROR:
            defer { PQclear(result) }
            let error = LibpqText.error(of: result)
            throw error.sqlState == .unspecified ? connectionError() : error
        case let status:
            PQclear(result)
            throw PostgresError(.protocolViolation, "unexpected result status \(status.rawValue)", outcome: .unknown)
        }
    }

    private func connectionError() -> PostgresError {
        PostgresError(.connectionFailure, LibpqText.line(String(cString: PQerrorMessage(handle))), outcome: .unknown)
    }
}

extension BlockingConnection {
    private static func connect(_ target: [String: String], timeout: Nanoseconds) -> Result<
        OpaquePointer, PostgresError
    > {
        guard let handle = LibpqCall.start(target) else {
            return .failure(PostgresError(.cannotConnect, "out of memory", outcome: .notExecuted))
        }
        PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
        let deadline = monotonicNow() + timeout
        var wish = PQstatus(handle) == CONNECTION_BAD ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING
        while wish == PGRES_POLLING_READING || wish == PGRES_POLLING_WRITING {
            var descriptor = pollfd(
                fd: PQsocket(handle), events: Int16(wish == PGRES_POLLING_READING ? POLLIN : POLLOUT), revents: 0)
            let now = monotonicNow()
            guard now < deadline else {
                PQfinish(handle)
                return .failure(PostgresError(.cannotConnect, "timeout while connecting", outcome: .notExecuted))
            }
            if poll(&descriptor, 1, Int32(clamping: deadline.elapsed(since: now).milliseconds + 1)) > 0 {
                wish = PQconnectPoll(handle)
            }
        }
        guard wish == PGRES_POLLING_OK else {
            defer { PQfinish(handle) }
            return .failure(LibpqText.connectError(String(cString: PQerrorMessage(handle))))
        }
        PQsetErrorVerbosity(handle, PQERRORS_DEFAULT)
        return .success(handle)
    }
}

/// CLOCK_MONOTONIC, for the parts of this module that block.
func monotonicNow() -> Instant {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Instant(nanoseconds: UInt64(clamping: time.tv_sec) * 1_000_000_000 + UInt64(clamping: time.tv_nsec))
}
