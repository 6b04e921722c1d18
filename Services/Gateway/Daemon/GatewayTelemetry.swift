import Boot
import GatewayCore

/// The gateway's figures for operators. Instruments are made once and updated a moment after something happened.
final class GatewayTelemetry: Sendable {
    private let events: Counter
    private let previewsIn: Counter
    private let previewsSent: Counter
    private let previewsHeld: Counter
    private let commits: Counter
    private let resent: Counter
    private let acknowledged: Counter
    private let refused: Counter
    private let updates: Counter
    private let holes: Counter
    private let resyncs: Counter
    private let fallenBehind: Counter
    private let connections: Gauge
    private let custody: Gauge

    init(_ metrics: MetricsRegistry) {
        func counter(_ name: String, _ help: String) -> Counter {
            metrics.counter("pipeline_gateway_\(name)", help)
        }
        self.events = counter("events_received_total", "Events from apps.")
        self.previewsIn = counter("previews_received_total", "Previews from apps.")
        self.previewsSent = counter("previews_sent_total", "Previews handed to coalescers.")
        self.previewsHeld = counter("previews_held_total", "Previews folded by a rate limit or a pending commit.")
        self.commits = counter("commits_received_total", "Commits taken into custody.")
        self.resent = counter("commits_resent_total", "Commits sent again.")
        self.acknowledged = counter("commits_acknowledged_total", "Commits acknowledged to apps.")
        self.refused = counter("refusals_total", "Events refused.")
        self.updates = counter("updates_delivered_total", "Updates delivered to rooms.")
        self.holes = counter("holes_total", "Holes found in rooms' streams.")
        self.resyncs = counter("resyncs_total", "Rooms whose members had to join again.")
        self.fallenBehind = counter("slow_members_total", "Members that had to join again as they read too slowly.")
        self.connections = metrics.gauge("pipeline_gateway_connections", "Apps connected.")
        self.custody = metrics.gauge("pipeline_gateway_commits_in_custody", "Commits without a result.")
    }

    /// Shows the core's present figures.
    func observe(_ core: Gateway) {
        let counters = core.counters
        self.events.follow(counters.events)
        self.previewsIn.follow(counters.previewsIn)
        self.previewsSent.follow(counters.previewsSent)
        self.previewsHeld.follow(counters.previewsHeld)
        self.commits.follow(counters.commits)
        self.resent.follow(counters.resent)
        self.acknowledged.follow(counters.acknowledged)
        self.refused.follow(counters.refused)
        self.updates.follow(counters.updates)
        self.holes.follow(counters.holes)
        self.resyncs.follow(counters.resyncs)
        self.fallenBehind.follow(counters.fallenBehind)
        self.connections.set(core.connectionCount)
        self.custody.set(core.custodyCount)
    }
}
