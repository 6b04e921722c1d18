import DequeModule
internal import Timing

/// The state of one connection and its requests, without a socket and without a clock.
///
///                     ┌────────────── attempt failed, or deadline ──────────────┐
///                     ▼                                                         │
///     idle ─start─► waiting ─time─► connecting ─opened─► settingUp ─all answered─► ready
///                     ▲                                                           │    │ 25006, 57P0x, …
///                     ├──────────────── lost, or a request's deadline ────────────┘    ▼
///                     └───────────────────── lost, or nothing in flight ────────── retiring
///     close ─► closed, from everywhere; it ignores every event
///
/// Each command (a request, or one of our own to set up the session) is one statement followed by a Sync. The server
/// commits at the Sync, so a result alone proves nothing: a request succeeded only when the Sync was answered, no error
/// arrived and no WARNING came in between (a cancelled wait for a synchronous standby differs from success in nothing
/// else).
///
/// A method that returns ``Transition/drop`` has already abandoned the connection: the shell closes it without
/// reporting. Bounds: `maximumInFlight` in flight; `maximumQueued` and `maximumQueuedBytes` queued; beyond them:
/// rejected.
struct ConnectionMachine<Payload, Rows> {
    struct Limits {
        /// Of one attempt on one host.
        var connectTimeout = Nanoseconds.seconds(3)
        var setupTimeout = Nanoseconds.seconds(10)
        var maximumInFlight = 64
        var maximumQueued = 1024
        /// Of the parameters; one larger request is accepted when nothing is queued.
        var maximumQueuedBytes = 64 << 20
    }

    enum Command: Equatable {
        case session
        case identity
        case prepare(Int)
        case request(UInt64)
    }

    /// The shell's action on the connection after an event.
    enum Transition: Equatable {
        case none
        case open(host: Int)
        case drop
    }

    /// A part of a result, for the oldest command in flight.
    enum Reply {
        case rows(Rows)
        case facts(ServerFacts)
        case identity(systemIdentifier: UInt64?, timeline: UInt32?)
        case failed(PostgresError, endsSession: Bool)
        case warning(String)
        case synced
    }

    enum Phase: Equatable {
        case idle
        case waiting(until: Instant)
        case connecting(deadline: Instant)
        case settingUp(deadline: Instant)
        case ready(since: Instant)
        case retiring(PostgresError)
        case closed
    }

    struct Queued {
        var tag: UInt64
        var payload: Payload
        var statement: Int?
        var bytes: Int
        var deadline: Instant
    }

    struct InFlight {
        var command: Command
        var statement: Int?
        var deadline: Instant
        var rows: Rows?
        var error: PostgresError?
        var warning: String?
    }

    let limits: Limits
    let hosts: Int
    let statements: Int
    var phase = Phase.idle
    var backoff: ConnectionBackoff
    /// The host of this attempt, and the number of failed ones in this round.
    var host = 0
    var failedHosts = 0
    var facts = ServerFacts()
    /// Internal commands that are sent before any request.
    var errands = Deque<Command>()
    var queue = Deque<Queued>()
    var queuedBytes = 0
    var inFlight = Deque<InFlight>()

    init(limits: Limits, hosts: Int, statements: Int, backoff: ConnectionBackoff) {
        self.limits = limits
        self.hosts = max(1, hosts)
        self.statements = statements
        self.backoff = backoff
    }

    var isReady: Bool {
        if case .ready = phase { true } else { false }
    }

    /// True while it is ready and nothing is queued or in flight.
    var isAtRest: Bool { isReady && inFlight.isEmpty && queue.isEmpty && errands.isEmpty }

    /// The command that the next reply belongs to.
    var awaited: Command? { inFlight.first?.command }

    /// When ``timeReached(_:into:)`` is due.
    var nextDeadline: Instant? {
        switch phase {
        case .idle, .closed: nil
        case .waiting(let until): until
        case .connecting(let deadline), .settingUp(let deadline): deadline
        case .ready, .retiring:
            [inFlight.lazy.map(\.deadline).min(), queue.lazy.map(\.deadline).min()].compactMap { $0 }.min()
        }
    }
}
