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
        self.stages = PipelineStage.allCases.map { stage in
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
    package subscript(_ stage: PipelineStage) -> StageOverview {
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
    package let stage: PipelineStage
    /// In the order of the list.
    package let instances: [InstanceOverview]
    /// Sums of the instances' figures, the largest of ages.
    package let figures: FigureSet
    /// Dropped records per second in the last minute, by kind and reason.
    package let drops: [String: Double]

    init(_ stage: PipelineStage, _ histories: [InstanceHistory]) {
        self.stage = stage
        self.instances = histories.map(InstanceOverview.init)
        self.figures = self.instances.reduce(into: FigureSet()) { $0.combine($1.figures) }
        self.drops = self.instances.reduce(into: [:]) { $0.merge($1.drops, uniquingKeysWith: +) }
    }

    /// Instances that are ready.
    package var readyCount: Int { self.instances.count { $0.condition.isWell } }
}

/// One daemon.
package struct InstanceOverview: Sendable {
    package let daemon: ListedDaemon
    package let condition: InstanceCondition
    /// What it said about itself last; nil before its first answer.
    package let health: DaemonHealth?
    /// Means of rates over the last five rounds, and present values; unknown while it does not answer.
    package let figures: FigureSet
    /// Dropped records per second in the last minute, by kind and reason.
    package let drops: [String: Double]
    /// What it observed in the last 15 minutes.
    package let distributions: [Distribution: BucketCounts]
    package let version: String?
    /// Seconds since 1970.
    package let startedAt: Double?

    init(_ history: InstanceHistory) {
        self.daemon = history.daemon
        self.condition = history.condition
        self.health = history.sample?.health
        self.figures = history.figures
        self.drops = history.drops(over: 60)
        self.distributions = Dictionary(
            uniqueKeysWithValues: Distribution.allCases.compactMap { distribution in
                history.observed(distribution, in: history.points).map { (distribution, $0) }
            })
        self.version = history.sample?.version
        self.startedAt = history.sample?.startedAt
    }
}
