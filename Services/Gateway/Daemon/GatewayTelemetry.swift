import Boot
import GatewayCore
import SocketIOServer
import Stages
import Timing
import Trust
import Wire

/// The gateway's figures for operators. Instruments are made once and updated a moment after something happened.
final class GatewayTelemetry: Sendable {
    /// Peers and records that were refused.
    let linkRefusals: LinkTelemetry
    private let events: Counter
    private let previewsIn: Counter
    private let previewsSent: Counter
    private let previewsHeld: Counter
    private let previewsHidden, awareness, signalsDropped: Counter
    private let commits: Counter
    private let resent: Counter
    private let traced, tracesOverRate: Counter
    private let acknowledged: Counter
    private let refused: Counter
    private let overUserCommitRate, overUserRequestRate: Counter
    private let revoked: Counter
    private let updates: Counter
    private let holes: Counter
    private let resyncs: Counter
    private let fallenBehind: Counter
    private let foreignSessions: Counter
    private let refusedConnections, refusedSessions, pausedReads, shedConnections: Counter
    private let tlsHandshakes, tlsFailures: Counter
    private let heldBytes, addresses: Gauge
    private let busy, unreadClosed: Counter
    private let heldTotal: Counter
    private let previewsDropped: Counter
    private let dropped: Counter
    private let malformed: Counter
    private let turnedAway: Counter
    private let connections: Gauge
    private let custody: Gauge
    private let custodyBytes: Gauge
    private let custodyOldest: Gauge
    private let held: Gauge
    private let lanesClosed: Gauge
    private let joins: Gauge
    private let joinsQueued: Gauge
    private let answerBytes, commitsWaiting: Gauge
    private let reads: Gauge
    private let lateness, gatheringShare: Gauge
    private let commitTime: Gauge
    private let commitLatency, previewAge: Histogram
    private let slowApps: Gauge
    private let usualCommitTime: Gauge
    private let paceChanges: Counter
    private let paces: [(pace: Pace, rooms: Gauge)]
    private let waitingRooms: Gauge
    private let linksUp: [Stage: Gauge]
    private let reconnects: Counter

