import Testing

@testable import TouchSyncClient

@Suite struct ElementNamesTests {
    private static let now: Int64 = 1_700_000_000_000

    @Test func laterNamesAreLarger() {
        var names = ElementNames()
        let ids = [7, 7, Self.now, 3, Self.now, Self.now + 1].map { names.next(at: $0) }
        #expect(ids == ids.sorted() && Set(ids).count == ids.count)
    }

    @Test func namesOfSeveralClientsFollowTheTime() {
        var (first, second) = (ElementNames(), ElementNames())
        #expect(first.next(at: Self.now) < second.next(at: Self.now + 1))
        #expect(second.next(at: Self.now + 2) < first.next(at: Self.now + 3))
    }

    @Test func clockOf1970NamesBelowOthers() {
        var (wrong, right) = (ElementNames(), ElementNames())
        let (first, second) = (wrong.next(at: 0), right.next(at: Self.now))
        #expect(first < second && first.count == second.count)
    }

    /// Not by what is made at one time, or others' elements would lie below for as long.
    @Test func namesDoNotRunAheadOfTheClock() {
        var (many, other) = (ElementNames(), ElementNames())
        let ids = (0..<2000).map { _ in many.next(at: Self.now) }
        #expect(ids == ids.sorted() && ids[1999] < other.next(at: Self.now + 1))
    }

    @Test(arguments: ["note-11", "zz", "Z", "_", "e3b0c442-98fc-4c14-9afb-f4c8996fb924", "mp8v1c3k-0123"])
    func namesAreAboveOthers(id: String) {
        var names = ElementNames()
        #expect(id.utf16.lexicographicallyPrecedes(names.next(at: Self.now).utf16))
    }
}
