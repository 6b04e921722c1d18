import Boot
import GatewayCore
import SocketIOServer
import Stages
import Timing
import Trust
import Wire

/// The gateway's figures for operators. Instruments are made once and updated a moment after something happened.
final class GatewayTelemetry: Sendable {
    let links: LinkTelemetry
    private let envelopesDropped: Counter
    let handshakesRefused: Counter
    let signalsDropped: Counter
    let slowApps: Gauge
    /// Seconds.
    let inFlightOldest: Gauge
    private let core: MetricsTable<Gateway>
    private let server: MetricsTable<SocketIOServer>
    private let lanesClosed: Gauge
    private let waitShare: Gauge
    private let commitLatency, previewAge: Histogram

    private static let prefix = "touchsync_gateway_"

    init(_ context: DaemonContext) {
        let metrics = context.metrics
        func counter(_ name: String, _ help: String) -> Counter { metrics.counter(Self.prefix + name, help) }
        func gauge(_ name: String, _ help: String) -> Gauge { metrics.gauge(Self.prefix + name, help) }
        self.links = LinkTelemetry(context, peers: [.coalescer, .committer, .fanout])
        self.core = Self.core(metrics)
        self.server = Self.server(metrics)
        self.envelopesDropped = counter("envelopes_dropped_total", "Envelopes that a peer was too slow for.")
        self.handshakesRefused = counter("handshakes_refused_total", "Handshakes told to come later.")
        self.signalsDropped = counter(
            "signals_dropped_total", "Signals that a member did not get because too much waited for it.")
        self.slowApps = gauge("slow_apps", "Apps that have not read what is sent to them for a second or longer.")
        self.inFlightOldest = gauge("commits_in_flight_oldest_seconds", "How long the oldest of them has waited.")
        self.lanesClosed = gauge("committers_without_credit", "Committers that have given no more credit.")
        self.waitShare = gauge(
            "previews_wait_ratio",
            "How long previews wait for each other, relative to the longest wait: 0 while there is CPU to spare.")
        self.commitLatency = metrics.histogram(
            "\(Self.prefix)commit_latency_seconds", "How long commits took from their acceptance to their results.")
        self.previewAge = metrics.histogram(
            "\(Self.prefix)preview_age_seconds",
            "How old previews were when they were delivered, of some whose publishers are connected here, too.")
    }

    private static func core(_ metrics: MetricsRegistry) -> MetricsTable<Gateway> {
        var core = MetricsTable<Gateway>(metrics, prefix: Self.prefix)
        core.counter("events_received_total", "Events from apps.", \.eventsTotal)
        core.counter("refusals_total", "Events refused.", \.refusedTotal)
        core.counter("busy_refusals_total", "Commits, joins and reads refused because too many waited.", \.busyTotal)
        core.gauge("connections", "Apps connected.", \.relay.connections.count)
        core.counter("previews_received_total", "Previews from apps.", \.relay.connections.previewsTotal)
        core.counter(
            "previews_held_total", "Previews folded by a rate limit or a pending commit.",
            \.relay.connections.previewsHeldTotal)
        core.counter(
            "previews_dropped_total", "Previews dropped because one connection had too many elements in hand.",
            \.relay.connections.previewsDroppedTotal)
        core.counter(
            "awareness_received_total", "Cursors, selections and other awareness from apps.",
            \.relay.connections.awarenessTotal)
        core.counter(
            "connections_revoked_total", "Connections ended because their tokens were not valid any more.",
            \.authenticator.revokedTotal)
        for (limit, total) in [
            ("commits", \.commits.overUserRateTotal), ("requests", \.requests.overUserRateTotal),
        ] as [(String, any KeyPath<Gateway, UInt64> & Sendable)] {
            core.counter(
                "user_rate_refusals_total",
                "Commits, and requests over HTTP, refused because their user sent too many.", labels: ["limit": limit]
            ) { $0[keyPath: total] }
        }
        Self.addCommits(to: &core)
        Self.addJoins(to: &core)
        Self.addRooms(to: &core)
        return core
    }

    private static func addCommits(to core: inout MetricsTable<Gateway>) {
        core.counter("commits_accepted_total", "Commits accepted.", \.commits.inFlight.acceptedTotal)
        core.counter("commits_resent_total", "Commits sent again.", \.commits.inFlight.resentTotal)
        core.counter("commits_delayed_total", "Commits that had to wait for credit.", \.commits.inFlight.heldTotal)
        core.counter("commits_acknowledged_total", "Commits acknowledged to apps.", \.commits.acknowledgedTotal)
        core.counter("commits_traced_total", "Commits whose way is logged.", \.commits.traces.tracedTotal)
        core.counter(
            "traces_over_rate_total", "Commits whose way was not logged because there were too many to be logged.",
            \.commits.traces.overRateTotal)
        core.gauge("commits_in_flight", "Commits without a result.", \.commits.inFlight.count)
        core.gauge("commits_in_flight_bytes", "About their bytes.", \.commits.inFlight.bytes)
        core.gauge("commits_held", "Commits in flight that wait for credit.", \.commits.inFlight.heldCount)
        core.gauge(
            "commits_waiting", "Commits without a number that wait for their turn.", \.commits.inFlight.reservedCount)
    }