    init(_ context: DaemonContext) {
        let metrics = context.metrics
        func counter(_ name: String, _ help: String) -> Counter {
            metrics.counter("touchsync_gateway_\(name)", help)
        }
        self.linkRefusals = LinkTelemetry(context, prefix: "touchsync_gateway_")
        self.events = counter("events_received_total", "Events from apps.")
        self.previewsIn = counter("previews_received_total", "Previews from apps.")
        self.previewsSent = counter("previews_sent_total", "Previews handed to coalescers.")
        self.previewsHeld = counter("previews_held_total", "Previews folded by a rate limit or a pending commit.")
        self.previewsHidden = counter(
            "previews_hidden_total", "Previews not sent to a member because they were outside of its viewport.")
        self.awareness = counter("awareness_received_total", "Cursors, selections and other awareness from apps.")
        self.signalsDropped = counter(
            "signals_dropped_total", "Signals that a member did not get because too much waited for it.")
        self.commits = counter("commits_received_total", "Commits taken into custody.")
        self.resent = counter("commits_resent_total", "Commits sent again.")
        self.traced = counter("commits_traced_total", "Commits whose way is logged.")
        self.tracesOverRate = counter(
            "traces_over_rate_total", "Commits whose way was not logged because there were too many to be logged.")
        self.acknowledged = counter("commits_acknowledged_total", "Commits acknowledged to apps.")
        self.refused = counter("refusals_total", "Events refused.")
        func overUserRate(_ limit: String) -> Counter {
            metrics.counter(
                "touchsync_gateway_user_rate_refusals_total",
                "Commits, and requests over HTTP, refused because their user sent too many.", labels: ["limit": limit])
        }
        self.overUserCommitRate = overUserRate("commits")
        self.overUserRequestRate = overUserRate("requests")
        self.revoked = counter("revoked_total", "Connections ended because their tokens were not valid any more.")
        self.updates = counter("updates_delivered_total", "Updates delivered to rooms.")
        self.holes = counter("holes_total", "Holes found in rooms' streams.")
        self.resyncs = counter("resyncs_total", "Rooms whose members had to join again.")
        self.fallenBehind = counter("slow_members_total", "Members that had to join again as they read too slowly.")
        self.foreignSessions = counter(
            "foreign_sessions_total", "Requests for sessions of other gateways, which a proxy should send there.")
        self.refusedConnections = counter(
            "refused_connections_total", "Connections over a limit of their number or rate.")
        self.refusedSessions = counter("refused_sessions_total", "Sessions that a limit or the memory budget refused.")
        self.pausedReads = counter(
            "paused_reads_total", "Times that a connection was left unread because it had sent too much.")
        self.shedConnections = counter(
            "shed_connections_total", "Connections and sessions closed because the memory budget was exceeded.")
        self.tlsHandshakes = counter("tls_handshakes_total", "TLS handshakes completed with clients.")
        self.tlsFailures = counter(
            "tls_failures_total", "Connections that ended before their TLS handshake was complete.")
        self.heldBytes = metrics.gauge(
            "touchsync_gateway_connection_bytes",
            "Bytes that connections and sessions hold, and that are kept for their apps, of the memory budget.")
        self.addresses = metrics.gauge(
            "touchsync_gateway_addresses", "Client addresses that are counted at present; loopback is not.")
        self.busy = counter("busy_total", "Commits, joins and reads refused because too many waited.")
        self.unreadClosed = counter(
            "unread_closed_total", "Connections closed because answers that they did not read kept others waiting.")
        self.heldTotal = counter("commits_delayed_total", "Commits that had to wait for credit.")
        self.previewsDropped = counter(
            "previews_dropped_total", "Previews dropped because one connection had too many elements in hand.")
        self.dropped = counter("envelopes_dropped_total", "Envelopes that a peer was too slow for.")
        self.malformed = counter("envelopes_malformed_total", "Envelopes that could not be read to their end.")
        self.turnedAway = counter("handshakes_refused_total", "Handshakes told to come later.")
        self.connections = metrics.gauge("touchsync_gateway_connections", "Apps connected.")
        self.custody = metrics.gauge("touchsync_gateway_commits_in_custody", "Commits without a result.")
        self.custodyBytes = metrics.gauge("touchsync_gateway_custody_bytes", "About their bytes.")
        self.custodyOldest = metrics.gauge(
            "touchsync_gateway_custody_oldest_seconds", "How long the oldest of them has waited.")
        self.held = metrics.gauge("touchsync_gateway_commits_held", "Commits in custody that wait for credit.")
        self.lanesClosed = metrics.gauge(
            "touchsync_gateway_commit_lanes_closed", "Committers that have given no more credit.")
        self.joins = metrics.gauge("touchsync_gateway_joins_waiting", "Joins that wait for their answer.")
        self.joinsQueued = metrics.gauge("touchsync_gateway_joins_queued", "Of those, joins that wait for their turn.")
        self.answerBytes = metrics.gauge(
            "touchsync_gateway_answer_bytes", "Bytes of answers to joins and reads that apps have not read yet.")
        self.commitsWaiting = metrics.gauge(
            "touchsync_gateway_commits_waiting", "Commits without a number that wait for their turn.")
        self.reads = metrics.gauge("touchsync_gateway_reads_waiting", "HTTP reads that wait for their answer.")
        self.gatheringShare = metrics.gauge(
            "touchsync_gateway_gathering_ratio",
            "How long previews wait for each other, relative to the longest wait: 0 while there is CPU to spare.")
        self.lateness = metrics.gauge(
            "touchsync_gateway_preview_lateness_seconds", "How late previews were delivered on average, lately.")
        self.commitTime = metrics.gauge(
            "touchsync_gateway_commit_seconds", "How long commits took on average from custody to result, lately.")
        self.usualCommitTime = metrics.gauge(
            "touchsync_gateway_usual_commit_seconds", "How long they take when previews leave them alone.")
        self.commitLatency = metrics.histogram(
            "touchsync_gateway_commit_latency_seconds", "How long commits took from their acceptance to their results.")
        self.previewAge = metrics.histogram(
            "touchsync_gateway_preview_age_seconds",
            "How old previews were when they were delivered, of some whose movers are connected here, too.")
        self.slowApps = metrics.gauge(
            "touchsync_gateway_slow_apps", "Apps that have not read what is sent to them for a second or longer.")
        self.paceChanges = counter("pace_changes_total", "Times that a room was slowed down or sped up.")
        self.paces = [(Pace.half, "33"), (.quarter, "66"), (.slow, "200"), (.commitsOnly, "none")].map { pace, label in
            let rooms = metrics.gauge(
                "touchsync_gateway_slowed_rooms", "Rooms that get previews less often than others, by interval, ms.",
                labels: ["interval": label])
            return (pace, rooms)
        }
        self.waitingRooms = metrics.gauge(
            "touchsync_gateway_rooms_waiting", "Rooms whose previews wait for their pace or turn.")
        let stages: [Stage] = [.coalescer, .committer, .fanout]
        self.linksUp = Dictionary(
            uniqueKeysWithValues: stages.map { stage in
                let up = metrics.gauge(
                    "touchsync_gateway_links_up", "Instances that are connected.", labels: ["stage": "\(stage)"])
                return (stage, up)
            })
        self.reconnects = counter("reconnects_total", "Links that were opened again.")
    }

