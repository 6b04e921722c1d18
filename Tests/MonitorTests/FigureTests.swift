import Stages
import Testing
import Timing

@testable import OperatorMonitor

@Suite struct FigureTests {
    private func buckets(_ counts: [UInt64]) throws -> BucketCounts {
        try #require(BucketCounts(bounds: [0.001, 0.01, 0.1], counts: counts))
    }

    @Test func quantilesLieWithinTheirBucket() throws {
        let counts = try buckets([10, 80, 10, 0])
        #expect(counts.quantile(0) == 0)
        #expect(counts.quantile(0.05) == 0.0005)
        let median = try #require(counts.quantile(0.5))
        #expect(abs(median - 0.0055) < 1e-9)
        #expect(counts.quantile(0.9) == 0.01)
        #expect(counts.quantile(1) == 0.1)
    }

    @Test func quantilesOfTheLastBucketAreItsLowerBound() throws {
        #expect(try buckets([0, 0, 0, 5]).quantile(0.5) == 0.1)
        #expect(try buckets([0, 0, 0, 0]).quantile(0.5) == nil)
        #expect(try buckets([1, 0, 0, 0]).quantile(.nan) == nil)
    }

    @Test func bucketsAscend() {
        #expect(BucketCounts(bounds: [2, 1], counts: [0, 0, 0]) == nil)
        #expect(BucketCounts(bounds: [1, .infinity], counts: [0, 0, 0]) == nil)
        #expect(BucketCounts(bounds: [1, 2], counts: [0, 0]) == nil)
        #expect(BucketCounts(bounds: (0..<64).map(Double.init), counts: Array(repeating: 0, count: 65)) == nil)
    }

    @Test func differencesSurviveARestart() throws {
        let (earlier, later) = (try buckets([1, 2, 3, 4]), try buckets([1, 5, 3, 4]))
        #expect(later.since(earlier).counts == [0, 3, 0, 0])
        #expect(earlier.since(later).counts == [1, 2, 3, 4])
    }

    // MARK: Rates

    private func sample(_ text: String, stage: Stage = .gateway) throws -> DaemonSample {
        DaemonSample(
            stage: stage, health: DaemonHealth(), samples: try Exposition.samples(Array((text + "\n").utf8)))
    }

    @Test func aRestartedDaemonCountsFromZero() throws {
        var meter = CounterRates()
        let texts = [
            "touchsync_gateway_commits_accepted_total 100\nprocess_start_time_seconds 5",
            "touchsync_gateway_commits_accepted_total 120\nprocess_start_time_seconds 9",
            "touchsync_gateway_commits_accepted_total 20\nprocess_start_time_seconds 9",
        ]
        let rates = try texts.enumerated().map { second, text in
            meter.growth(to: try sample(text), at: Instant(nanoseconds: UInt64(second) * 1_000_000_000))
                .figures[.commitsIn]
        }
        #expect(rates == [nil, 120, 20])
    }

    @Test func samplesOfOneFigureAddUp() throws {
        let committer = try sample(
            "touchsync_committer_commits_total{outcome=\"applied\"} 3\n"
                + "touchsync_committer_commits_total{outcome=\"refused\"} 4", stage: .committer)
        #expect(committer.totals[.commitsOut] == 7)
        let gateway = try sample(
            "touchsync_gateway_slowed_rooms{interval_ms=\"33\"} 2\ntouchsync_gateway_slowed_rooms{interval_ms=\"66\"} 5"
        )
        #expect(gateway.totals[.roomsAt33] == 2)
        #expect(gateway.totals[.roomsAt66] == 5)
    }

    @Test func histogramsNeedAscendingCountsAndAnInfiniteBucket() throws {
        let name = "touchsync_committer_write_seconds_bucket"
        let whole = try sample("\(name){le=\"0.1\"} 2\n\(name){le=\"+Inf\"} 5", stage: .committer)
        #expect(whole.distributions[.batchDuration] == BucketCounts(bounds: [0.1], counts: [2, 3]))
        for broken in ["\(name){le=\"0.1\"} 2", "\(name){le=\"0.1\"} 6\n\(name){le=\"+Inf\"} 5"] {
            #expect(try sample(broken, stage: .committer).distributions[.batchDuration] == nil)
        }
    }
}
