import DequeModule
internal import Timing

// Requests and their results.
extension ConnectionMachine {
    /// Enqueues a request, or returns why not. `deadline` is a point in time; `bytes` may be 0 for small requests.
    mutating func submit(_ payload: Payload, statement: Int?, bytes: Int, tag: UInt64, deadline: Instant) -> Submission
    {
        guard isReady else { return .notReady }
        guard queue.count < limits.maximumQueued else { return .full }
        guard queue.isEmpty || bytes <= limits.maximumQueuedBytes - queuedBytes else { return .full }
        queuedBytes += bytes
        queue.append(Queued(tag: tag, payload: payload, statement: statement, bytes: bytes, deadline: deadline))
        return .accepted
    }

    /// The next command to send, in flight from now on; a request comes with its payload.
    mutating func nextToSend(at now: Instant) -> (Command, Payload?)? {
        guard inFlight.count < limits.maximumInFlight else { return nil }
        if let errand = errands.popFirst() {
            inFlight.append(InFlight(command: errand, deadline: now + limits.setupTimeout))
            return (errand, nil)
        }
        guard isReady, let next = queue.popFirst() else { return nil }
        queuedBytes -= next.bytes
        inFlight.append(InFlight(command: .request(next.tag), statement: next.statement, deadline: next.deadline))
        return (.request(next.tag), next.payload)
    }

    /// The last command could not be sent: libpq rejected it, although the connection is intact.
    mutating func sendRefused(_ error: PostgresError, into events: inout [ConnectionEvent<Rows>]) {
        guard let refused = inFlight.popLast(), case .request(let tag) = refused.command else { return }
        events.append(.failed(tag, error.with(.notExecuted)))
    }

    /// A part of a result arrived.
    mutating func received(_ reply: Reply, at now: Instant, into events: inout [ConnectionEvent<Rows>]) -> Transition {
        guard !inFlight.isEmpty else { return .none }
        switch reply {
        case .rows(let rows):
            inFlight[0].rows = rows
        case .facts(let facts):
            self.facts = facts
        case .identity(let systemIdentifier, let timeline):
            facts.systemIdentifier = systemIdentifier
            facts.timeline = timeline
        case .warning(let text):
            if inFlight[0].warning == nil { inFlight[0].warning = text }
        case .failed(let error, let endsSession):
            guard !endsSession else { return lose(error, at: now, into: &events) }
            if inFlight[0].error == nil { inFlight[0].error = error }
        case .synced:
            return synced(at: now, into: &events)
        }
        return .none
    }

    private mutating func synced(at now: Instant, into events: inout [ConnectionEvent<Rows>]) -> Transition {
        guard let done = inFlight.popFirst() else { return .none }
        switch done.command {
        case .request(let tag):
            finish(tag, done, into: &events)
            if let error = done.error { requestFailed(error, done.statement) }
        case .identity:
            break  // Optional: not every role has the privilege.
        case .session, .prepare:
            if let error = done.error, error.sqlState != .duplicateStatement {
                return errandFailed(error, at: now, into: &events)
            }
        }
        if case .settingUp = phase, errands.isEmpty, inFlight.isEmpty {
            phase = .ready(since: now)
            events.append(.connected(facts))
        }
        if case .retiring(let error) = phase, inFlight.isEmpty { return lose(error, at: now, into: &events) }
        return .none
    }

    private func finish(_ tag: UInt64, _ done: InFlight, into events: inout [ConnectionEvent<Rows>]) {
        if let error = done.error {
            events.append(.failed(tag, error))
        } else if let warning = done.warning {
            events.append(.failed(tag, PostgresError(.warning, warning, outcome: .unknown)))
        } else if let rows = done.rows {
            events.append(.rows(tag, rows))
        } else {
            events.append(.failed(tag, PostgresError(.protocolViolation, "a Sync without a result", outcome: .unknown)))
        }
    }

    private mutating func requestFailed(_ error: PostgresError, _ statement: Int?) {
        guard case .ready = phase else { return }
        if error.sqlState == .invalidStatementName, let statement {
            if !errands.contains(.prepare(statement)) { errands.append(.prepare(statement)) }
        } else if error.sqlState.endsSession || error.needsFreshSession {
            phase = .retiring(error)
        }
    }

    private mutating func errandFailed(
        _ error: PostgresError, at now: Instant, into events: inout [ConnectionEvent<Rows>]
    ) -> Transition {
        if case .settingUp = phase { return lose(error, at: now, into: &events) }
        phase = .retiring(error)
        return inFlight.isEmpty ? lose(error, at: now, into: &events) : .none
    }

    /// The caller rejects this server: requests in flight are completed, then the next host is tried.
    mutating func reject(
        _ error: PostgresError, at now: Instant, into events: inout [ConnectionEvent<Rows>]
    ) -> Transition {
        guard case .ready = phase else { return .none }
        phase = .retiring(error)
        return inFlight.isEmpty ? lose(error, at: now, into: &events) : .none
    }

    /// Fails requests that were unsent for too long; true when one in flight is past its deadline.
    mutating func expire(at now: Instant, into events: inout [ConnectionEvent<Rows>]) -> Bool {
        if queue.contains(where: { $0.deadline <= now }) {
            var kept = Deque<Queued>()
            for request in queue {
                guard request.deadline <= now else {
                    kept.append(request)
                    continue
                }
                queuedBytes -= request.bytes
                let error = PostgresError(.queryCanceled, "deadline passed before it was sent", outcome: .notExecuted)
                events.append(.failed(request.tag, error))
            }
            queue = kept
        }
        return inFlight.contains { $0.deadline <= now }
    }

    /// Completes every request with the error: those in flight first, in the order of submission.
    mutating func returnRequests(_ error: PostgresError, into events: inout [ConnectionEvent<Rows>]) {
        for entry in inFlight {
            guard case .request(let tag) = entry.command else { continue }
            // An ERROR that arrived before the end is as final as with its Sync.
            events.append(.failed(tag, entry.error ?? error.with(.unknown)))
        }
        for request in queue { events.append(.failed(request.tag, error.with(.notExecuted))) }
        inFlight.removeAll(keepingCapacity: true)
        queue.removeAll(keepingCapacity: true)
        errands.removeAll(keepingCapacity: true)
        queuedBytes = 0
    }
}
