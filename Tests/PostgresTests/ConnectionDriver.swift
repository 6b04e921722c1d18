import Glibc
import PipelineTestKit
import Timing
import TimingTestKit

@testable import Postgres

/// Codes that no caller tells apart from others of their class.
extension SQLState {
    static let invalidByteSequence = SQLState("22021")
    static let foreignKeyViolation = SQLState("23503")
    static let checkViolation = SQLState("23514")
    static let adminShutdown = SQLState("57P01")
    static let crashShutdown = SQLState("57P02")
    static let cannotConnectNow = SQLState("57P03")
}

/// Polls one connection on the calling thread, as a reactor would.
final class ConnectionDriver {
    let connection: Connection
    var events: [Connection.Event] = []

    init(
        _ connectionString: String, statements: [Statement] = [],
        configure: (inout ConnectionSettings) -> Void = { _ in }
    ) throws {
        var settings = ConnectionSettings(connectionString: connectionString)
        configure(&settings)
        connection = try Connection(settings: settings, statements: statements, jitterSeed: 1)
        connection.start(at: ManualClock.monotonic())
    }

    /// One turn: poll until something is due, then a step.
    func turn(atMost limit: Instant) {
        let now = ManualClock.monotonic()
        // At most a little while: what a test waits for may happen elsewhere.
        let due = min(connection.nextDeadline ?? .never, limit, now + 20_000_000)
        let watch = connection.watch
        var entry = pollfd(fd: watch.descriptor, events: 0, revents: 0)
        if watch.wantsRead { entry.events |= Int16(POLLIN) }
        if watch.wantsWrite { entry.events |= Int16(POLLOUT) }
        let wait = due > now ? Int32(clamping: due.elapsed(since: now).milliseconds + 1) : 0
        if poll(&entry, 1, wait) > 0 {
            if entry.revents & ~Int16(POLLOUT) != 0 { connection.readable() }
            if entry.revents & ~Int16(POLLIN) != 0 { connection.writable() }
        }
        _ = connection.step(at: ManualClock.monotonic(), into: &events)
    }

    /// Turns until the events satisfy the condition; false when that takes too long.
    func run(seconds: UInt64 = 20, until isDone: ([Connection.Event]) -> Bool) -> Bool {
        let limit = ManualClock.monotonic() + .seconds(seconds)
        while !isDone(events) {
            guard ManualClock.monotonic() < limit else { return false }
            turn(atMost: limit)
        }
        return true
    }

    func connect() -> Bool {
        run { $0.contains { if case .connected = $0 { true } else { false } } }
    }

    func submit(
        _ query: Query, _ parameters: Parameters = Parameters(), tag: UInt64, timeout: Duration? = nil
    ) -> Submission {
        connection.submit(query, parameters, tag: tag, timeout: timeout, at: ManualClock.monotonic())
    }

    /// Runs one request to its answer.
    func answer(_ query: Query, _ parameters: Parameters = Parameters(), timeout: Duration? = nil) -> Answer? {
        let tag = UInt64.random(in: 1 << 32 ... .max)
        guard submit(query, parameters, tag: tag, timeout: timeout) == .accepted,
            run(until: { _ in answers[tag] != nil })
        else { return nil }
        return answers[tag]
    }

    enum Answer {
        case rows(ResultRows)
        case failed(PostgresError)

        var rows: ResultRows? { if case .rows(let rows) = self { rows } else { nil } }
        var error: PostgresError? { if case .failed(let error) = self { error } else { nil } }
    }

    /// The answers so far by tag.
    var answers: [UInt64: Answer] {
        var answers: [UInt64: Answer] = [:]
        for event in events {
            switch event {
            case .rows(let tag, let rows): answers[tag] = .rows(rows)
            case .failed(let tag, let error): answers[tag] = .failed(error)
            default: break
            }
        }
        return answers
    }

    var disconnections: [PostgresError] {
        events.compactMap { if case .disconnected(let error) = $0 { error } else { nil } }
    }

    var connections: [ServerFacts] {
        events.compactMap { if case .connected(let facts) = $0 { facts } else { nil } }
    }
}
