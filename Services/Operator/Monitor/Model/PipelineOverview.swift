package import Stages

/// The present state of a pipeline, stage by stage, with what the last 15 minutes add up to.
package struct PipelineOverview: Sendable {
    /// When it was scraped, milliseconds since 1970; 0 before the first round.
    package let at: UInt64
    /// Rounds of scraping so far.
    package let rounds: UInt64
    /// All four, in their order.
    package let stages: [StageOverview]
    /// What is wrong now: critical ones first, then the oldest first.
    package let findings: [PipelineFinding]
    /// What was wrong in the last 15 minutes, the latest end first.
    package let pastFindings: [PipelineFinding]
    /// What was observed in the last 15 minutes, of all instances together.
    package let distributions: [Distribution: BucketCounts]

    init(_ history: PipelineHistory) {
        self.at = history.moment?.unixMilliseconds ?? 0
        self.rounds = history.rounds
        self.stages = Stage.allCases.map { stage in
            StageOverview(stage, history.instances.filter { $0.daemon.stage == stage })
        }
        let open = history.journal.open
        self.findings =
            open.filter { $0.trouble.severity == .critical } + open.filter { $0.trouble.severity != .critical }
        self.pastFindings = history.journal.past.reversed()
        self.distributions = Dictionary(
            uniqueKeysWithValues: Distribution.allCases.compactMap { distribution in
                history.observed(distribution).map { (distribution, $0) }
            })
    }

    /// A stage's part.
    package subscript(_ stage: Stage) -> StageOverview {
        self.stages.first { $0.stage == stage } ?? StageOverview(stage, [])
    }

    /// How many previews came to coalescers for each that left; 1 when nothing is merged, nil while nothing moves. It is
    /// counted when they leave: what arrives may leave later, and what a full link returns leaves twice.
    package var coalescingRatio: Double? {
        let figures = self[.coalescer].figures
        let left = figures.known(.previewsOut) - figures.known(.previewsReturned)
        guard left > 0 else { return nil }
        return (left + figures.known(.previewsCollapsed)) / left
    }
}

/// The instances of one stage, and their figures together.
package struct StageOverview: Sendable {
    package let stage: Stage
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

    /// Instances that are ready.
    var readyCount: Int { self.instances.count { $0.condition.isWell } }
}
