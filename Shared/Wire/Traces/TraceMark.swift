/// A step on the way of a traced commit, from its gateway to the members of its room. The raw value is the message of
/// its log line.
public enum TraceStep: String, Sendable {
    /// The gateway has accepted it; it may have to wait for its turn or for credit.
    case accepted = "commit accepted"
    /// The gateway hands it to a committer; again when it is sent again.
    case sent = "commit sent"
    /// It is in the committer's queue.
    case received = "commit received"
    /// The committer has decided it, and hands its batch to PostgreSQL; again when the batch is decided again.
    case decided = "commit decided"
    /// The committer hands its result to the gateway; if it was applied, PostgreSQL has confirmed COMMIT.
    case answered = "commit answered"
    case acknowledged = "commit acknowledged"
    /// The fan-out has applied the update, and hands it to the gateways of the room's members.
    case applied = "update applied"
    /// A gateway delivers the update to its members of the room.
    case delivered = "update delivered"
}

/// What a mark says of a commit or an update; the raw value is its key in the log.
public enum TraceFact: String, Sendable {
    case room = "commit.room"
    /// The stream of numbers (see ``SessionKey``).
    case session = "commit.session"
    case number = "commit.n"
    /// The event by which its app sent it.
    case event = "commit.event"
    /// The room's number that it got.
    case seq = "commit.seq"
    case refusal = "commit.refusal"
    /// How many commits are decided and written together with it.
    case batch = "commit.batch"
    case gateways = "update.gateways"
    case members = "update.members"
}

/// One line of a trace in the logs: a traced commit has reached a step.
public struct TraceMark: Equatable, Sendable {
    public static let key = "trace.id"

    public let trace: TraceID
    public let step: TraceStep
    public let facts: [TraceFact: String]

    public init(_ trace: TraceID, _ step: TraceStep, _ facts: [TraceFact: String]) {
        self.trace = trace
        self.step = step
        self.facts = facts
    }
}

extension TraceMark {
    public init(_ trace: TraceID, _ step: TraceStep, _ commit: Commit, _ facts: [TraceFact: String] = [:]) {
        let names = [TraceFact.room: commit.room.text, .session: commit.session.text, .number: "\(commit.number)"]
        self.init(trace, step, names.merging(facts) { $1 })
    }

    /// A step of a commit that has its result.
    public init(_ trace: TraceID, _ step: TraceStep, _ result: CommitResult, _ facts: [TraceFact: String] = [:]) {
        var names = [TraceFact.room: result.room.text, .session: result.session.text, .number: "\(result.number)"]
        if let refusal = result.refusal { names[.refusal] = refusal.code.name } else { names[.seq] = "\(result.seq)" }
        self.init(trace, step, names.merging(facts) { $1 })
    }

    public init(_ trace: TraceID, _ step: TraceStep, _ update: Update, _ facts: [TraceFact: String]) {
        self.init(trace, step, [.room: update.room.text, .seq: "\(update.seq)"].merging(facts) { $1 })
    }
}
