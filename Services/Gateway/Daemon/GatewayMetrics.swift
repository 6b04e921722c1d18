import Boot
import GatewayCore
import NIOConcurrencyHelpers
import NIOCore

/// The gateway's figures for Prometheus: a copy of the core's counters, laid down by the event loop after each batch
/// and read by the admin server's thread.
final class GatewayMetrics: Sendable {
    struct Figures: Sendable {
        var counters = GatewayCounters()
        var connections = 0
        var custody = 0
    }

    private let figures = NIOLockedValueBox(Figures())

    init(_ registry: MetricsRegistry) {
        let figures = self.figures
        func gauge(_ name: String, _ help: String, _ read: @escaping @Sendable (Figures) -> Double) {
            registry.gauge("touchsync_gateway_\(name)", help) { read(figures.withLockedValue { $0 }) }
        }
        gauge("connections", "Apps connected.") { Double($0.connections) }
        gauge("commits_in_custody", "Commits without a result.") { Double($0.custody) }
        gauge("events_total", "Events from apps.") { Double($0.counters.events) }
        gauge("previews_in_total", "Previews from apps.") { Double($0.counters.previewsIn) }
        gauge("previews_sent_total", "Previews handed to coalescers.") { Double($0.counters.previewsSent) }
        gauge("previews_held_total", "Previews folded by a rate limit or a pending commit.") {
            Double($0.counters.previewsHeld)
        }
        gauge("commits_total", "Commits taken into custody.") { Double($0.counters.commits) }
        gauge("commits_resent_total", "Commits sent again.") { Double($0.counters.resent) }
        gauge("commits_acknowledged_total", "Commits acknowledged.") { Double($0.counters.acknowledged) }
        gauge("refused_total", "Events refused.") { Double($0.counters.refused) }
        gauge("updates_total", "Updates delivered to rooms.") { Double($0.counters.updates) }
        gauge("holes_total", "Holes found in rooms' streams.") { Double($0.counters.holes) }
        gauge("resyncs_total", "Rooms whose members had to join again.") { Double($0.counters.resyncs) }
    }

    /// Takes over the present figures.
    func update(_ figures: Figures) {
        self.figures.withLockedValue { $0 = figures }
    }
}
