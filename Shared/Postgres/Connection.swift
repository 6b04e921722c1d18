import CLibpq
import DequeModule
package import Timing

/// A connection to PostgreSQL for a thread that polls: it never blocks, keeps several requests in flight (libpq's
/// pipeline mode) and reconnects by itself for ever.
///
/// One thread owns it. In every turn of that thread's loop: call ``readable()`` and ``writable()`` as the poller says,
/// then ``step(at:into:)``, deal with the events, submit, and poll again for ``watch``. When `watch.generation` has
/// changed, register the descriptor anew (the old one is closed already).
///
/// Each request is one statement in an implicit transaction of its own; it comes back exactly once, by its tag. Results
/// arrive whole: put a LIMIT on what may be large.
///
/// The one thing that can block is the look-up of a host's name, which libpq does with getaddrinfo: give addresses
/// (`hostaddr=`), names from /etc/hosts, or socket directories where that matters.
package final class Connection {
    /// The events of this connection.
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
    /// What ``submit(_:_:tag:timeout:at:)`` found out, for the next step.
    var deferred: [Event] = []
    var binding = ParameterBinding()

    /// Checks the connection string and does nothing yet.
    ///
    /// - Parameters:
    ///   - statements: prepared on every connection, before ``ConnectionEvent/connected(_:)``.
    ///   - jitterSeed: makes the pauses between attempts repeatable.
    package init(
        settings: ConnectionSettings, statements: [Statement] = [],
        jitterSeed: UInt64 = .random(in: 0 ... .max)
    ) throws(PostgresError) {
        self.settings = settings
        self.statements = statements
        let parsed = try ConnectionTargets(
            settings.connectionString,
            defaults: ConnectionTargets.defaults(
                applicationName: settings.applicationName, requiresReadWrite: settings.requiresReadWrite))
        targets = parsed.targets
        requestTimeout = Nanoseconds(settings.requestDeadline)
        var limits = ConnectionMachine<Request, ResultRows>.Limits()
        limits.connectTimeout =
            parsed.connectTimeout.flatMap { $0 > 0 && $0 < 3600 ? .seconds(UInt64($0)) : nil }
            ?? Nanoseconds(settings.connectTimeout)
        limits.setupTimeout = requestTimeout
        limits.maximumInFlight = max(1, settings.maximumInFlight)
        limits.maximumQueued = max(1, settings.maximumQueued)
        limits.maximumQueuedBytes = max(1, settings.maximumQueuedBytes)
        machine = ConnectionMachine(
            limits: limits, hosts: parsed.targets.count, statements: statements.count,
            backoff: ConnectionBackoff(
                minimum: Nanoseconds(settings.backoffMinimum),
                maximum: Nanoseconds(settings.backoffMaximum), seed: jitterSeed))
    }

    deinit {
        if let handle { PQfinish(handle) }
    }

    /// The socket to poll; -1 while there is none.
    package var descriptor: Int32 { handle.map { PQsocket($0) } ?? -1 }

    /// Poll for reading.
    package var wantsRead: Bool { descriptor >= 0 && (connectWish == .nothing || connectWish == .read) }

    /// Poll for writing.
    package var wantsWrite: Bool { descriptor >= 0 && (connectWish == .write || hasUnflushed) }

    /// What to poll for, and whether it is still the same socket.
    package var watch: DescriptorWatch {
        DescriptorWatch(
            descriptor: descriptor, generation: generation, wantsRead: wantsRead, wantsWrite: wantsWrite)
    }

    /// Requests may be submitted.
    package var isReady: Bool { machine.isReady }

    /// Commands on the wire, those that set up the session included.
    package var inFlight: Int { machine.inFlight.count }

    /// Requests that wait for the wire.
    package var queued: Int { machine.queue.count }

    /// When the next ``step(at:into:)`` is due even if nothing happens on the socket; ``Instant/start`` for immediately.
    package var nextDeadline: Instant? {
        if !deferred.isEmpty { return .start }
        return machine.isAtRest ? nil : machine.nextDeadline
    }

    /// Begin to connect, with the next step.
    package func start(at now: Instant) {
        machine.start(at: now)
    }

    /// The poller saw the socket readable (or broken).
    package func readable() {
        sawReadable = true
    }

    /// The poller saw the socket writable (or broken).
    package func writable() {
        sawWritable = true
    }

    /// False when ``step(at:into:)`` would do nothing: no readiness was seen, nothing is left to tell, and no deadline
    /// has passed. Asking costs next to nothing, so that a loop with other work may turn often.
    package func isDue(at now: Instant) -> Bool {
        if sawReadable || sawWritable || !deferred.isEmpty { return true }
        if machine.isAtRest { return false }
        return machine.nextDeadline.map { $0 <= now } ?? false
    }

    /// Does what can be done now without waiting.
    ///
    /// - Parameters:
    ///   - events: what happened is appended.
    /// - Returns: ``nextDeadline``.
    package func step(at now: Instant, into events: inout [Event]) -> Instant? {
        if !deferred.isEmpty {
            events.append(contentsOf: deferred)
            deferred.removeAll(keepingCapacity: true)
        }
        // Answers before deadlines: one that came in time counts, however late this turn is.
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

    /// Runs one statement as a transaction of its own, and sends it at once if the wire is free.
    ///
    /// - Parameters:
    ///   - query: a prepared statement, or SQL. Not BEGIN, COPY or anything that raises a WARNING.
    ///   - parameters: copied.
    ///   - tag: comes back with the result; the caller keeps tags apart.
    ///   - timeout: from now on; `settings.requestDeadline` when nil. Past it an unsent request comes back
    ///     `.notExecuted`; one on the wire costs the connection, as nothing else tells what became of it.
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

    /// Leaves this server after what is in flight, and tries the next host: it is not the one to work with.
    ///
    /// - Parameters:
    ///   - reason: comes with ``ConnectionEvent/disconnected(_:)``, in one of the next steps.
    package func reject(_ reason: String, at now: Instant) {
        if machine.reject(PostgresError(.rejected, reason), at: now, into: &deferred) == .drop { drop() }
    }

    /// Gives up the connection and makes another one to the same host. Whatever is in flight has an unknown outcome. Does
    /// nothing unless the connection is ready.
    ///
    /// - Parameters:
    ///   - reason: comes with ``ConnectionEvent/disconnected(_:)``, in the next step.
    package func renew(_ reason: String, at now: Instant) {
        guard machine.isReady else { return }
        machine.connectionLost(PostgresError(.connectionFailure, reason), at: now, into: &deferred)
        drop()
    }

    /// Gives up the connection for good. Every request comes back first.
    package func close(into events: inout [Event]) {
        events.append(contentsOf: deferred)
        deferred.removeAll()
        machine.close(into: &events)
        drop()
    }
}
