internal import Stages

/// The last 15 minutes of a pipeline, scraped once a second: half a megabyte for each daemon, of at most 64.
package struct PipelineHistory: Sendable {
    private(set) var instances: [InstanceHistory] = []
    private(set) var journal = FindingJournal()
    /// Of the last round; nil before the first.
    private(set) var moment: ScrapeRound?
    package private(set) var rounds: UInt64 = 0

    /// A round is complete.
    /// - Parameter outcomes: of every listed daemon; others are forgotten. At most ``DaemonList/limit`` count.
    mutating func scraped(_ outcomes: [(daemon: ListedDaemon, outcome: ProbeOutcome)], at moment: ScrapeRound) {
        let outcomes = outcomes.prefix(DaemonList.limit)
        self.instances = outcomes.map { daemon, outcome in
            var history = self.instances.first { $0.daemon.key == daemon.key } ?? InstanceHistory(daemon)
            history.scraped(outcome, of: daemon, at: moment)
            return history
        }
        self.moment = moment
        self.rounds += 1
        self.journal.reported(self.instances.flatMap { InstanceReview($0).reports }, at: moment.unixMilliseconds)
    }

    // MARK: What is known

    /// When it was scraped, milliseconds since 1970; 0 before the first round.
    var at: UInt64 { self.moment?.unixMilliseconds ?? 0 }

    /// All four, in their order.
    var stages: [StageOverview] { Stage.allCases.map { self[$0] } }

    subscript(_ stage: Stage) -> StageOverview {
        StageOverview(stage, self.instances.filter { $0.daemon.stage == stage })
    }

    /// What is wrong now: critical ones first, then the oldest first.
    var findings: [PipelineFinding] {
        let open = self.journal.open
        return open.filter { $0.trouble.severity == .critical } + open.filter { $0.trouble.severity != .critical }
    }

    /// How many previews came to coalescers for each that left; 1 when nothing is merged, nil while nothing moves. It is
    /// counted when they leave: what arrives may leave later, and what a full link returns leaves twice.
    var coalescingRatio: Double? {
        let figures = self[.coalescer].figures
        let left = figures.known(.previewsOut) - figures.known(.previewsReturned)
        guard left > 0 else { return nil }
        return (left + figures.known(.previewsCollapsed)) / left
    }

    /// What was observed in the last 15 minutes, by all instances with the same buckets together.
    func observed(_ distribution: Distribution) -> BucketCounts? {
        self.instances.compactMap { $0.observed(distribution, in: $0.points) }.reduce(nil) { sum, counts in
            guard var sum else { return counts }
            sum.add(counts)
            return sum
        }
    }
}

/// The instances of one stage, and their figures together.
struct StageOverview: Sendable {
    let stage: Stage
    /// In the order of the list.
    let instances: [InstanceHistory]
    /// Sums of the instances' figures, the largest of ages.
    let figures: FigureSet
    /// Dropped records per second in the last minute, by kind and reason.
    let drops: [String: Double]

    init(_ stage: Stage, _ instances: [InstanceHistory]) {
        self.stage = stage
        self.instances = instances
        self.figures = instances.reduce(into: FigureSet()) { $0.combine($1.figures) }
        self.drops = instances.reduce(into: [:]) { $0.merge($1.drops(over: 60), uniquingKeysWith: +) }
    }

    var readyCount: Int { self.instances.count { $0.condition.isWell } }
}
