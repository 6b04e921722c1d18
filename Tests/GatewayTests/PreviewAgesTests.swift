import Canvas
import Testing
import Timing
import Wire

@testable import GatewayCore

@Suite struct PreviewAgesTests {
    private func preview(
        connection: UInt64 = 1, element: Identifier = "e", gesture: UInt64 = 1, folded: UInt32 = 1
    ) -> Preview {
        Preview(
            room: "r", element: element, connection: connection, user: "u", sid: "s", gesture: gesture, folded: folded,
            fields: TransformFields(positionX: 1))
    }

    private func at(_ milliseconds: UInt64) -> Instant { .start + .seconds(10) + .milliseconds(milliseconds) }

    /// The number of samples of an age, by the bucket's bound.
    private func count(_ ages: PreviewAges, upTo bound: Nanoseconds) throws -> UInt64 {
        ages.tally.counts[try #require(LatencyTally.bounds.firstIndex(of: bound))]
    }

    @Test func theAgeIsFromThePublisherToItsReturn() throws {
        var ages = PreviewAges()
        ages.sent(self.preview(), at: self.at(0))
        ages.delivered([self.preview()], at: self.at(9))
        #expect(try self.count(ages, upTo: .milliseconds(10)) == 1)
        #expect(ages.tally.sum == .milliseconds(9))
    }

    @Test func aFoldedPreviewCountsForAllThatAreInIt() throws {
        var ages = PreviewAges()
        ages.sent(self.preview(), at: self.at(0))
        ages.delivered([self.preview()], at: self.at(2))
        // The mark is at the next one, and comes back with the one after it.
        ages.sent(self.preview(), at: self.at(10))
        ages.sent(self.preview(), at: self.at(20))
        ages.delivered([self.preview(folded: 2)], at: self.at(25))
        #expect(ages.tally.sum == .milliseconds(2 + 15))
    }

    @Test func whatIsUnderWayDoesNotEndASampleEarly() throws {
        var ages = PreviewAges()
        for moment in [0, 10, 20] as [UInt64] { ages.sent(self.preview(), at: self.at(moment)) }
        ages.delivered([self.preview()], at: self.at(30))
        #expect(ages.tally.sum == .milliseconds(30))
        ages.sent(self.preview(), at: self.at(40))
        // Three are still under way before the mark's.
        for moment in [41, 42] as [UInt64] { ages.delivered([self.preview()], at: self.at(moment)) }
        #expect(ages.tally.sum == .milliseconds(30))
        ages.delivered([self.preview()], at: self.at(43))
        #expect(ages.tally.sum == .milliseconds(30 + 3))
    }

    @Test func anotherGestureIsMeasuredByItself() {
        var ages = PreviewAges()
        ages.sent(self.preview(), at: self.at(0))
        ages.sent(self.preview(gesture: 2), at: self.at(50))
        ages.delivered([self.preview()], at: self.at(60))
        #expect(ages.tally.sum == .zero)
        ages.delivered([self.preview(gesture: 2)], at: self.at(61))
        #expect(ages.tally.sum == .milliseconds(11))
    }

    @Test func othersPreviewsAndUnknownOnesAreNoSamples() {
        var ages = PreviewAges()
        ages.sent(self.preview(), at: self.at(0))
        ages.delivered([self.preview(connection: 2), self.preview(element: "f")], at: self.at(5))
        #expect(ages.tally == LatencyTally())
    }

    @Test func aNinthGestureWaitsUntilOneIsSilent() {
        var ages = PreviewAges()
        for connection in 1...9 as ClosedRange<UInt64> {
            ages.sent(self.preview(connection: connection), at: self.at(0))
        }
        ages.delivered([self.preview(connection: 9)], at: self.at(1))
        #expect(ages.tally == LatencyTally())
        ages.sent(self.preview(connection: 9), at: self.at(2001))
        ages.delivered([self.preview(connection: 9)], at: self.at(2004))
        #expect(ages.tally.sum == .milliseconds(3))
    }
}
