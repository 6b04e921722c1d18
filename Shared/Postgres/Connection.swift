import CLibpq
import DequeModule
package import Timing

/// A connection to PostgreSQL for a polling thread: it never blocks, keeps several requests in flight (libpq's pipeline
/// mode) and reconnects by itself forever.
///
/// Owned by one thread. In every turn of that thread's loop: call ``readable()`` and ``writable()`` as the poller
/// reports, then ``step(at:into:)``, handle the events, submit, and poll again for ``watch``. When `watch.generation`
/// has changed, register the descriptor again (the old one is closed already).
///
/// Each request is one statement in its own implicit transaction; it is completed exactly once, identified by its tag.
/// Results arrive as a whole: use LIMIT for results that may be large.
///
/// The only call that can block is the lookup of a host name, for which libpq uses getaddrinfo. Use addresses
/// (`hostaddr=`), names from /etc/hosts, or socket directories where that matters.
package final class Connection {
    package typealias Event = ConnectionEvent<ResultRows>

    enum PollWish {
        case nothing
        case read
        case write
    }

    struct Request {
        var query: Query
        var parameters: Parameters
    }

    let settings: ConnectionSettings
    let statements: [Statement]
    let targets: [[String: String]]
    let requestTimeout: Nanoseconds
    var machine: ConnectionMachine<Request, ResultRows>
    var handle: OpaquePointer?
    let inbox = NoticeInbox()
    var generation: UInt64 = 0
    var connectWish = PollWish.nothing
    var hasUnflushed = false
    var sawReadable = false
    var sawWritable = false
    /// Events of ``submit(_:_:tag:timeout:at:)``, reported by the next step.
    var deferred: [Event] = []
    var binding = ParameterBinding()

    /// Validates the connection string without connecting.
    ///
    /// - Parameters:
    ///   - statements: prepared on every connection, before ``ConnectionEvent/connected(_:)``.
    ///   - jitterSeed: makes the delays between attempts reproducible.
    package init(
        settings: ConnectionSettings, statements: [Statement] = [],
        jitterSeed: UInt64 = .random(in: 0 ... .max)
    ) throws(PostgresError) {
        self.settings = settings
        self.statements = statements
        let parsed = try ConnectionTargets(
            settings.connectionString,
            defaults: ConnectionTargets.defaults(applicationName: settings.applicationName, requiresReadWrite: true))
        targets = parsed.targets
        requestTimeout = Nanoseconds(settings.requestDeadline)
        var limits = ConnectionMachine<Request, ResultRows>.Limits()
        if let timeout = parsed.connectTimeout, (1..<3600).contains(timeout) {
            limits.connectTimeout = .seconds(UInt64(timeout))
        }
        limits.setupTimeout = requestTimeout
        limits.maximumInFlight = max(1, settings.maximumInFlight)
        limits.maximumQueued = max(1, settings.maximumQueued)
        machine = ConnectionMachine(
            limits: limits, hosts: parsed.targets.count, statements: statements.count,
            backoff: ConnectionBackoff(
                minimum: .milliseconds(50), maximum: Nanoseconds(settings.backoffMaximum), seed: jitterSeed))
    }

    deinit {
        if let handle { PQfinish(handle) }
    }

    /// The socket to poll; -1 while there is none.
    package var descriptor: Int32 { handle.map { PQsocket($0) } ?? -1 }

    package var wantsRead: Bool { descriptor >= 0 && (connectWish == .nothing || connectWish == .read) }

    package var wantsWrite: Bool { descriptor >= 0 && (connectWish == .write || hasUnflushed) }

    /// The descriptor and events to poll, and whether it is still the same socket.
    package var watch: DescriptorWatch {
        DescriptorWatch(descriptor: descriptor, generation: generation, wantsRead: wantsRead, wantsWrite: wantsWrite)
    }

    /// True when requests may be submitted.
    package var isReady: Bool { machine.isReady }

    /// The number of commands in flight, including those that set up the session.
    package var inFlight: Int { machine.inFlight.count }

    /// The number of requests that wait to be sent.
    package var queued: Int { machine.queue.count }

    /// When the next ``step(at:into:)`` is due even without socket events; ``Instant/start`` for immediately.
    package var nextDeadline: Instant? {
        if !deferred.isEmpty { return .start }
        return machine.isAtRest ? nil : machine.nextDeadline
    }

    /// Starts to connect, with the next step.
    package func start(at now: Instant) {
        machine.start(at: now)
    }

    /// The poller reported the socket readable (or broken).
    package func readable() {
        sawReadable = true
    }

    /// The poller reported the socket writable (or broken).
    package func writable() {
        sawWritable = true
    }

    /// False when ``step(at:into:)`` would do nothing: no readiness was reported, no event is pending, and no deadline
    /// has passed. Cheap, so that a loop with other work may turn often.
    package func isDue(at now: Instant) -> Bool {
        if sawReadable || sawWritable || !deferred.isEmpty { return true }
        if machine.isAtRest { return false }
        return machine.nextDeadline.map { $0 <= now } ?? false
    }

    /// Does what is possible without blocking.
    ///
    /// - Parameters:
    ///   - events: events are appended.
    /// - Returns: ``nextDeadline``.
    package func step(at now: Instant, into events: inout [Event]) -> Instant? {
        if !deferred.isEmpty {
            events.append(contentsOf: deferred)
            deferred.removeAll(keepingCapacity: true)
        }
        // Results before deadlines: a result that arrived in time counts, however late this turn is.
        if handle != nil {
            if connectWish == .nothing { exchange(at: now, into: &events) } else { connect(at: now, into: &events) }
        }
        sawReadable = false
        sawWritable = false
        while true {
            switch machine.timeReached(now, into: &events) {
            case .none:
                send(at: now, into: &events)
                return nextDeadline
            case .drop:
                drop()
            case .open(let host):
                open(host: host, at: now, into: &events)
            }
        }
    }

    /// Runs one statement as its own transaction, and sends it immediately if nothing is ahead of it.
    ///
    /// - Parameters:
    ///   - query: a prepared statement, or SQL. Not BEGIN, COPY or anything that raises a WARNING.
    ///   - parameters: copied.
    ///   - tag: identifies the result; the caller keeps tags unique.
    ///   - timeout: from now on; `settings.requestDeadline` when nil. After it an unsent request is completed as `.notExecuted`;
    ///     one in flight costs the connection, because its outcome cannot be learned otherwise.
    package func submit(
        _ query: Query, _ parameters: Parameters, tag: UInt64, timeout: Duration? = nil, at now: Instant
    ) -> Submission {
        guard machine.isReady else { return .notReady }
        if let refusal = parameters.refusal {
            deferred.append(.failed(tag, refusal))
            return .accepted
        }
        var statement: Int?
        if case .statement(let index) = query {
            precondition(statements.indices.contains(index), "no such statement")
            statement = index
        }
        let submission = machine.submit(
            Request(query: query, parameters: parameters), statement: statement, bytes: parameters.byteCount, tag: tag,
            deadline: now + (timeout.map { Nanoseconds($0) } ?? requestTimeout))
        if submission == .accepted { send(at: now, into: &deferred) }
        return submission
    }

    /// Abandons this server after the requests in flight, and tries the next host: the server is unsuitable.
    ///
    /// - Parameters:
    ///   - reason: passed to ``ConnectionEvent/disconnected(_:)``, in one of the next steps.
    package func reject(_ reason: String, at now: Instant) {
        if machine.reject(PostgresError(.rejected, reason), at: now, into: &deferred) == .drop { drop() }
    }

    /// Abandons the connection and opens another one to the same host. Requests in flight have an unknown outcome. Has
    /// no effect unless the connection is ready.
    ///
    /// - Parameters:
    ///   - reason: passed to ``ConnectionEvent/disconnected(_:)``, in the next step.
    package func renew(_ reason: String, at now: Instant) {
        guard machine.isReady else { return }
        machine.connectionLost(PostgresError(.connectionFailure, reason), at: now, into: &deferred)
        drop()
    }

    /// Closes the connection permanently. Every request is completed first.
    package func close(into events: inout [Event]) {
        events.append(contentsOf: deferred)
        deferred.removeAll()
        machine.close(into: &events)
        drop()
    }
}
