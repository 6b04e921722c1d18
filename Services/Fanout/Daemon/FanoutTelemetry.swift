internal import Boot
internal import FanoutCore
internal import Stages

/// The fan-out's figures for operators. Instruments are made once; what the core counts is followed now and then.
final class FanoutTelemetry: Sendable {
    private let overflows: Counter
    private let signalsDropped: Counter
    let links: LinkTelemetry
    let differingCommitters: Gauge
    private let core: MetricsTable<Fanout>
    private let database: MetricsTable<RoomDatabase>
    private let envelopes: Counter
    private let envelopeBytes: Histogram
    private let outboxBytes: Gauge
    private let blocked: Gauge

    init(_ context: DaemonContext) {
        let metrics = context.metrics
        let prefix = "touchsync_fanout_"
        self.overflows = metrics.counter(
            "\(prefix)gateway_overflows_total", "Times that what waited for a slow gateway was thrown away.")
        self.signalsDropped = metrics.counter(
            "\(prefix)signals_dropped_total", "Signals that a gateway did not get because its link was full.")
        self.differingCommitters = metrics.gauge(
            "\(prefix)rules_differing_committers", "Committers whose rules differ from this fan-out's.")
        self.links = LinkTelemetry(context, peers: [.gateway])
        self.core = Self.core(metrics, prefix)
        self.envelopes = metrics.counter("\(prefix)envelopes_sent_total", "Envelopes given to gateways' links.")
        self.envelopeBytes = metrics.histogram("\(prefix)envelope_bytes", "Their sizes.", buckets: Buckets.sizes)
        var database = MetricsTable<RoomDatabase>(metrics, prefix: prefix)
        database.gauge("database_requests", "Questions to the database that wait or are under way.", \.openCount)
        database.gauge("database_connections", "Connections that are up.", \.upCount)
        self.database = database
        self.outboxBytes = metrics.gauge("\(prefix)outbox_bytes", "Bytes that wait for gateways.")
        self.blocked = metrics.gauge("\(prefix)gateways_blocked", "Gateways whose link takes no more at present.")
    }

    private static func core(_ metrics: MetricsRegistry, _ prefix: String) -> MetricsTable<Fanout> {
        var core = MetricsTable<Fanout>(metrics, prefix: prefix)
        core.counter("updates_received_total", "Updates that came, directly or from the log.", \.counters.updates)
        core.counter("updates_duplicate_total", "Updates that were there already.", \.counters.duplicates)
        core.counter("previews_received_total", "Previews that came.", \.counters.previews)
        core.counter("previews_passed_total", "Previews that went on, each counted once.", \.counters.previewsPassed)
        core.counter("previews_parked_total", "Previews that waited for an update.", \.counters.previewsParked)
        core.counters(
            "previews_dropped_total", "Previews that went nowhere.", label: "reason", of: PreviewDrop.self
        ) { $0.counters.previewsDropped[$1] ?? 0 }
        core.counter(
            "awareness_received_total", "Cursors, selections and other awareness that came.", \.counters.awareness)
        core.counter(
            "awareness_dropped_total", "Awareness that was not the latest, or not its session's.",
            \.counters.awarenessDropped)
        core.counter("signals_received_total", "Signals that came.", \.counters.signals)
        core.counter(
            "signals_refused_total", "Signals of connections that are not in the room under that session.",
            \.counters.signalsRefused)
        core.counter("gaps_total", "Gaps in a shard that the log had to fill.", \.counters.gaps)
        core.counter("shard_reloads_total", "Shards whose rooms were loaded again.", \.counters.rebases)
        core.counter(
            "histories_replaced_total", "Shards whose history in the database was replaced under the same name.",
            \.counters.replacements)
        core.counter(
            "updates_stray_total", "Published updates that are not part of the history that is followed.",
            \.counters.strays)
        core.counter("room_loads_total", "Rooms loaded from the database.", \.counters.loads)
        core.counter("snapshots_total", "Joins answered with the whole room.", \.counters.snapshots)
        core.counter("replays_total", "Joins and gateways answered with exactly what they missed.", \.counters.replays)
        core.counter("resyncs_total", "Gateways whose members must join a room again.", \.counters.resets)
        core.counter("refusals_total", "Joins and reads of rooms that were refused.", \.counters.refusals)
        core.gauge("rooms", "Rooms in memory.", \.rooms.count)
        core.gauge("room_bytes", "About what they take.", \.rooms.bytes)
        core.gauge("joins_waiting", "Joins and reads of rooms that wait for the database.", \.waitingCount)
        core.gauge("history_reads_waiting", "Reads of rooms' histories that wait for the database.", \.historyReadCount)
        core.gauge("shard_lag_updates", "How far the shard that is furthest behind is behind.") { Double($0.lag) }
        return core
    }

    func sent(bytes: Int) {
        self.envelopes.add()
        self.envelopeBytes.observe(Double(bytes))
    }

    func observe(_ stage: borrowing FanoutStage, database: RoomDatabase) {
        let outboxes = stage.gateways.outboxes
        self.core.publish(stage.fanout)
        self.database.publish(database)
        self.overflows.follow(stage.overflows)
        self.links.connected(outboxes.peers.count, of: .gateway)
        self.signalsDropped.follow(stage.gateways.droppedSignals)
        self.outboxBytes.set(outboxes.bytes)
        self.blocked.set(outboxes.blockedCount)
    }
}
