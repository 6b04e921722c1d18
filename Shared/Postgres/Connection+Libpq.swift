import CLibpq
import Glibc
internal import Timing

// The calls into libpq. None of them blocks: the socket is non-blocking, `PQgetResult` is only called when `PQisBusy`
// reports a result, and `PQfinish` does not wait for its goodbye to be sent.
extension Connection {
    /// Starts an attempt. The socket may change until the attempt is over.
    func open(host: Int, at now: Instant, into events: inout [Event]) {
        let target = targets[host % max(1, targets.count)]
        handle = LibpqCall.start(target)
        generation &+= 1
        inbox.farewell = nil
        guard let handle, PQstatus(handle) != CONNECTION_BAD else {
            return fail(handle.map { LibpqText.connectError(String(cString: PQerrorMessage($0))) }, now, into: &events)
        }
        inbox.attach(to: handle)
        // Only the verbose form of an error contains its SQLSTATE while connecting.
        PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
        connectWish = .write
    }

    /// Continues an attempt once the socket is ready for what libpq waits for.
    func connect(at now: Instant, into events: inout [Event]) {
        guard let handle, (connectWish == .read && sawReadable) || (connectWish == .write && sawWritable) else {
            return
        }
        switch PQconnectPoll(handle) {
        case PGRES_POLLING_READING:
            connectWish = .read
        case PGRES_POLLING_WRITING:
            connectWish = .write
        case PGRES_POLLING_OK:
            connectWish = .nothing
            guard PQsetnonblocking(handle, 1) == 0, PQenterPipelineMode(handle) == 1 else {
                return fail(nil, now, into: &events)
            }
            machine.opened(at: now)
            send(at: now, into: &events)
        default:
            fail(LibpqText.connectError(String(cString: PQerrorMessage(handle))), now, into: &events)
        }
    }

    /// Reads, and passes every complete result to the machine.
    func exchange(at now: Instant, into events: inout [Event]) {
        guard let handle else { return }
        // At the end of the stream, earlier data can still be parsed.
        let isOpen = sawReadable ? PQconsumeInput(handle) == 1 : true
        guard receive(handle, at: now, into: &events) else { return drop() }
        guard isOpen, PQstatus(handle) != CONNECTION_BAD else { return fail(nil, now, into: &events) }
        if hasUnflushed, sawWritable || sawReadable { flush(handle, at: now, into: &events) }
    }

    /// False when the machine has abandoned the connection.
    private func receive(_ handle: OpaquePointer, at now: Instant, into events: inout [Event]) -> Bool {
        var emptyAnswers = 0
        while emptyAnswers < 2 {
            // Also parses notices that belong to no request. A WARNING that is parsed here arrived after the result of
            // the oldest command and before the answer to its Sync, or earlier: it belongs to that command.
            let isBusy = PQisBusy(handle) != 0
            for warning in inbox.drainWarnings() { _ = machine.received(.warning(warning), at: now, into: &events) }
            guard !isBusy, let awaited = machine.awaited else { return true }
            guard let result = PQgetResult(handle) else {
                emptyAnswers += 1  // NULL ends the results of one command.
                continue
            }
            emptyAnswers = 0
            for warning in inbox.drainWarnings() { _ = machine.received(.warning(warning), at: now, into: &events) }
            let reply = LibpqCall.reply(adopting: result, to: awaited, of: handle)
            if machine.received(reply, at: now, into: &events) == .drop { return false }
            if case .failed(let error, _) = reply, error.sqlState == .activeTransaction {
                machine.connectionLost(error, at: now, into: &events)
                return false
            }
        }
        return true
    }

    /// Sends while the bounds of the machine and the socket allow.
    func send(at now: Instant, into events: inout [Event]) {
        while let handle, connectWish == .nothing, !hasUnflushed, let (command, request) = machine.nextToSend(at: now) {
            guard dispatch(command, request, handle) == 1 else {
                let error = PostgresError(
                    .protocolViolation, LibpqText.line(String(cString: PQerrorMessage(handle))), outcome: .notExecuted)
                guard PQstatus(handle) == CONNECTION_OK, request != nil else { return fail(error, now, into: &events) }
                machine.sendRefused(error, into: &events)
                continue
            }
            guard PQpipelineSync(handle) == 1 else { return fail(nil, now, into: &events) }
            flush(handle, at: now, into: &events)
        }
    }

    private func flush(_ handle: OpaquePointer, at now: Instant, into events: inout [Event]) {
        switch PQflush(handle) {
        case 0: hasUnflushed = false
        case 1: hasUnflushed = true
        default: fail(nil, now, into: &events)
        }
    }

    private func dispatch(
        _ command: ConnectionMachine<Request, ResultRows>.Command, _ request: Request?, _ handle: OpaquePointer
    ) -> Int32 {
        switch command {
        case .session:
            return binding.send(
                .sql(SessionSetup.sessionSQL), SessionSetup.sessionParameters(settings), statements, handle)
        case .identity:
            return binding.send(.sql(SessionSetup.identitySQL), Parameters(), statements, handle)
        case .prepare(let index):
            let statement = statements[index]
            return PQsendPrepare(
                handle, statement.name, statement.sql, Int32(clamping: statement.parameterTypes.count),
                statement.parameterTypes.map(\.oid))
        case .request:
            guard let request else { return 0 }
            return binding.send(request.query, request.parameters, statements, handle)
        }
    }

    /// The connection is broken: reports the reason to the machine, as far as it is known.
    private func fail(_ error: PostgresError?, _ now: Instant, into events: inout [Event]) {
        let text = handle.map { LibpqText.line(String(cString: PQerrorMessage($0))) } ?? "out of memory"
        let reason =
            error ?? inbox.farewell
            ?? PostgresError(.connectionFailure, text.isEmpty ? "the connection broke" : text, outcome: .notExecuted)
        machine.connectionLost(reason, at: now, into: &events)
        drop()
    }

    /// Closes the socket. The server detects that, and rolls back uncommitted work.
    func drop() {
        guard let dropped = handle else { return }
        handle = nil
        generation &+= 1
        connectWish = .nothing
        hasUnflushed = false
        PQfinish(dropped)
        _ = inbox.drainWarnings()
    }
}
