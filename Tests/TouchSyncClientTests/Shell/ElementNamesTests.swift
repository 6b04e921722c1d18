import Testing

@testable import TouchSyncClient

@Suite struct ElementNamesTests {
    @Test func laterNamesAreLarger() {
        var names = ElementNames()
        let ids = [7, 7, 3, 1_700_000_000_000].map { names.next(at: $0) }
        #expect(ids == ids.sorted() && Set(ids).count == ids.count)
    }

    @Test func namesOfSeveralClientsFollowTheTime() {
        var (first, second) = (ElementNames(), ElementNames())
        #expect(first.next(at: 1_700_000_000_000) < second.next(at: 1_700_000_000_001))
        #expect(second.next(at: 1_700_000_000_002) < first.next(at: 1_700_000_000_003))
    }
}
