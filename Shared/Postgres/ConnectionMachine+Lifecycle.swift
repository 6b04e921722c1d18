import DequeModule
internal import Timing

// Connecting, losing, connecting again.
extension ConnectionMachine {
    /// Begin; the first attempt is due at once.
    mutating func start(at now: Instant) {
        guard phase == .idle else { return }
        phase = .waiting(until: now)
    }

    /// Looks at the deadlines. Ask again until it says ``Transition/none``.
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
            return lose(PostgresError(.queryCanceled, "deadline of a request passed"), at: now, into: &events)
        }
    }

    /// The server has let us in: now the session is set up.
    mutating func opened(at now: Instant) {
        guard case .connecting = phase else { return }
        phase = .settingUp(deadline: now + limits.setupTimeout)
        errands.append(.session)
        errands.append(.identity)
        for index in 0..<statements { errands.append(.prepare(index)) }
    }

    /// The connection, or the attempt to make it, is at its end.
    mutating func connectionLost(
        _ error: PostgresError, at now: Instant, into events: inout [ConnectionEvent<Rows>]
    ) {
        _ = lose(error, at: now, into: &events)
    }

    /// Hands everything back and accepts nothing more.
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
            // A connection that held for a while starts with the shortest pause again; one that never holds does not.
            if now.elapsed(since: since) >= backoff.maximum { backoff.reset() }
            returnRequests(error, into: &events)
            events.append(.disconnected(error.with(.notExecuted)))
            failedHosts = 0
            phase = .waiting(until: now + backoff.next())
        case .retiring:
            returnRequests(error, into: &events)
            events.append(.disconnected(error.with(.notExecuted)))
            failedHosts = 0
            // This server said that it is not the right one: ask the others first.
            host = (host + 1) % hosts
            phase = .waiting(until: now + backoff.next())
        }
        return .drop
    }

    /// The next host at once; after all of them, a pause.
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
