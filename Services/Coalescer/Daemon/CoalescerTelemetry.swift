internal import Boot
internal import CoalescerCore
internal import Stages
internal import Timing
internal import Wire

/// The coalescer's metrics. Instruments are created once; the core's counters are published at intervals.
final class CoalescerTelemetry: Sendable {
    /// What happened to previews that were not sent as they arrived.
    private enum Collapse: String, CaseIterable, Hashable {
        case folded, replaced, cancelled, stale
    }

    /// Envelopes that were malformed.
    let malformed: Counter
    /// Commits that were not forwarded; their gateways resend them.
    private let commitsDropped: CounterFamily<CommitRelay.Drop>
    /// Previews that left the coalescer and reached no link.
    private let previewsUndelivered: CounterFamily<PreviewRelay.Drop>
    private let commitsPassed: Counter
    private let received: Counter
    private let sent: Counter
    private let sentAtOnce: Counter
    private let returned: Counter
    private let early: Counter
    private let evicted: Counter
    private let folded: Counter
    private let replaced: Counter
    private let cancelled: Counter
    private let stale: Counter
    private let held: Gauge
    private let oldest: Gauge
    private let entries: Gauge
    private let rooms: Gauge
    private let waiting: Gauge
    private let waitingBytes: Gauge
    private let lanesClosed: Gauge
    private let batch: Histogram
    private let lateness: Histogram
    private let committersUp: Gauge
    private let fanoutsUp: Gauge
    private let reconnects: Counter

    init(_ metrics: MetricsRegistry) {
        func mirrored(_ name: String, _ help: String) -> Counter {
            metrics.counter("touchsync_coalescer_\(name)", help)
        }
        self.malformed = metrics.counter(
            "touchsync_coalescer_envelopes_malformed_total", "Envelopes that could not be read to their end.")
        self.commitsDropped = metrics.counters(
            "touchsync_coalescer_commits_dropped_total", "Commits not passed on; gateways send them again.",
            label: "reason", of: CommitRelay.Drop.self)
        self.previewsUndelivered = metrics.counters(
            "touchsync_coalescer_previews_undelivered_total", "Previews that left and reached no fan-out.",
            label: "reason", of: PreviewRelay.Drop.self)
        self.commitsPassed = metrics.counter(
            "touchsync_coalescer_commits_passed_total", "Commits passed on to committers.")
        self.received = mirrored("previews_received_total", "Previews from gateways.")
        self.sent = mirrored("previews_sent_total", "Previews that left for fan-outs.")
        self.sentAtOnce = mirrored("previews_sent_at_once_total", "Of those, without waiting: the room was quiet.")
        self.returned = mirrored("previews_returned_total", "Previews that a fan-out did not take at that moment.")
        self.early = mirrored("previews_early_total", "Previews that left before their tick for want of space.")
        self.evicted = mirrored("entries_evicted_total", "Keys forgotten before their time for want of space.")
        let collapsed = metrics.counters(
            "touchsync_coalescer_previews_collapsed_total", "Previews that were not sent as they came.",
            label: "how", of: Collapse.self)
        self.folded = collapsed[.folded]
        self.replaced = collapsed[.replaced]
        self.cancelled = collapsed[.cancelled]
        self.stale = collapsed[.stale]
        self.held = metrics.gauge("touchsync_coalescer_previews_held", "Previews that wait for the tick.")
        self.oldest = metrics.gauge(
            "touchsync_coalescer_previews_held_oldest_seconds", "How long the oldest of them has waited.")
        self.entries = metrics.gauge("touchsync_coalescer_entries", "Keys that are known.")
        self.rooms = metrics.gauge("touchsync_coalescer_rooms", "Rooms that are known.")
        self.waiting = metrics.gauge(
            "touchsync_coalescer_commits_waiting", "Commits that wait for a committer.")
        self.waitingBytes = metrics.gauge(
            "touchsync_coalescer_commits_waiting_bytes", "Bytes of commits that wait for a committer.")
        self.lanesClosed = metrics.gauge(
            "touchsync_coalescer_commit_lanes_closed", "Committers that have given no more credit.")
        self.batch = metrics.histogram(
            "touchsync_coalescer_envelope_previews", "Previews in one envelope to a fan-out.", buckets: Buckets.sizes)
        self.lateness = metrics.histogram(
            "touchsync_coalescer_tick_lateness_seconds", "How late a tick was.", buckets: Buckets.latency)
        self.committersUp = metrics.gauge(
            "touchsync_coalescer_links_up", "Instances that are connected.", labels: ["stage": "committer"])
        self.fanoutsUp = metrics.gauge(
            "touchsync_coalescer_links_up", "Instances that are connected.", labels: ["stage": "fanout"])
        self.reconnects = mirrored("reconnects_total", "Links that were opened again.")
    }

    /// An envelope left for a fan-out.
    func envelopeSent(previews: Int) {
        self.batch.observe(Double(previews))
    }

    /// A tick was due `lateness` ago.
    func tickServed(after lateness: Nanoseconds) {
        self.lateness.observe(lateness.seconds)
    }

    /// Publishes the core's and the relays' present values.
    func observe(_ core: borrowing Coalescer, commits: CommitRelay, previews: PreviewRelay, at now: Instant) {
        let counters = core.counters
        self.received.follow(counters.received)
        self.sent.follow(counters.sent)
        self.sentAtOnce.follow(counters.sentAtOnce)
        self.returned.follow(counters.returned)
        self.early.follow(counters.early)
        self.evicted.follow(counters.evicted)
        self.folded.follow(counters.folded)
        self.replaced.follow(counters.replaced)
        self.cancelled.follow(counters.cancelled)
        self.stale.follow(counters.stale)
        self.held.set(core.heldCount)
        self.oldest.set(core.oldestHeldAge(at: now).seconds)
        self.entries.set(core.entryCount)
        self.rooms.set(core.roomCount)
        self.commitsPassed.follow(commits.passed)
        for (reason, count) in commits.dropped { self.commitsDropped[reason].follow(count) }
        for (reason, count) in previews.dropped { self.previewsUndelivered[reason].follow(count) }
        let waiting = commits.waiting
        self.waiting.set(waiting.commits)
        self.waitingBytes.set(waiting.bytes)
        self.lanesClosed.set(commits.closedCount)
    }

    /// Publishes the state of the links.
    func links(committers: StageLinks, fanouts: StageLinks) {
        self.committersUp.set(committers.owners.upCount)
        self.fanoutsUp.set(fanouts.owners.upCount)
        self.reconnects.follow(committers.reconnects &+ fanouts.reconnects)
    }
}
