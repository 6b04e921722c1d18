/// The last 15 minutes of a pipeline, scraped once a second: half a megabyte for each daemon, of at most 64.
package struct PipelineHistory: Sendable {
    private(set) var instances: [InstanceHistory] = []
    private(set) var journal = FindingJournal()
    /// Of the last round; nil before the first.
    private(set) var moment: ScrapeRound?
    /// How many rounds there have been.
    package private(set) var rounds: UInt64 = 0

    /// Nothing is known yet.
    package init() {}

    /// A round is complete.
    /// - Parameter outcomes: of every listed daemon; others are forgotten. At most ``DaemonList/limit`` count.
    package mutating func scraped(_ outcomes: [(daemon: ListedDaemon, outcome: ProbeOutcome)], at moment: ScrapeRound) {
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

    /// The present state, with what the last 15 minutes add up to.
    package var overview: PipelineOverview { PipelineOverview(self) }

    /// What was observed in the last 15 minutes by all instances with the same buckets.
    func observed(_ distribution: Distribution) -> BucketCounts? {
        var sum: BucketCounts?
        for instance in self.instances {
            guard let counts = instance.observed(distribution, in: instance.points) else { continue }
            if sum == nil { sum = counts } else { sum?.add(counts) }
        }
        return sum
    }
}
