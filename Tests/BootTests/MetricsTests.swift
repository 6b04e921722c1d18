import Glibc
import Testing
import Timing
import TimingTestKit

@testable import Boot

@Suite struct MetricsTests {
    private enum Reason: String, CaseIterable { case stale, full }

    @Test func everyKindIsRendered() {
        let metrics = MetricsRegistry()
        let counter = metrics.counter("touchsync_x_items_total", "Items.", labels: ["lane": "a\"b\\c\nd"])
        counter.add()
        counter.add(4)
        counter.add(-7)
        metrics.gauge("touchsync_x_depth", "Depth\nof it.").set(2.5)
        metrics.gauge("touchsync_x_read", "Read when scraped.") { .nan }
        let drops = metrics.counters("touchsync_x_drops_total", "Drops.", label: "reason", of: Reason.self)
        drops[.full].add(2)
        #expect(
            metrics.text() == """
                # HELP touchsync_x_items_total Items.
                # TYPE touchsync_x_items_total counter
                touchsync_x_items_total{lane="a\\"b\\\\c\\nd"} 5
                # HELP touchsync_x_depth Depth\\nof it.
                # TYPE touchsync_x_depth gauge
                touchsync_x_depth 2.5
                # HELP touchsync_x_read Read when scraped.
                # TYPE touchsync_x_read gauge
                touchsync_x_read NaN
                # HELP touchsync_x_drops_total Drops.
                # TYPE touchsync_x_drops_total counter
                touchsync_x_drops_total{reason="stale"} 0
                touchsync_x_drops_total{reason="full"} 2

                """)
    }

    @Test func aLoopShowsItsFiguresFiveTimesASecond() {
        var pace = FigurePace()
        let turns = stride(from: UInt64(7_000), to: 8_000, by: 1).map { Instant.start + .milliseconds($0) }
        let looks = turns.filter { pace.isDue(at: $0) }
        #expect(looks == stride(from: UInt64(7_000), to: 8_000, by: 200).map { Instant.start + .milliseconds($0) })
        let afterRest = ([9_500_000_000, 9_500_000_000, 9_700_000_000] as [Instant]).map { pace.isDue(at: $0) }
        #expect(afterRest == [true, false, true])
    }

    @Test func spansAreCountedInTheFirstBucketThatHoldsThem() {
        var tally = LatencyTally()
        for (index, bound) in LatencyTally.bounds.enumerated() {
            tally.note(bound)
            tally.note(bound + 1)
            #expect(tally.counts[index] == (index == 0 ? 1 : 2))
        }
        #expect(tally.counts.last == 1)
        tally.note(.forever)
        #expect(tally.counts.last == 2 && tally.sum == .forever)
    }

    @Test func aHistogramFollowsATally() {
        let metrics = MetricsRegistry()
        let histogram = metrics.histogram("touchsync_x_seconds", "X.")
        var tally = LatencyTally()
        tally.note(.milliseconds(2))
        tally.note(.seconds(20))
        histogram.follow(tally)
        histogram.follow(tally)
        let text = metrics.text()
        for line in [
            "_bucket{le=\"0.001\"} 0", "_bucket{le=\"0.002\"} 1", "_bucket{le=\"10\"} 1", "_sum 20.002", "_count 2",
        ] {
            #expect(text.contains("touchsync_x_seconds\(line)\n"))
        }
    }

    @Test func histogramsAreCumulative() {
        let metrics = MetricsRegistry()
        let histogram = metrics.histogram("touchsync_x_seconds", "Time.", labels: ["op": "a"], buckets: [0.5, 1])
        histogram.observe(0.5)
        histogram.observe(0.75, count: 2)
        histogram.observe(3)
        histogram.observe(.nan)
        histogram.observe(.infinity)
        #expect(
            metrics.text() == """
                # HELP touchsync_x_seconds Time.
                # TYPE touchsync_x_seconds histogram
                touchsync_x_seconds_bucket{op="a",le="0.5"} 1
                touchsync_x_seconds_bucket{op="a",le="1"} 3
                touchsync_x_seconds_bucket{op="a",le="+Inf"} 4
                touchsync_x_seconds_sum{op="a"} 5
                touchsync_x_seconds_count{op="a"} 4

                """)
    }

    @Test func theSameNameAndLabelsAreTheSameInstrument() {
        let metrics = MetricsRegistry()
        let first = metrics.counter("touchsync_x_total", "X.", labels: ["a": "1"])
        #expect(metrics.counter("touchsync_x_total", "X.", labels: ["a": "1"]) === first)
        #expect(metrics.counter("touchsync_x_total", "X.", labels: ["a": "2"]) !== first)
    }

    @Test(.timeLimit(.minutes(1))) func updatesFromManyThreadsAddUp() async {
        let metrics = MetricsRegistry()
        let counter = metrics.counter("touchsync_x_total", "X.")
        let histogram = metrics.histogram("touchsync_x_seconds", "X.")
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<1000 {
                        counter.add()
                        histogram.observe(0.001)
                    }
                }
            }
        }
        #expect(counter.value == 8000)
        #expect(histogram.snapshot.total == 8000)
    }

    @Test func processMetricsHaveValues() throws {
        let metrics = MetricsRegistry()
        ProcessMetrics.add(to: metrics, log: .standardError)
        let text = metrics.text()
        func value(_ name: String) throws -> Double {
            let line = try #require(text.split(separator: "\n").first { $0.hasPrefix(name + " ") })
            return try #require(Double(line.dropFirst(name.count + 1)))
        }
        for name in [
            "process_cpu_seconds_total", "process_resident_memory_bytes", "process_virtual_memory_bytes",
            "process_open_fds", "process_max_fds",
        ] {
            #expect(try value(name) > 0, "\(name)")
        }
        #expect(text.contains("# TYPE process_cpu_seconds_total counter\n"))
        #expect(text.contains("# TYPE touchsync_log_lines_dropped_total counter\n"))
        #expect(try value("process_open_fds") <= value("process_max_fds"))
        #expect(try value("process_resident_memory_bytes") <= value("process_virtual_memory_bytes"))
        let age = Double(time(nil)) - (try value("process_start_time_seconds"))
        #expect((-2...3600).contains(age), "started \(age) s ago")
    }
}
