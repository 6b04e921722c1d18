internal import Boot
internal import CoalescerCore
internal import Stages
internal import Timing
internal import Wire

/// The coalescer's metrics. Instruments are created once; the core's counters are published at intervals.
final class CoalescerTelemetry: Sendable {
    let links: LinkTelemetry
    private let core: MetricsTable<Coalescer>
    private let returned, unreachable, lost: Counter
    private let oldest: Gauge
    private let batch: Histogram
    private let waits: Histogram
    private let lateness: Histogram

    init(_ context: DaemonContext) {
        let metrics = context.metrics
        let prefix = "touchsync_coalescer_"
        self.links = LinkTelemetry(context, peers: [.fanout])
        self.core = Self.core(metrics, prefix)
        self.returned = metrics.counter(
            "\(prefix)previews_returned_total", "Previews that a fan-out did not take at that moment.")
        func undelivered(_ reason: String) -> Counter {
            metrics.counter(
                "\(prefix)previews_undelivered_total", "Previews that left and reached no fan-out.",
                labels: ["reason": reason])
        }
        self.unreachable = undelivered("unreachable")
        self.lost = undelivered("lost")
        self.oldest = metrics.gauge("\(prefix)previews_held_oldest_seconds", "How long the oldest of them has waited.")
        self.batch = metrics.histogram(
            "\(prefix)envelope_previews", "Previews in one envelope to a fan-out.", buckets: Buckets.sizes)
        self.waits = metrics.histogram(
            "\(prefix)preview_wait_seconds", "How long previews waited here; no time for those that left at once.")
        self.lateness = metrics.histogram(
            "\(prefix)tick_lateness_seconds", "How late a tick was.", buckets: Buckets.latency)
    }

    private static func core(_ metrics: MetricsRegistry, _ prefix: String) -> MetricsTable<Coalescer> {
        var core = MetricsTable<Coalescer>(metrics, prefix: prefix)
        core.counter("previews_received_total", "Previews from gateways.", \.counters.received)
        core.counter("previews_sent_total", "Previews that left for fan-outs.", \.counters.sent)
        core.counter(
            "previews_sent_at_once_total", "Of those, without waiting: the key's rate allowed it.",
            \.counters.sentAtOnce)
        core.counter(
            "previews_early_total", "Previews that left before their tick for want of space.", \.counters.early)
        core.counter("entries_evicted_total", "Keys forgotten before their time for want of space.", \.counters.evicted)
        for (outcome, total) in [
            ("replaced", \.counters.replaced), ("cancelled", \.counters.cancelled), ("stale", \.counters.stale),
        ] as [(String, any KeyPath<Coalescer, UInt64> & Sendable)] {
            core.counter(
                "previews_coalesced_total", "Previews that were not sent as they came.", labels: ["outcome": outcome]
            ) { $0[keyPath: total] }
        }
        core.gauge("previews_held", "Previews that wait for the tick.", \.heldCount)
        core.gauge("entries", "Keys that are known.", \.entryCount)
        return core
    }

    /// An envelope left for a fan-out.
    func envelopeSent(previews: Int) {
        self.batch.observe(Double(previews))
    }

    /// A tick was due `lateness` ago.
    func tickServed(after lateness: Nanoseconds) {
        self.lateness.observe(lateness.seconds)
    }

    /// Publishes the present values of the core, and of what is on its way to fan-outs.
    func observe(_ stage: borrowing CoalescerStage, at now: Instant) {
        let (core, previews) = (stage.coalescer, stage.previews.outboxes)
        self.core.publish(core)
        self.waits.follow(core.counters.waits)
        self.oldest.set(core.oldestHeldAge(at: now).seconds)
        self.returned.follow(previews.heldPreviews)
        self.unreachable.follow(previews.unreachable)
        self.lost.follow(previews.dropped)
    }
}
