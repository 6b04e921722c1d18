import Histogram
import Testing

@testable import bench

@Suite struct LoadSequenceTests {
    /// A report of a load of which everything arrived so late.
    static func report(_ named: NamedLoad, age: UInt64) -> BenchReport {
        var report = BenchReport(named)
        report.tally.previewsSent = 10
        report.tally.previewsDelivered = report.expectedPreviews
        report.tally.previewAge.record(age)
        return report
    }

    /// Titles and senders of all loads that are run when loads of more than `capacity` senders arrive late.
    static func run(_ loads: [NamedLoad], capacity: Int, sustainable: Int? = nil) -> [String] {
        var sequence = LoadSequence(loads, sustainable: sustainable)
        var last: BenchReport?
        var all: [String] = []
        while let named = sequence.next(after: last) {
            all.append("\(named.title): \(named.load.senders)")
            last = Self.report(named, age: named.load.senders > capacity ? 90_000 : 10_000)
        }
        return all
    }

    @Test func loadsComeOneAfterTheOther() {
        let loads = BenchPreset.standard.flatMap(\.phases).filter { $0.senders == .given }
        #expect(Self.run(loads, capacity: 100).count == loads.count)
        #expect(Self.run([], capacity: 1).isEmpty)
    }

    @Test func aSearchEndsAtTheFirstLoadThatIsTooMuchTheNextTakesTwiceTheOneBefore() {
        #expect(
            Self.run(BenchPreset.overload.phases, capacity: 4) == [
                "overload, trying 2 senders each: 2", "overload, trying 3 senders each: 3",
                "overload, trying 4 senders each: 4", "overload, trying 5 senders each: 5", "overload, calm: 1",
                "overload, twice too much: 8", "overload, calm again: 1",
            ])
    }

    @Test func aSearchThatFindsNoEndTakesTheLastOneThatFindsNothingTakesOne() {
        #expect(Self.run(BenchPreset.overload.phases, capacity: 100).contains("overload, twice too much: 30"))
        #expect(Self.run(BenchPreset.overload.phases, capacity: 0).contains("overload, twice too much: 2"))
    }

    @Test func whatIsKnownIsNotSearchedFor() {
        #expect(
            Self.run(BenchPreset.overload.phases, capacity: 4, sustainable: 7) == [
                "overload, calm: 1", "overload, twice too much: 14", "overload, calm again: 1",
            ])
    }

    @Test func aCrowdOfSeveralPhasesIsAbleToSendAllThatAnyOfThemWants() throws {
        var sequence = LoadSequence(BenchPreset.overload.phases)
        let next = sequence.next(after: nil)
        let first = try #require(next)
        #expect(ClientPlan.plans(sequence.crowd(of: first)).allSatisfy { $0.isMover })
        // A load that stands alone has as many movers as it says, and its slow readers.
        let alone = BenchPreset.slowReaders.phases[1]
        var single = LoadSequence([alone])
        _ = single.next(after: nil)
        let plans = ClientPlan.plans(single.crowd(of: alone))
        #expect(plans.count(where: \.isMover) == 20)
        #expect(plans.count(where: \.isSlow) == 100)
    }
}
