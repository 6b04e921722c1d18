internal import Boot
internal import CommitterCore
internal import Stages
internal import Timing

/// The committer's metrics. Instruments are created once and updated once a turn.
final class CommitterTelemetry: Sendable {
    /// The outcome of a commit.
    private enum Outcome: String, CaseIterable, Hashable {
        case applied, refused, duplicate, conflict, gap, expired, busy, unavailable
    }

    /// What was found about an unknown outcome.
    private enum Unknown: String, CaseIterable, Hashable {
        case written, lost, abandoned
    }

    /// How a request to the database ended.
    private enum Ending: String, CaseIterable, Hashable {
        case written, stale, failed, lost
    }

    private let received: Counter
    private let repeated: Counter
    private let outcomes: [Outcome: Counter]
    private let unknown: [Unknown: Counter]
    private let batches: [Ending: Counter]
    private let loads: Counter
    private let histories: Counter
    private let malformed: Counter
    private let published: Counter
    private let droppedUpdates: Counter
    private let droppedResults: Counter
    private let batchSize: Histogram
    private let writing: Histogram
    private let loading: Histogram
    private let latency: Histogram
    private let queued: Gauge
    private let queuedBytes: Gauge
    private let oldest: Gauge
    private let lanesUp: Gauge
    private let fanoutsUp: Gauge
    private let reconnects: Counter

    init(_ metrics: MetricsRegistry) {
        func counter(_ name: String, _ help: String) -> Counter {
            metrics.counter("touchsync_committer_\(name)", help)
        }
        func family<Label: CaseIterable & RawRepresentable<String> & Hashable & Sendable>(
            _ name: String, _ help: String, label: String, of type: Label.Type
        ) -> [Label: Counter] where Label.AllCases == [Label] {
            let counters = metrics.counters("touchsync_committer_\(name)", help, label: label, of: type)
            return Dictionary(uniqueKeysWithValues: type.allCases.map { ($0, counters[$0]) })
        }
        self.received = counter("commits_received_total", "Commits that came in.")
        self.repeated =
            counter("commits_repeated_total", "Commits of which a copy was waiting already.")
        self.outcomes = family("commits_total", "Commits by outcome.", label: "outcome", of: Outcome.self)
        self.unknown = family(
            "unknown_outcomes_total", "Commits whose batch's connection was lost, by what they turned out to be.",
            label: "outcome", of: Unknown.self)
        self.batches = family("batches_total", "Batches by how they ended.", label: "ending", of: Ending.self)
        self.loads = counter("state_reads_total", "Reads of state from the database.")
        self.histories = counter(
            "history_changes_total", "Times that the database was found on another history than before.")
        self.malformed = counter("envelopes_malformed_total", "Envelopes that could not be read to their end.")
        self.published = counter("updates_published_total", "Updates given to fan-outs.")
        self.droppedUpdates = counter("updates_dropped_total", "Updates that fan-outs have to read from the log.")
        self.droppedResults = counter("results_dropped_total", "Results whose gateway was not there to take them.")
        self.batchSize = metrics.histogram(
            "touchsync_committer_batch_commits", "Applied commits in one batch.", buckets: Buckets.sizes)
        self.writing = metrics.histogram(
            "touchsync_committer_write_seconds", "How long the database took for a batch.", buckets: Buckets.latency)
        self.loading = metrics.histogram(
            "touchsync_committer_read_seconds", "How long the database took for a read.", buckets: Buckets.latency)
        self.latency = metrics.histogram(
            "touchsync_committer_commit_seconds", "From a commit's arrival to its answer.", buckets: Buckets.latency)
        self.queued = metrics.gauge("touchsync_committer_queue_commits", "Commits that wait or are in flight.")
        self.queuedBytes = metrics.gauge("touchsync_committer_queue_bytes", "Their bytes.")
        self.oldest = metrics.gauge(
            "touchsync_committer_queue_oldest_seconds", "How long the oldest of them has waited.")
        self.lanesUp = metrics.gauge("touchsync_committer_database_connections", "Connections that are up.")
        self.fanoutsUp = metrics.gauge(
            "touchsync_committer_links_up", "Instances that are connected.", labels: ["stage": "fanout"])
        self.reconnects = counter("reconnects_total", "Links that were opened again.")
    }

    /// An envelope was malformed.
    func envelopeMalformed() { self.malformed.add() }

    /// The database is on another history than before.
    func historyChanged() { self.histories.add() }

    /// A batch was sent to the database.
    func batchSent(_ batch: ShardBatch) { self.batchSize.observe(Double(batch.log.count)) }

    /// The database answered a request.
    func answered(_ request: DatabaseLane.Request, took: Nanoseconds) {
        switch request {
        case .commitBatch: self.writing.observe(took.seconds)
        case .loadState: self.loading.observe(took.seconds)
        case .noteHistory: break
        }
    }

    /// Commits with these arrivals were answered.
    func answered(_ arrivals: [Instant], at now: Instant) {
        for arrival in arrivals { self.latency.observe(now.elapsed(since: arrival).seconds) }
    }

    /// A turn has ended.
    func turned(_ core: borrowing Committer, at now: Instant) {
        let counters = core.counters
        self.received.follow(counters.received)
        self.repeated.follow(counters.repeated)
        self.outcomes[.applied]?.follow(counters.tally.applied)
        self.outcomes[.refused]?.follow(counters.tally.refused)
        self.outcomes[.duplicate]?.follow(counters.tally.duplicates)
        self.outcomes[.conflict]?.follow(counters.tally.conflicts)
        self.outcomes[.gap]?.follow(counters.tally.gaps)
        self.outcomes[.expired]?.follow(counters.tally.expired)
        self.outcomes[.busy]?.follow(counters.busy)
        self.outcomes[.unavailable]?.follow(counters.expired)
        self.unknown[.written]?.follow(counters.tally.foundWritten)
        self.unknown[.lost]?.follow(counters.tally.foundLost)
        self.unknown[.abandoned]?.follow(counters.abandoned)
        self.batches[.written]?.follow(counters.batches)
        self.batches[.stale]?.follow(counters.stale)
        self.batches[.failed]?.follow(counters.failed)
        self.batches[.lost]?.follow(counters.lost)
        self.loads.follow(counters.loads)
        self.queued.set(core.queuedCommits)
        self.queuedBytes.set(core.queuedBytes)
        self.oldest.set(core.oldestArrival.map { now.elapsed(since: $0).seconds } ?? 0)
        self.lanesUp.set(core.connectedLanes)
    }

    /// A turn has ended: the relays' counters and the state of the links.
    func turned(results: GatewayLane, updates: FanoutLane, fanouts: StageLinks) {
        self.droppedResults.follow(results.dropped)
        self.published.follow(updates.published)
        self.droppedUpdates.follow(updates.dropped)
        self.fanoutsUp.set(fanouts.owners.upCount)
        self.reconnects.follow(Int(clamping: fanouts.reconnects))
    }
}
