import Testing
import Wire

/// Ids of elements that apps create without one.
@Suite struct IDGeneratorTests {
    @Test func laterIDsAreLarger() {
        var ids = EditReading(largestGroup: 1, seed: 1).ids
        // The clock is not set, stands, is set, stands, goes back, goes on.
        let times: [Int64] = [0, 0, 1_700_000_000, 1_700_000_000, 1_600_000_000, 1_700_000_001]
        let made = times.map { ids.next(at: $0) }
        for (former, next) in zip(made, made.dropFirst()) {
            #expect(former.utf8.lexicographicallyPrecedes(next.utf8), "\(former) before \(next)")
        }
        #expect(made[2].hasPrefix("~loyw3v28-1000-") && made[3].hasPrefix("~loyw3v28-1001-"))
        #expect(made[4].hasPrefix("~loyw3v28-1002-"))
    }

    @Test func idsOfTwoGatewaysAreOrderedByTheirTimes() {
        var (first, second) = (EditReading(largestGroup: 1, seed: 1).ids, EditReading(largestGroup: 1, seed: 2).ids)
        let made = [first.next(at: 1_700_000_000), second.next(at: 1_700_000_001), first.next(at: 1_700_000_002)]
        #expect(made == made.sorted())
        #expect(first.next(at: 1_800_000_000) != second.next(at: 1_800_000_000))
    }
}
