import Canvas
import Testing

@Suite struct LetterboxTests {
    @Test func aWideImageHasBarsAboveAndBelowAHighOneAtBothSides() throws {
        let wide = try self.box(Size(width: 4000, height: 3000), Size(width: 375, height: 812))
        #expect(wide.frame == Rect(x: 0, y: 265.375, width: 375, height: 281.25))
        let high = try self.box(Size(width: 3000, height: 4000), Size(width: 800, height: 400))
        #expect(high.frame == Rect(x: 250, y: 0, width: 300, height: 400))
        let same = try self.box(Size(width: 10, height: 20), Size(width: 100, height: 200))
        #expect(same.frame == Rect(x: 0, y: 0, width: 100, height: 200))
    }

    @Test(arguments: [171, 172] as [UInt64])
    func roundTripsAreExact(seed: UInt64) throws {
        var inventor = Inventor(seed: seed)
        for _ in 0..<2000 {
            let box = try self.box(inventor.size(10...10000), inventor.size(100...4000))
            let unit = inventor.point(0...1)
            let screen = box.screenPoint(fromNormalized: unit)
            #expect(box.frame.expanded(by: 1e-9).contains(screen), "seed \(seed): \(box)")
            let image = box.imagePoint(fromNormalized: unit)
            for back in [
                box.normalizedPoint(fromScreen: screen), box.normalizedPoint(fromImage: image),
                box.normalizedPoint(fromImage: box.imagePoint(fromScreen: box.screenPoint(fromImage: image))),
            ] {
                let error = back - unit
                #expect(max(error.x.magnitude, error.y.magnitude) < 1e-9, "seed \(seed): \(box) at \(unit)")
            }
            #expect(isClose(box.screenPoint(fromImage: box.imagePoint(fromScreen: screen)), screen), "seed \(seed)")
        }
    }

    @Test(arguments: [173, 174] as [UInt64])
    func anAnnotationIsOnTheSamePixelInEveryViewAndWhenTheDeviceTurns(seed: UInt64) throws {
        var inventor = Inventor(seed: seed)
        for _ in 0..<1000 {
            let image = inventor.size(100...5000)
            let phone = inventor.size(300...1000)
            let first = try self.box(image, phone)
            let tap = first.screenPoint(fromImage: Point(x: image.width * 0.3, y: image.height * 0.8))
            let stored = first.normalizedPoint(fromScreen: tap)
            for view in [Size(width: phone.height, height: phone.width), inventor.size(300...3000)] {
                let other = try self.box(image, view)
                let pixel = other.imagePoint(fromScreen: other.screenPoint(fromNormalized: stored))
                #expect(isClose(pixel, Point(x: image.width * 0.3, y: image.height * 0.8)), "seed \(seed): \(image)")
            }
        }
    }

    @Test func whatIsBesideTheImageIsOutsideZeroToOne() throws {
        let box = try self.box(Size(width: 100, height: 100), Size(width: 200, height: 100))
        #expect(box.normalizedPoint(fromScreen: .zero) == Point(x: -0.5, y: 0))
        #expect(box.normalizedPoint(fromScreen: Point(x: 200, y: 100)) == Point(x: 1.5, y: 1))
    }

    @Test(arguments: notFinite + [0, -1])
    func sidesAreFiniteAndAboveZero(side: Double) {
        let good = Size(width: 100, height: 100)
        for bad in [Size(width: side, height: 100), Size(width: 100, height: side)] {
            #expect(Letterbox(image: bad, view: good) == nil)
            #expect(Letterbox(image: good, view: bad) == nil)
        }
    }

    @Test func fontsAreStoredInTheirRangeAndDrawnReadably() {
        #expect(RulesTable.defaults.rules(for: "text").fontSize == FontSize.storedRange)
        for (chosen, stored) in [(11.0, 12.0), (12, 12), (30.5, 30.5), (72, 72), (1e308, 72), (-5, 12)] {
            #expect(FontSize.stored(chosen) == stored)
        }
        for number in notFinite {
            #expect(FontSize.stored(number) == nil)
            #expect(FontSize.drawn(number) == 16)
            #expect(FontSize.drawn(20, scale: number) == 16)
        }
        #expect(FontSize.drawn(12) == 16)
        #expect(FontSize.drawn(40) == 40)
        #expect(FontSize.drawn(40, scale: 0.25) == 16)
        #expect(FontSize.drawn(40, scale: 2) == 80)
    }

    private func box(_ image: Size, _ view: Size) throws -> Letterbox {
        try #require(Letterbox(image: image, view: view))
    }
}
