internal import Boot
internal import FanoutCore

/// The fan-out's figures for operators. Instruments are made once; what the core counts is shown now and then.
final class FanoutTelemetry: Sendable {
    /// Envelopes that could not be read.
    let malformed: Counter
    /// Times that a gateway was so slow that what waited for it was thrown away.
    let overflows: Counter
    private let updates: Counter
    private let duplicates: Counter
    private let previews: Counter
    private let passed: Counter
    private let parked: Counter
    private let dropped: [Counter]
    private let holes: Counter
    private let rebases: Counter
    private let replacements: Counter
    private let strays: Counter
    private let loads: Counter
    private let snapshots: Counter
    private let replays: Counter
    private let resets: Counter
    private let refusals: Counter
    private let envelopes: Counter
    private let envelopeBytes: Histogram
    private let rooms: Gauge
    private let roomBytes: Gauge
    private let waiting: Gauge
    private let lag: Gauge
    private let questions: Gauge
    private let connections: Gauge
    private let gatewaysUp: Gauge
    private let outboxBytes: Gauge
    private let blocked: Gauge

    init(_ metrics: MetricsRegistry) {
        func counter(_ name: String, _ help: String) -> Counter {
            metrics.counter("touchsync_fanout_\(name)", help)
        }
        func mirrored(_ name: String, _ help: String) -> Counter {
            counter(name, help)
        }
        func gauge(_ name: String, _ help: String) -> Gauge {
            metrics.gauge("touchsync_fanout_\(name)", help)
        }
        self.malformed = counter("envelopes_malformed_total", "Envelopes that could not be read to their end.")
        self.overflows = counter(
            "gateway_overflows_total", "Times that what waited for a slow gateway was thrown away.")
        self.updates = mirrored("updates_received_total", "Updates that came, directly or from the log.")
        self.duplicates = mirrored("updates_duplicate_total", "Updates that were there already.")
        self.previews = mirrored("previews_received_total", "Previews that came.")
        self.passed = mirrored("previews_passed_total", "Previews that went on, each counted once.")
        self.parked = mirrored("previews_parked_total", "Previews that waited for an update.")
        let drops = metrics.counters(
            "touchsync_fanout_previews_dropped_total", "Previews that went nowhere.", label: "reason",
            of: PreviewDrop.self)
        self.dropped = PreviewDrop.allCases.map { drops[$0] }
        self.holes = mirrored("holes_total", "Holes in a shard that the log had to fill.")
        self.rebases = mirrored("rebases_total", "Shards whose rooms were loaded anew.")
        self.replacements = mirrored(
            "histories_replaced_total", "Shards whose history in the database was replaced under the same name.")
        self.strays = mirrored(
            "updates_stray_total", "Published updates that are not part of the history that is followed.")
        self.loads = mirrored("room_loads_total", "Rooms loaded from the database.")
        self.snapshots = mirrored("snapshots_total", "Joins answered with the whole room.")
        self.replays = mirrored("replays_total", "Joins and gateways answered with exactly what they missed.")
        self.resets = mirrored("resets_total", "Gateways told that their room must be taken anew.")
        self.refusals = mirrored("refusals_total", "Joins and reads of rooms that were refused.")
        self.envelopes = counter("envelopes_sent_total", "Envelopes given to gateways' links.")
        self.envelopeBytes = metrics.histogram(
            "touchsync_fanout_envelope_bytes", "Their sizes.", buckets: Buckets.sizes)
        self.rooms = gauge("rooms", "Rooms in memory.")
        self.roomBytes = gauge("room_bytes", "About what they take.")
        self.waiting = gauge("joins_waiting", "Joins and reads of rooms that wait for the database.")
        self.lag = gauge("shard_lag_updates", "How far the shard that is furthest behind is behind.")
        self.questions = gauge("database_requests", "Questions to the database that wait or are under way.")
        self.connections = gauge("database_connections", "Connections that are up.")
        self.gatewaysUp = metrics.gauge(
            "touchsync_fanout_links_up", "Instances that are connected.", labels: ["stage": "gateway"])
        self.outboxBytes = gauge("outbox_bytes", "Bytes that wait for gateways.")
        self.blocked = gauge("gateways_blocked", "Gateways whose link takes no more at present.")
    }

    /// An envelope left for a gateway.
    func sent(bytes: Int) {
        self.envelopes.add()
        self.envelopeBytes.observe(Double(bytes))
    }

    /// Shows the present figures.
    func observe(_ core: borrowing Fanout, database: RoomDatabase, gateways: borrowing GatewayTable) {
        let counters = core.counters
        self.updates.follow(counters.updates)
        self.duplicates.follow(counters.duplicates)
        self.previews.follow(counters.previews)
        self.passed.follow(counters.previewsPassed)
        self.parked.follow(counters.previewsParked)
        for (mirror, count) in zip(self.dropped, counters.previewsDropped) { mirror.follow(count) }
        self.holes.follow(counters.holes)
        self.rebases.follow(counters.rebases)
        self.replacements.follow(counters.replacements)
        self.strays.follow(counters.strays)
        self.loads.follow(counters.loads)
        self.snapshots.follow(counters.snapshots)
        self.replays.follow(counters.replays)
        self.resets.follow(counters.resets)
        self.refusals.follow(counters.refusals)
        self.rooms.set(core.roomCount)
        self.roomBytes.set(core.bytes)
        self.waiting.set(core.waitingCount)
        self.lag.set(Double(core.lag))
        self.questions.set(database.openCount)
        self.connections.set(database.upCount)
        self.gatewaysUp.set(gateways.entries.count)
        self.outboxBytes.set(gateways.entries.reduce(0) { $0 + $1.outbox.bytes })
        self.blocked.set(gateways.entries.count { $0.outbox.isBlocked })
    }
}
