import DequeModule
internal import Timing

// Connecting, losing the connection, reconnecting.
extension ConnectionMachine {
    /// Starts; the first attempt is due immediately.
    mutating func start(at now: Instant) {
        guard phase == .idle else { return }
        phase = .waiting(until: now)
    }

    /// Handles the deadlines. Call again until it returns ``Transition/none``.
    mutating func timeReached(_ now: Instant, into events: inout [ConnectionEvent<Rows>]) -> Transition {
        switch phase {
        case .idle, .closed:
            return .none
        case .waiting(let until):
            guard until <= now else { return .none }
            phase = .connecting(deadline: now + limits.connectTimeout)
            return .open(host: host)
        case .connecting(let deadline), .settingUp(let deadline):
            guard deadline <= now else { return .none }
            return lose(PostgresError(.cannotConnect, "timeout while connecting"), at: now, into: &events)
        case .ready, .retiring:
            guard expire(at: now, into: &events) else { return .none }
            // A silent server may be gone with its machine: another attempt on it would cost one more timeout.
            if case .ready = phase { host = (host + 1) % hosts }
            return lose(PostgresError(.queryCanceled, "deadline of a request passed"), at: now, into: &events)
        }
    }

    /// The server has accepted the connection: the session is set up next.
    mutating func opened(at now: Instant) {
        guard case .connecting = phase else { return }
        phase = .settingUp(deadline: now + limits.setupTimeout)
        errands.append(.session)
        errands.append(.identity)
        for index in 0..<statements { errands.append(.prepare(index)) }
    }

    /// The connection, or the attempt to open it, has failed.
    mutating func connectionLost(_ error: PostgresError, at now: Instant, into events: inout [ConnectionEvent<Rows>]) {
        _ = lose(error, at: now, into: &events)
    }

    /// Completes all requests and accepts nothing more.
    mutating func close(into events: inout [ConnectionEvent<Rows>]) {
        returnRequests(PostgresError(.connectionFailure, "the connection was closed"), into: &events)
        phase = .closed
    }

    mutating func lose(
        _ error: PostgresError, at now: Instant, into events: inout [ConnectionEvent<Rows>]
    ) -> Transition {
        switch phase {
        case .idle, .waiting, .closed:
            return .none
        case .connecting, .settingUp:
            returnRequests(error, into: &events)
            events.append(.attemptFailed(error.with(.notExecuted)))
            planNextHost(at: now)
        case .ready(let since):
            // A connection that was up for long enough resets the back-off; one that flaps does not.
            if now.elapsed(since: since) >= backoff.maximum { backoff.reset() }
            returnRequests(error, into: &events)
            events.append(.disconnected(error.with(.notExecuted)))
            failedHosts = 0
            phase = .waiting(until: now + backoff.next())
        case .retiring:
            returnRequests(error, into: &events)
            events.append(.disconnected(error.with(.notExecuted)))
            failedHosts = 0
            // This server reported that it is unsuitable: try the others first.
            host = (host + 1) % hosts
            phase = .waiting(until: now + backoff.next())
        }
        return .drop
    }

    /// The next host immediately; after all of them, a delay.
    private mutating func planNextHost(at now: Instant) {
        host = (host + 1) % hosts
        failedHosts += 1
        guard failedHosts >= hosts else {
            phase = .waiting(until: now)
            return
        }
        failedHosts = 0
        phase = .waiting(until: now + backoff.next())
    }
}
