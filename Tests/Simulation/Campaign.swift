package import HistoryChecker
import Stages
import Wire

/// Many worlds, one for each seed, judged one by one.
package struct Campaign: Sendable {
    /// A seed whose world violated something.
    package struct Failure: Sendable {
        /// The seed.
        package var seed: UInt64
        /// What was violated.
        package var violated: [Invariant]
        /// Rooms that are not held by their owner alone, or whose stored totals are wrong, and apps that kept others off an
        /// element although they may not commit.
        package var strays: [String]
        /// The checker's report.
        package var report: String

        /// What is wrong, in one line.
        package var summary: String {
            (self.violated.map { "violates \($0.rawValue)" } + self.strays).joined(separator: "; ")
        }
    }

    /// How many worlds there were.
    package private(set) var worlds = 0
    /// Those that violated something, by seed.
    package private(set) var failures: [Failure] = []
    /// What happened how often, over all worlds.
    package private(set) var counts: [String: Int64] = [:]

    /// Runs the worlds of some seeds, several at a time.
    /// - Parameters:
    ///   - mutant: a mistake that all of them have.
    ///   - workers: how many run at once.
    package static func run(_ seeds: Range<UInt64>, mutant: Mutant? = nil, workers: Int) async -> Campaign {
        let stride = UInt64(max(1, workers))
        return await withTaskGroup(of: Campaign.self) { group in
            for worker in 0..<stride {
                group.addTask {
                    var part = Campaign()
                    for seed in Swift.stride(from: seeds.lowerBound + worker, to: seeds.upperBound, by: Int(stride)) {
                        part.add(Plan(seed: seed, mutant: mutant))
                    }
                    return part
                }
            }
            var whole = Campaign()
            for await part in group { whole.add(part) }
            whole.failures.sort { $0.seed < $1.seed }
            return whole
        }
    }

    private mutating func add(_ plan: Plan) {
        let world = World(plan)
        let history = world.run()
        let verdict = HistoryChecker.check(history)
        self.worlds += 1
        self.counts.merge(verdict.counts) { $0 + $1 }
        guard !verdict.isGood || !world.finalStrays.isEmpty else { return }
        let report = self.failures.count < 3 ? verdict.report(of: history) : ""
        self.failures.append(
            Failure(seed: plan.seed, violated: verdict.violated, strays: world.finalStrays, report: report))
    }

    private mutating func add(_ part: Campaign) {
        self.worlds += part.worlds
        self.failures += part.failures
        self.counts.merge(part.counts) { $0 + $1 }
    }

    /// What every campaign must have seen, or it proves little: acknowledgements of every kind of edit, each kind of fault, faults that hit
    /// an open transaction, unknown outcomes that turned out either way, gaps that were filled, resyncs, commits that waited
    /// for credit; and of clients edits that were refused, folded, in doubt, found in the
    /// history and forgotten.
    package static let required =
        [
            "acks", "deliveries", "previews", "refusals", "retries", "resumes", "resyncs", "snapshots", "unknowns",
            "faults.full-link", "outboxes.overflown", "outboxes.dropped-envelopes", "faults.open-transaction",
            "faults.late-transaction", "faults.duplicated", "lost.envelopes",
            "committer.found-written", "committer.found-lost", "committer.duplicates", "committer.stale",
            "committer.over-room-elements", "committer.over-annotations",
            "fanout.gaps", "fanout.replays", "fanout.rebases", "fanout.parked", "gateway.held", "gateway.resent",
            "gateway.resyncs", "apps.copies", "apps.bursts", "apps.gone-for-good", "apps.left-and-joined",
            "gateway.snapshot-parts", "groups", "refused-groups", "cascades",
            "undone", "redone", "nothing-undone", "skipped-entries", "apps.blocked-undos", "apps.undos-past",
            "viewports", "updates-with-viewport", "selections", "states", "viewports-shared",
            "previews.batches", "previews-out-of-view", "cursors-out-of-view", "last-previews-in-view", "departures",
            "edits-applied", "edits-refused", "clients.restarts-in-doubt", "clients.session-expired",
            "clients.saved-in-doubt", "clients.history-read", "clients.history-failed", "clients.found-edits",
            "clients.sends-held", "clients.forgotten", "clients.resyncs", "clients.folded-edits",
            "clients.left-and-joined", "poses", "poses-on-time", "poses-at-rest", "poses-joined", "poses-late",
            "poses-undone",
            "poses-halted", "motions-in-silence",
        ] + allEdits.kinds.map { "acks.\($0.traits.event)" } + Stage.allCases.map { "faults.kill.\($0)" }
        + Stage.allCases.map { "faults.pause.\($0)" }
        + World.stagesWithSets.flatMap { ["sets.grown.\($0)", "sets.shrunk.\($0)"] } + World.faultNames

    /// Counts that must not be zero, and are.
    package var missing: [String] {
        Self.required.filter { (self.counts[$0] ?? 0) == 0 }
    }
}
