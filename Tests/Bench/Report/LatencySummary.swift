import Histogram
import JSONBytes

/// The reported percentiles of a latency, microseconds.
package struct LatencySummary: Sendable, Equatable {
    package var count: Int
    package var p50: Int
    package var p95: Int
    package var p99: Int
    package var max: Int

    package init(_ latencies: Tally.Latencies) {
        func percentile(_ share: Double) -> Int { Int(clamping: latencies.valueAtPercentile(share)) }
        self.count = Int(clamping: latencies.totalCount)
        let isEmpty = self.count == 0
        self.p50 = isEmpty ? 0 : percentile(50)
        self.p95 = isEmpty ? 0 : percentile(95)
        self.p99 = isEmpty ? 0 : percentile(99)
        self.max = isEmpty ? 0 : Int(clamping: latencies.maxRecorded)
    }

    func write(_ name: StaticString, into writer: inout JSONWriter) {
        writer.object(name) { writer in
            writer.member("count", self.count)
            writer.member("p50Us", self.p50)
            writer.member("p95Us", self.p95)
            writer.member("p99Us", self.p99)
            writer.member("maxUs", self.max)
        }
    }
}
