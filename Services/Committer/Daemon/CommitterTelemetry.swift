internal import Boot
internal import CommitterCore
internal import Stages
internal import Timing

/// The committer's metrics. Instruments are created once and updated once a turn.
final class CommitterTelemetry: Sendable {
    let links: LinkTelemetry
    private let core: MetricsTable<Committer>
    private let histories: Counter
    private let published: Counter
    private let droppedUpdates: Counter
    private let droppedResults: Counter
    private let batchSize: Histogram
    private let writing: Histogram
    private let loading: Histogram
    private let latency: Histogram
    private let oldest: Gauge

    init(_ context: DaemonContext) {
        let metrics = context.metrics
        let prefix = "touchsync_committer_"
        func counter(_ name: String, _ help: String) -> Counter { metrics.counter(prefix + name, help) }
        func histogram(_ name: String, _ help: String, _ buckets: [Double] = Buckets.latency) -> Histogram {
            metrics.histogram(prefix + name, help, buckets: buckets)
        }
        self.links = LinkTelemetry(context, peers: [.fanout])
        self.core = Self.core(metrics, prefix)
        self.histories = counter(
            "history_changes_total", "Failovers and restored backups that were noticed, with lost commits or without.")
        self.published = counter("updates_published_total", "Updates given to fan-outs.")
        self.droppedUpdates = counter("updates_dropped_total", "Updates that fan-outs have to read from the log.")
        self.droppedResults = counter("results_dropped_total", "Results whose gateway was not there to take them.")
        self.batchSize = histogram("batch_commits", "Applied commits in one batch.", Buckets.sizes)
        self.writing = histogram("write_seconds", "How long the database took for a batch.")
        self.loading = histogram("read_seconds", "How long the database took for a read.")
        self.latency = histogram("commit_seconds", "From a commit's arrival to its answer.")
        self.oldest = metrics.gauge("\(prefix)queue_oldest_seconds", "How long the oldest of them has waited.")
    }

    private static func core(_ metrics: MetricsRegistry, _ prefix: String) -> MetricsTable<Committer> {
        var core = MetricsTable<Committer>(metrics, prefix: prefix)
        func family(
            _ name: String, _ help: String, _ label: String,
            _ totals: KeyValuePairs<String, any KeyPath<CommitterCounters, Int> & Sendable>
        ) {
            for (value, total) in totals {
                core.counter(name, help, labels: [label: value]) { $0.counters[keyPath: total] }
            }
        }
        core.counter("commits_received_total", "Commits that came in.", \.counters.received)
        core.counter("commits_repeated_total", "Commits of which a copy was waiting already.", \.counters.repeated)
        family(
            "commits_total", "Commits by outcome.", "outcome",
            [
                "applied": \.tally.applied, "refused": \.tally.refused, "duplicate": \.tally.duplicates,
                "unchanged": \.tally.unchanged,
                "conflict": \.tally.conflicts, "gap": \.tally.gaps, "session_expired": \.tally.expired, "busy": \.busy,
                "unavailable": \.expired,
            ])
        family(
            "over_limit_total", "Commits refused as too large, by the limit.", "limit",
            [
                "room-elements": \.tally.overRoomElements, "room-bytes": \.tally.overRoomBytes,
                "element-annotations": \.tally.overAnnotations, "commit-elements": \.tally.overCommitElements,
            ])
        family(
            "unknown_outcomes_total", "Commits whose batch's connection was lost, by what they turned out to be.",
            "outcome",
            ["written": \.tally.foundWritten, "lost": \.tally.foundLost, "abandoned": \.abandoned])
        family(
            "batches_total", "Batches by outcome.", "outcome",
            ["written": \.batches, "stale": \.stale, "failed": \.failed, "lost": \.lost])
        core.counter("state_reads_total", "Reads of state from the database.", \.counters.loads)
        core.gauge("queue_commits", "Commits that wait or are in flight.", \.queuedCommits)
        core.gauge("queue_bytes", "Their bytes.", \.queuedBytes)
        core.gauge("database_connections", "Connections that are up.", \.connectedLanes)
        return core
    }

    /// The database is on another history than before.
    func historyChanged() { self.histories.add() }

    func batchSent(_ batch: ShardBatch) { self.batchSize.observe(Double(batch.log.count)) }

    func answered(_ request: DatabaseLane.Request, took: Nanoseconds) {
        switch request {
        case .commitBatch: self.writing.observe(took.seconds)
        case .loadState: self.loading.observe(took.seconds)
        case .noteHistory: break
        }
    }

    func answered(_ arrivals: [Instant], at now: Instant) {
        for arrival in arrivals { self.latency.observe(now.elapsed(since: arrival).seconds) }
    }

    /// Shows the stage's present figures.
    func publish(_ stage: borrowing CommitterStage, reconnects: UInt64, at now: Instant) {
        self.core.publish(stage.committer)
        self.oldest.set(stage.committer.oldestArrival.map { now.elapsed(since: $0).seconds } ?? 0)
        let (results, updates) = (stage.results.outboxes, stage.updates.outboxes)
        self.droppedResults.follow(results.dropped + results.unreachable)
        self.published.follow(stage.publishedCount - updates.unreachable)
        self.droppedUpdates.follow(updates.dropped + updates.unreachable)
        self.links.connected(stage.updates.owners.upCount, of: .fanout)
        self.links.reconnected(reconnects)
    }
}
