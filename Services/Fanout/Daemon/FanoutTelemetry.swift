internal import Boot
internal import FanoutCore
internal import NIOConcurrencyHelpers

/// The fan-out's figures for operators: a copy of the core's counters, laid down in every turn and read when scraped.
final class FanoutTelemetry: Sendable {
    private struct Figures: Sendable {
        var counters = FanoutCounters()
        var rooms = 0
        var bytes = 0
        var waiting = 0
        var lag: UInt64 = 0
    }

    private let figures = NIOLockedValueBox(Figures())
    private let malformed: Counter

    init(_ registry: MetricsRegistry) {
        let figures = self.figures
        func figure(_ name: String, _ help: String, _ read: @escaping @Sendable (Figures) -> Double) {
            registry.gauge("touchsync_fanout_\(name)", help) { read(figures.withLockedValue { $0 }) }
        }
        figure("rooms", "Rooms in memory.") { Double($0.rooms) }
        figure("room_bytes", "About what they take.") { Double($0.bytes) }
        figure("waiting", "Joins and reads that wait.") { Double($0.waiting) }
        figure("lag_updates", "Updates that the shard furthest behind is behind.") { Double($0.lag) }
        figure("updates_total", "Updates that came.") { Double($0.counters.updates) }
        figure("duplicate_updates_total", "Updates that were there already.") { Double($0.counters.duplicates) }
        figure("previews_total", "Previews that came.") { Double($0.counters.previews) }
        figure("previews_passed_total", "Previews that went on.") { Double($0.counters.previewsPassed) }
        figure("holes_total", "Holes that the log had to fill.") { Double($0.counters.holes) }
        figure("loads_total", "Rooms loaded from the database.") { Double($0.counters.loads) }
        figure("snapshots_total", "Joins answered with the whole room.") { Double($0.counters.snapshots) }
        figure("replays_total", "Joins answered with what they missed.") { Double($0.counters.replays) }
        figure("resets_total", "Gateways that had to take a room anew.") { Double($0.counters.resets) }
        self.malformed = registry.counter(
            "touchsync_fanout_malformed_envelopes_total", "Envelopes that could not be read.")
    }

    func update(_ core: Fanout) {
        self.figures.withLockedValue {
            $0.counters = core.counters
            $0.rooms = core.roomCount
            $0.bytes = core.bytes
            $0.waiting = core.waitingCount
            $0.lag = core.lag
        }
    }

    func envelopeMalformed() {
        self.malformed.add(1)
    }
}