    private static func addJoins(to core: inout MetricsTable<Gateway>) {
        core.gauge("joins_waiting", "Joins that wait for their answer.", \.joins.count)
        core.gauge("joins_queued", "Of those, joins that wait for their turn.", \.joins.queuedCount)
        core.gauge("reads_waiting", "HTTP reads that wait for their answer.", \.requests.readCount)
        core.gauge(
            "answer_bytes", "Bytes of answers to joins and reads that apps have not read yet.", \.joins.answers.bytes)
        core.counter(
            "connections_closed_unread_total",
            "Connections closed because answers that they did not read kept others waiting.",
            \.joins.answers.closedTotal)
    }

    private static func addRooms(to core: inout MetricsTable<Gateway>) {
        core.counter("updates_delivered_total", "Updates delivered to rooms.", \.relay.rooms.streams.updatesTotal)
        core.counter("gaps_total", "Gaps found in rooms' streams.", \.relay.rooms.streams.gapsTotal)
        core.counter("resyncs_total", "Rooms whose members had to join again.", \.relay.rooms.streams.resyncsTotal)
        core.counter(
            "slow_members_total", "Members that had to join again as they read too slowly.",
            \.relay.rooms.streams.fallenBehindTotal)
        core.counter("previews_sent_total", "Previews handed to coalescers.", \.relay.rooms.previewsSentTotal)
        core.counter(
            "previews_hidden_total", "Previews not sent to a member because they were outside of its viewport.",
            \.relay.rooms.previewsHiddenTotal)
        core.gauge("rooms_waiting", "Rooms whose previews wait for their interval or turn.", \.relay.rooms.waitingCount)
        core.gauge(
            "preview_lateness_seconds", "How late previews were delivered on average, lately.",
            \.relay.rooms.intervals.lateness.seconds)
        core.counter(
            "interval_changes_total", "Times that a room's flush interval changed.", \.relay.rooms.intervals.changes)
        for interval in FlushInterval.allCases.dropFirst() {
            core.gauge(
                "slowed_rooms", "Rooms that get previews less often than others, by interval.",
                labels: ["interval_ms": String(interval.rawValue)]
            ) { Double($0.relay.rooms.intervals.count(of: interval)) }
        }
    }

    private static func server(_ metrics: MetricsRegistry) -> MetricsTable<SocketIOServer> {
        var server = MetricsTable<SocketIOServer>(metrics, prefix: Self.prefix)
        server.counter(
            "foreign_sessions_total", "Requests for sessions of other gateways, which a proxy should send there.",
            \.statistics.foreignSessions)
        server.counter(
            "connections_refused_total", "Connections over a limit of their number or rate.",
            \.statistics.refusedConnections)
        server.counter(
            "sessions_refused_total", "Sessions that a limit or the memory budget refused.",
            \.statistics.refusedSessions)
        server.counter(
            "reads_paused_total", "Times that a connection was left unread because it had sent too much.",
            \.statistics.pausedReads)
        server.counter(
            "connections_shed_total", "Connections and sessions closed because the memory budget was exceeded.",
            \.statistics.shedConnections)
        server.counter("tls_handshakes_total", "TLS handshakes completed with clients.", \.statistics.tlsHandshakes)
        server.counter(
            "tls_failures_total", "Connections that ended before their TLS handshake was complete.",
            \.statistics.tlsFailures)
        server.gauge(
            "connection_bytes",
            "Bytes that connections and sessions hold, and that are kept for their apps, of the memory budget.",
            \.heldBytes)
        server.gauge("addresses", "Client addresses that are counted at present; loopback is not.", \.addressCount)
        return server
    }

    func previewsWait(_ share: Double) {
        self.waitShare.set(share)
    }

    func observe(_ server: SocketIOServer) { self.server.publish(server) }

    func observe(_ core: borrowing Gateway, _ routes: borrowing MeshRoutes) {
        self.core.publish(core)
        for (stage, owners) in routes.owners { self.links.connected(owners.upCount, of: stage) }
        self.envelopesDropped.follow(routes.droppedEnvelopes)
        self.lanesClosed.set(routes.committers.outboxes.closedCount)
        self.commitLatency.follow(core.commits.latency)
        self.previewAge.follow(core.relay.rooms.previewAges)
    }
}

/// Measures how long the oldest commit has waited for its result, and notes for operators when that is long.
struct InFlightWatch {
    private let note: HealthNote
    private let telemetry: GatewayTelemetry

    /// What is long.
    private static let slow = Nanoseconds.seconds(2)

    init(note: HealthNote, telemetry: GatewayTelemetry) {
        self.note = note
        self.telemetry = telemetry
    }

    /// - Parameter age: of the oldest commit without a result.
    func review(_ age: Nanoseconds) {
        self.telemetry.inFlightOldest.set(age.seconds)
        let seconds = age.milliseconds / 1000
        self.note.say(age > Self.slow ? "commits have waited for their results for \(seconds) s" : nil)
    }
}
