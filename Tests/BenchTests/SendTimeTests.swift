import Testing

@testable import bench

@Suite struct SendTimeTests {
    @Test func aTimeComesBackFromItsCoordinates() {
        for time in [0, 1, 999_999, 1_000_000, 1_000_001, 59_999_999, 86_400_000_000, SendTime.last] as [Int64] {
            let (x, y) = SendTime.coordinates(time)
            #expect(SendTime.time(x: x, y: y) == time)
        }
    }

    @Test func coordinatesKeepTheirNumberOfDigitsAndStayFarInsideTheCanvas() {
        var random = MaskGenerator(seed: 7)
        for _ in 0..<10_000 {
            let (x, y) = SendTime.coordinates(Int64(random.next() % UInt64(SendTime.last)))
            #expect("\(x)".count == 6)
            #expect("\(y)".count == 7)
        }
    }

    @Test func timesOutsideAreClampedPlacesThatTellNoTimeGiveNone() {
        #expect(SendTime.coordinates(-5) == SendTime.coordinates(0))
        #expect(SendTime.coordinates(.max) == SendTime.coordinates(SendTime.last))
        #expect(SendTime.time(x: 0, y: 0) == nil)
        #expect(SendTime.time(x: 80, y: 1_500_000) == nil)
        #expect(SendTime.time(x: 100_000, y: 2_000_000) == nil)
        #expect(SendTime.time(x: 1_000_000, y: 1_000_000) == nil)
        #expect(SendTime.time(x: .max, y: .min) == nil)
    }
}
