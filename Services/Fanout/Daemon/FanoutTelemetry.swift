internal import Boot
internal import FanoutCore

/// The fan-out's figures for operators. Instruments are made once; what the core counts is followed now and then.
final class FanoutTelemetry: Sendable {
    /// Envelopes that could not be read.
    let malformed: Counter
    /// Times that a gateway was so slow that what waited for it was thrown away.
    let overflows: Counter
    /// What the core counts, and the counters that follow it.
    private let followed: [(counter: Counter, count: @Sendable (FanoutCounters) -> Int)]
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
        func gauge(_ name: String, _ help: String) -> Gauge {
            metrics.gauge("touchsync_fanout_\(name)", help)
        }
        var followed: [(counter: Counter, count: @Sendable (FanoutCounters) -> Int)] = []
        func follow(_ count: @escaping @Sendable (FanoutCounters) -> Int, _ name: String, _ help: String) {
            followed.append((counter(name, help), count))
        }
        self.malformed = counter("envelopes_malformed_total", "Envelopes that could not be read to their end.")
        self.overflows = counter(
            "gateway_overflows_total", "Times that what waited for a slow gateway was thrown away.")
        follow(\.updates, "updates_received_total", "Updates that came, directly or from the log.")
        follow(\.duplicates, "updates_duplicate_total", "Updates that were there already.")
        follow(\.previews, "previews_received_total", "Previews that came.")
        follow(\.previewsPassed, "previews_passed_total", "Previews that went on, each counted once.")
        follow(\.previewsParked, "previews_parked_total", "Previews that waited for an update.")
        let drops = metrics.counters(
            "touchsync_fanout_previews_dropped_total", "Previews that went nowhere.", label: "reason",
            of: PreviewDrop.self)
        for reason in PreviewDrop.allCases { followed.append((drops[reason], { $0.dropped(reason) })) }
        follow(\.holes, "holes_total", "Holes in a shard that the log had to fill.")
        follow(\.rebases, "rebases_total", "Shards whose rooms were loaded anew.")
        follow(
            \.replacements, "histories_replaced_total",
            "Shards whose history in the database was replaced under the same name.")
        follow(
            \.strays, "updates_stray_total",
            "Published updates that are not part of the history that is followed.")
        follow(\.loads, "room_loads_total", "Rooms loaded from the database.")
        follow(\.snapshots, "snapshots_total", "Joins answered with the whole room.")
        follow(\.replays, "replays_total", "Joins and gateways answered with exactly what they missed.")
        follow(\.resets, "resets_total", "Gateways told that their room must be taken anew.")
        follow(\.refusals, "refusals_total", "Joins and reads of rooms that were refused.")
        self.followed = followed
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
        for (counter, count) in self.followed { counter.follow(count(counters)) }
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
