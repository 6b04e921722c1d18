internal import Boot
internal import Wire

/// A step of a trace, as a daemon logged it.
struct TraceLine: Equatable {
    let trace: TraceID
    /// Microseconds since 1970, by the clock of the daemon's machine.
    let time: Int64
    let daemon: String
    let step: TraceStep
    let facts: [TraceFact: String]

    init(_ trace: TraceID, time: Int64, daemon: String, step: TraceStep, facts: [TraceFact: String]) {
        self.trace = trace
        self.time = time
        self.daemon = daemon
        self.step = step
        self.facts = facts
    }

    /// Nil when the line is of no trace.
    init?(_ line: [UInt8]) {
        guard let entry = LogEntry(line), let trace = entry.fields[TraceMark.key].flatMap(TraceID.init),
            let step = TraceStep(rawValue: entry.message), let time = entry.microseconds
        else { return nil }
        let facts = TraceFact.allCases.map { ($0, entry.fields[$0.rawValue]) }
        self.init(
            trace, time: time, daemon: entry.origin, step: step,
            facts: Dictionary(uniqueKeysWithValues: facts.compactMap { fact, value in value.map { (fact, $0) } }))
    }
}

extension TraceStep {
    /// The stage whose daemons log it.
    var stage: String {
        switch self {
        case .accepted, .sent, .acknowledged, .delivered: "gateway"
        case .forwarded: "coalescer"
        case .received, .decided, .answered: "committer"
        case .applied: "fan-out"
        }
    }

    /// The step that must come before it, if it was taken at all.
    var former: TraceStep? {
        switch self {
        case .accepted: nil
        case .sent: .accepted
        case .forwarded: .sent
        case .received: .forwarded
        case .decided: .received
        case .answered: .decided
        case .acknowledged, .applied: .answered
        case .delivered: .applied
        }
    }
}
