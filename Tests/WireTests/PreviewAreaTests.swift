import Canvas
import Testing
import Wire

@Suite struct PreviewAreaTests {
    private static func area(_ x: Double, _ y: Double, _ width: Double, _ height: Double) -> PreviewArea {
        PreviewArea(Rect(x: x, y: y, width: width, height: height))
    }

    @Test func areasMeetAtTheirEdges() {
        let area = Self.area(0, 0, 10, 10)
        #expect(area.intersects(Self.area(10, 10, 5, 5)))
        #expect(area.intersects(.everywhere))
        #expect(!area.intersects(Self.area(10.001, 0, 5, 5)))
        #expect(!area.intersects(Self.area(0, -5, 10, 4.9)))
    }

    @Test func edgesAreRoundedOutwards() {
        // Single precision has steps of 64 up there.
        let far = Self.area(1_000_000_001, 1_000_000_001, 1, 1)
        #expect(far.intersects(Self.area(1_000_000_001.4, 1_000_000_001.4, 0.1, 0.1)))
        #expect(Self.area(1e25, -1e25, 1, 1).intersects(Self.area(1e25, -1e25, 0, 0)))
        #expect(Self.area(0.1, 0.1, 0, 0).intersects(Self.area(0.1, 0.1, 0, 0)))
    }

    @Test func aFoldedPreviewIsSeenWhereTheOlderOneWas() {
        var older = Samples.preview
        older.area = Self.area(0, 0, 10, 10)
        for gesture in [older.gesture, older.gesture + 1] {
            var newer = Samples.preview
            newer.gesture = gesture
            newer.area = Self.area(100, 0, 10, 10)
            var folded = older
            folded.replace(by: newer)
            #expect(folded.area == Self.area(0, 0, 110, 10))
        }
        older.replace(by: Samples.preview)
        #expect(older.area == .everywhere)
    }
}
