internal import Wire

/// The way of one commit of a trace: the lines of all daemons, in order.
struct CommitTrace: Equatable {
    /// In the order of their times; in the order of the steps if the clocks differ.
    let lines: [TraceLine]
    /// The first pair of steps whose times run backwards; nil when none do.
    let backwards: Backwards?

    /// Two steps whose times are in the wrong order.
    struct Backwards: Equatable {
        let former: TraceLine
        let latter: TraceLine
        /// How much the clocks differ at least, µs.
        var difference: Int64 { self.former.time - self.latter.time }
    }

    init(_ lines: [TraceLine]) {
        self.backwards = Self.backwards(in: lines)
        let order = TraceStep.allCases
        let place = { (line: TraceLine) in (order.firstIndex(of: line.step) ?? 0, line.time) }
        self.lines =
            self.backwards == nil
            ? lines.sorted { ($0.time, place($0).0) < ($1.time, place($1).0) }
            : lines.sorted { place($0) < place($1) }
    }

    private static func backwards(in lines: [TraceLine]) -> Backwards? {
        self.pairs(in: lines).first { $0.former.time > $0.latter.time }.map { Backwards(former: $0, latter: $1) }
    }

    /// The first line of each step but the first one, with that of the step which had to come before.
    private static func pairs(in lines: [TraceLine]) -> [(former: TraceLine, latter: TraceLine)] {
        let firsts = Dictionary(grouping: lines, by: \.step).compactMapValues { $0.min { $0.time < $1.time } }
        return TraceStep.allCases.compactMap { step in
            // A step may have been left out, or its log may not be here.
            var former = step.former
            while let earlier = former, firsts[earlier] == nil { former = earlier.former }
            guard let earlier = former.flatMap({ firsts[$0] }), let latter = firsts[step] else { return nil }
            return (earlier, latter)
        }
    }

    /// How long each step took, µs since the one which had to come before.
    var steps: [(step: TraceStep, took: Int64)] {
        Self.pairs(in: self.lines).map { ($0.latter.step, $0.latter.time - $0.former.time) }
    }

    /// How long it took to a step, µs since a gateway accepted the commit; nil when one of both was not found.
    func time(to step: TraceStep) -> Int64? {
        guard let start = self.lines.first(where: { $0.step == .accepted })?.time else { return nil }
        return self.lines.first { $0.step == step }.map { $0.time - start }
    }

    /// What a line says of the commit; nil when none does.
    func fact(_ fact: TraceFact) -> String? { self.lines.lazy.compactMap { $0.facts[fact] }.first }

    /// The moment from which times are counted: when a gateway accepted the commit, or the first line.
    var start: Int64 {
        (self.lines.first { $0.step == .accepted } ?? self.lines.first)?.time ?? 0
    }

    /// The steps of which no line was found. Whether a commit that was refused missed any is not known.
    var missing: [TraceStep] {
        let found = Set(self.lines.map(\.step))
        let wasRefused = self.fact(.refusal) != nil
        let wentAround = self.lines.contains { $0.facts[.path] == "committer" }
        return TraceStep.allCases.filter { step in
            switch step {
            case .forwarded: !found.contains(step) && !wentAround
            case .decided, .applied, .delivered: !found.contains(step) && !wasRefused
            default: !found.contains(step)
            }
        }
    }
}

extension CommitTrace {
    /// The commits of a trace, each with its lines, in the order of their times. The lines of an update name no session and
    /// belong to the commit that got its number.
    static func commits(of lines: [TraceLine]) -> [CommitTrace] {
        var commits: [[TraceFact: String]: [TraceLine]] = [:]
        var owners: [[TraceFact: String]: [TraceFact: String]] = [:]
        for line in lines where line.facts[.session] != nil {
            let key = line.facts.filter { [.room, .session, .number].contains($0.key) }
            commits[key, default: []].append(line)
            if line.facts[.seq] != nil { owners[line.update] = key }
        }
        for line in lines where line.facts[.session] == nil {
            commits[owners[line.update] ?? line.update, default: []].append(line)
        }
        return commits.values.map { CommitTrace($0) }.sorted { $0.start < $1.start }
    }
}

extension TraceLine {
    fileprivate var update: [TraceFact: String] { self.facts.filter { [.room, .seq].contains($0.key) } }
}
