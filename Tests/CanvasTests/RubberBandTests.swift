import Canvas
import Testing

@Suite struct RubberBandTests {
    @Test func insideTheRangeNothingGives() throws {
        let band = try #require(RubberBand(range: -10...20, extent: 100))
        for value in [-10.0, -3.5, 0, 20] {
            #expect(band.displayed(value) == value)
            #expect(band.requested(value) == value)
            #expect(band.clamped(value) == value)
        }
    }

    @Test func beyondTheRangeItGivesAsAScrollViewDoes() throws {
        let band = try #require(RubberBand(range: 0...0, extent: 800))
        // (1 − 1 / (100 · 0.55 / 800 + 1)) · 800
        #expect(isClose(band.displayed(100), 51.4619883, within: 1e-8))
        #expect(isClose(band.displayed(-100), -51.4619883, within: 1e-8))
        #expect(band.clamped(100) == 0)
        #expect(band.displayed(1e300) == 800)
        #expect(band.displayed(.infinity) == 800)
        #expect(band.displayed(-.infinity) == -800)
        #expect(band.displayed(.nan) == 0)
        // Nothing is shown there, but it may be asked for.
        for beyond in [800.0, 801, 1e300] {
            #expect(band.requested(beyond) > 1e12 && band.requested(beyond).isFinite)
            #expect(band.requested(-beyond) == -band.requested(beyond))
        }
    }

    @Test(arguments: [211, 212] as [UInt64])
    func itIncreasesSlowerThanTheFingerAndHasAnInverse(seed: UInt64) throws {
        var inventor = Inventor(seed: seed)
        for _ in 0..<2000 {
            let low = inventor.uniform(-1000...1000)
            let band = try #require(
                RubberBand(
                    range: low...(low + inventor.uniform(0...1000)), extent: inventor.uniform(1...1000),
                    stiffness: inventor.uniform(0.1...1)))
            let value = inventor.uniform(-5000...5000)
            let shown = band.displayed(value)
            #expect(isClose(band.requested(shown), value, within: 1e-7), "seed \(seed): \(band) \(value)")
            let step = inventor.uniform(0.001...100)
            let next = band.displayed(value + step)
            #expect(next > shown && next - shown <= step + 1e-9, "seed \(seed): \(band) \(value)")
            #expect((shown - band.clamped(value)).magnitude <= band.extent, "seed \(seed): \(band) \(value)")
        }
    }

    @Test(arguments: [213, 214] as [UInt64])
    func everyFiniteNumberShowsAndRequestsAFiniteOne(seed: UInt64) {
        var inventor = Inventor(seed: seed)
        var made = 0
        for _ in 0..<5000 {
            let (one, other) = (inventor.anyNumber(), inventor.anyNumber())
            guard
                let band = RubberBand(
                    range: min(one, other)...max(one, other), extent: inventor.anyNumber().magnitude,
                    stiffness: inventor.uniform(0.01...1))
            else { continue }
            made += 1
            let value = inventor.anyNumber()
            #expect(band.displayed(value).isFinite, "seed \(seed): \(band) \(value)")
            #expect(band.requested(value).isFinite, "seed \(seed): \(band) \(value)")
        }
        #expect(made > 1000, "seed \(seed)")
    }

    @Test(arguments: notFinite + [0, -1])
    func itsMeasuresAreFiniteAndAboveZero(number: Double) {
        #expect(RubberBand(range: 0...1, extent: number) == nil)
        #expect(RubberBand(range: 0...1, extent: 1, stiffness: number) == nil)
        #expect(RubberBand(range: 0...1, extent: 1, stiffness: 1.1) == nil)
        #expect(RubberBand(range: 0...Double.infinity, extent: 1) == nil)
        #expect(RubberBand(range: -Double.infinity...0, extent: 1) == nil)
    }
}