    /// How many times links of all stages were opened again.
    func reconnects(_ count: UInt64) { self.reconnects.follow(count) }

    /// How long previews wait for each other.
    func gathering(_ level: GatheringLevel) {
        self.gatheringShare.set(Double(level.thousandths) / Double(GatheringLevel.full.thousandths))
    }

    /// Shows the server's present figures.
    func observe(_ server: SocketIOServer) {
        self.foreignSessions.follow(server.statistics.foreignSessions)
        self.refusedConnections.follow(server.statistics.refusedConnections)
        self.refusedSessions.follow(server.statistics.refusedSessions)
        self.pausedReads.follow(server.statistics.pausedReads)
        self.shedConnections.follow(server.statistics.shedConnections)
        self.tlsHandshakes.follow(server.statistics.tlsHandshakes)
        self.tlsFailures.follow(server.statistics.tlsFailures)
        self.heldBytes.set(server.heldBytes)
        self.addresses.set(server.addressCount)
    }

    /// An envelope could not be read to its end.
    func envelopeMalformed() { self.malformed.add() }

    /// A handshake was told to come later.
    func handshakeRefused() { self.turnedAway.add() }

    /// How long the oldest commit in custody has waited.
    func custodyAge(_ age: Nanoseconds) { self.custodyOldest.set(age.seconds) }

    /// Members did not get a signal.
    func signalsDropped(_ count: Int) { self.signalsDropped.add(count) }

    /// How many apps do not read.
    func slowApps(_ count: Int) { self.slowApps.set(count) }

    /// Shows the core's present figures.
    func observe(_ core: borrowing Gateway, _ routes: borrowing MeshRoutes) {
        let counters = core.counters
        self.events.follow(counters.events)
        self.previewsIn.follow(counters.previewsIn)
        self.previewsSent.follow(counters.previewsSent)
        self.previewsHeld.follow(counters.previewsHeld)
        self.previewsHidden.follow(counters.previewsHidden)
        self.awareness.follow(counters.awareness)
        self.commits.follow(counters.commits)
        self.resent.follow(counters.resent)
        self.traced.follow(counters.traced)
        self.tracesOverRate.follow(counters.tracesOverRate)
        self.acknowledged.follow(counters.acknowledged)
        self.refused.follow(counters.refused)
        self.overUserCommitRate.follow(counters.overUserCommitRate)
        self.overUserRequestRate.follow(counters.overUserRequestRate)
        self.revoked.follow(counters.revoked)
        self.updates.follow(counters.updates)
        self.holes.follow(counters.holes)
        self.resyncs.follow(counters.resyncs)
        self.fallenBehind.follow(counters.fallenBehind)
        self.connections.set(core.connections.count)
        self.custody.set(core.commits.custody.count)
        self.busy.follow(counters.busy)
        self.unreadClosed.follow(counters.unreadClosed)
        self.heldTotal.follow(counters.held)
        self.previewsDropped.follow(counters.previewsDropped)
        self.custodyBytes.set(core.commits.custody.bytes)
        self.held.set(core.commits.custody.heldCount)
        for (stage, owners) in routes.owners { self.linksUp[stage]?.set(owners.upCount) }
        self.dropped.follow(routes.droppedEnvelopes)
        self.lanesClosed.set(routes.committers.outboxes.closedCount)
        self.joins.set(core.joins.count)
        self.joinsQueued.set(core.joins.queuedCount)
        self.answerBytes.set(core.joins.answers.bytes)
        self.commitsWaiting.set(core.commits.custody.reservedCount)
        self.reads.set(core.requests.readCount)
        self.lateness.set(core.rooms.paces.lateness.seconds)
        self.commitTime.set(core.rooms.paces.commitTime.seconds)
        self.usualCommitTime.set((core.rooms.paces.usualCommitTime ?? .zero).seconds)
        self.commitLatency.follow(core.commits.latency)
        self.previewAge.follow(core.rooms.previewAges)
        self.paceChanges.follow(core.rooms.paces.changes)
        for (pace, rooms) in self.paces { rooms.set(core.rooms.paces.count(at: pace)) }
        self.waitingRooms.set(core.rooms.waitingCount)
    }
}
