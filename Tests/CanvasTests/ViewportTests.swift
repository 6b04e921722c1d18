import Canvas
import Testing

@Suite struct ViewportTests {
    private let canvas = Size(width: 2000, height: 1000)
    private let view = Size(width: 400, height: 800)
    private let target = Point(x: 1500, y: 200)

    @Test func theCanvasRestsCentred() throws {
        let viewport = try self.viewport(zoom: 2)
        #expect(viewport.screenPoint(fromCanvas: self.canvas.center) == self.view.center)
        #expect(viewport.screenPoint(fromCanvas: Point(x: 1001, y: 501)) == Point(x: 202, y: 402))
        #expect(viewport.visibleRect == Rect(x: 900, y: 300, width: 200, height: 400))
    }

    @Test func centerOnPointShowsThePointInTheCentreOfTheView() throws {
        let offset = try self.offset(of: self.target, zoom: 2)
        #expect(offset == Point(x: -1000, y: 600))
        let viewport = try self.viewport(zoom: 2, offset: offset)
        #expect(viewport.screenPoint(fromCanvas: self.target) == self.view.center)
        #expect(viewport.visibleRect.center == self.target)
        #expect(viewport.centerPoint == self.target)
    }

    @Test func theScaleHasItsPivotInTheCentreOfTheCanvas() throws {
        // As if the scale had its pivot in the origin: offset = viewCentre − target · zoom.
        let mistaken = self.view.center - self.target * 2
        #expect(try self.offset(of: self.target, zoom: 2) != mistaken)
        // With that offset, something else is in the centre, and the error grows with the zoom.
        for zoom in [0.5, 1, 2, 4] {
            let viewport = try self.viewport(zoom: zoom, offset: self.view.center - self.target * zoom)
            let error = viewport.screenPoint(fromCanvas: self.target) - self.view.center
            #expect(error == self.view.center - self.canvas.center * zoom)
            #expect(error != .zero)
        }
    }

    @Test func theTargetIsCentredAndNotTheCanvas() throws {
        // As if the canvas were to be centred: no offset in this layout, (view − canvas · zoom) / 2 in others.
        for mistaken in [Point.zero, self.view.center - self.canvas.center * 2] {
            let viewport = try self.viewport(zoom: 2, offset: mistaken)
            #expect(viewport.centerPoint != self.target)
            #expect(try self.offset(of: self.target, zoom: 2) != mistaken)
        }
        #expect(try self.offset(of: self.canvas.center, zoom: 2) == .zero)
    }

    @Test func theOffsetIsAppliedAfterTheScale() throws {
        // As if the offset were scaled along with the canvas: the distance in canvas pixels.
        let mistaken = self.canvas.center - self.target
        #expect(try self.offset(of: self.target, zoom: 2) == mistaken * 2)
        #expect(try self.viewport(zoom: 2, offset: mistaken).centerPoint != self.target)
        // The same offset moves by the same number of points at every zoom.
        for zoom in [0.5, 1, 2] {
            let (still, moved) = (try self.viewport(zoom: zoom), try self.viewport(zoom: zoom, offset: mistaken))
            #expect(
                moved.screenPoint(fromCanvas: self.target) - still.screenPoint(fromCanvas: self.target) == mistaken)
        }
    }

    @Test(arguments: [151, 152] as [UInt64])
    func mapsAndTheirInversesAreIdentities(seed: UInt64) throws {
        var inventor = Inventor(seed: seed)
        for _ in 0..<1000 {
            let viewport = try inventor.viewport()
            let point = inventor.point(-2000...2000)
            #expect(
                isClose(viewport.canvasPoint(fromScreen: viewport.screenPoint(fromCanvas: point)), point, within: 1e-8),
                "seed \(seed): \(viewport)")
            #expect(
                isClose(viewport.screenPoint(fromCanvas: viewport.canvasPoint(fromScreen: point)), point, within: 1e-8),
                "seed \(seed): \(viewport)")
            var centered = viewport
            centered.centerOnPoint(point)
            #expect(isClose(centered.centerPoint, point, within: 1e-8), "seed \(seed): \(viewport)")
            let offset = Viewport.centerOnPoint(
                viewport.centerPoint, viewSize: viewport.viewSize, canvasSize: viewport.canvasSize,
                zoomScale: viewport.zoomScale)
            #expect(isClose(try #require(offset), viewport.offset, within: 1e-8), "seed \(seed): \(viewport)")
        }
    }

    @Test(arguments: [153, 154] as [UInt64])
    func zoomingKeepsWhatIsUnderTheFinger(seed: UInt64) throws {
        var inventor = Inventor(seed: seed)
        for _ in 0..<1000 {
            var viewport = try inventor.viewport()
            let finger = inventor.point(0...1000)
            let under = viewport.canvasPoint(fromScreen: finger)
            for _ in 0..<4 {
                let scale = inventor.uniform(0.1...10)
                viewport.zoom(to: scale, about: finger)
                #expect(viewport.zoomScale == scale)
                #expect(isClose(viewport.screenPoint(fromCanvas: under), finger, within: 1e-8), "seed \(seed)")
            }
            let drag = inventor.point(-300...300)
            viewport.pan(by: drag)
            #expect(isClose(viewport.screenPoint(fromCanvas: under), finger + drag, within: 1e-8), "seed \(seed)")
        }
    }

    @Test(arguments: [155, 156] as [UInt64])
    func whatIsVisibleIsOnTheScreen(seed: UInt64) throws {
        var inventor = Inventor(seed: seed)
        for _ in 0..<1000 {
            let viewport = try inventor.viewport()
            let (visible, view) = (viewport.visibleRect, viewport.viewSize)
            #expect(isClose(viewport.screenPoint(fromCanvas: visible.origin), .zero, within: 1e-8), "seed \(seed)")
            #expect(
                isClose(
                    viewport.screenPoint(fromCanvas: visible.end), Point(x: view.width, y: view.height), within: 1e-8),
                "seed \(seed): \(viewport)")
        }
    }

    @Test(arguments: [161, 162] as [UInt64])
    func withinItsLimitsTheCanvasCoversTheView(seed: UInt64) throws {
        var inventor = Inventor(seed: seed)
        for _ in 0..<1000 {
            var viewport = try inventor.viewport()
            viewport.pan(by: inventor.point(-9000...9000))
            let limited = viewport.withinLimits
            #expect(limited.withinLimits == limited, "seed \(seed)")
            let (visible, canvas) = (limited.visibleRect, limited.canvasSize)
            if visible.size.width <= canvas.width {
                #expect(visible.origin.x >= -1e-8 && visible.end.x <= canvas.width + 1e-8, "seed \(seed): \(viewport)")
            } else {
                #expect(limited.offset.x == 0, "seed \(seed): \(viewport)")
            }
            if visible.size.height <= canvas.height {
                #expect(visible.origin.y >= -1e-8 && visible.end.y <= canvas.height + 1e-8, "seed \(seed): \(viewport)")
            } else {
                #expect(limited.offset.y == 0, "seed \(seed): \(viewport)")
            }
        }
    }

    @Test(arguments: notFinite)
    func numbersThatAreNotFiniteAreRefused(number: Double) throws {
        let bad = Point(x: 0, y: number)
        #expect(Viewport(zoomScale: number, offset: .zero, viewSize: self.view, canvasSize: self.canvas) == nil)
        #expect(Viewport(zoomScale: 1, offset: bad, viewSize: self.view, canvasSize: self.canvas) == nil)
        for size in [Size(width: number, height: 1), Size(width: 1, height: number)] {
            #expect(Viewport(zoomScale: 1, offset: .zero, viewSize: size, canvasSize: self.canvas) == nil)
            #expect(Viewport(zoomScale: 1, offset: .zero, viewSize: self.view, canvasSize: size) == nil)
        }
        #expect(Viewport.centerOnPoint(bad, viewSize: self.view, canvasSize: self.canvas, zoomScale: 1) == nil)
        var viewport = try self.viewport(zoom: 1)
        let accepted = [
            viewport.centerOnPoint(bad), viewport.pan(by: bad), viewport.zoom(to: number, about: .zero),
            viewport.zoom(to: 2, about: bad),
        ]
        #expect(accepted.allSatisfy { !$0 })
        #expect(viewport == (try self.viewport(zoom: 1)))
    }

    @Test(arguments: [0, -1, -0.0])
    func lengthsAndZoomsAreAboveZero(number: Double) throws {
        let size = Size(width: number, height: 1)
        #expect(Viewport(zoomScale: number, offset: .zero, viewSize: self.view, canvasSize: self.canvas) == nil)
        #expect(Viewport(zoomScale: 1, offset: .zero, viewSize: size, canvasSize: self.canvas) == nil)
        #expect(Viewport(zoomScale: 1, offset: .zero, viewSize: self.view, canvasSize: size) == nil)
        var viewport = try self.viewport(zoom: 1)
        let isAccepted = viewport.zoom(to: number, about: .zero)
        #expect(!isAccepted)
        #expect(viewport == (try self.viewport(zoom: 1)))
    }

    @Test(arguments: [163, 164] as [UInt64])
    func aViewportStaysFiniteWhateverHappensToIt(seed: UInt64) {
        var inventor = Inventor(seed: seed)
        var made = 0
        for _ in 0..<2000 {
            let viewport = Viewport(
                zoomScale: inventor.anyNumber().magnitude, offset: inventor.anyPoint(),
                viewSize: inventor.chance(50) ? self.view : inventor.size(1...3000), canvasSize: self.canvas)
            guard var viewport else { continue }
            made += 1
            for _ in 0..<5 {
                switch Int.random(in: 0..<3, using: &inventor.generator) {
                case 0: viewport.pan(by: inventor.anyPoint())
                case 1: viewport.zoom(to: inventor.anyNumber().magnitude, about: inventor.anyPoint())
                default: viewport.centerOnPoint(inventor.anyPoint())
                }
                #expect(viewport.visibleRect.isFinite && viewport.offset.isFinite, "seed \(seed): \(viewport)")
                #expect(viewport.zoomScale > 0 && viewport.zoomScale.isFinite, "seed \(seed): \(viewport)")
            }
        }
        #expect(made > 200, "seed \(seed)")
    }

    private func viewport(zoom: Double, offset: Point = .zero) throws -> Viewport {
        try #require(Viewport(zoomScale: zoom, offset: offset, viewSize: self.view, canvasSize: self.canvas))
    }

    private func offset(of target: Point, zoom: Double) throws -> Point {
        try #require(
            Viewport.centerOnPoint(target, viewSize: self.view, canvasSize: self.canvas, zoomScale: zoom))
    }
}

@Suite struct ViewportInputTests {
    @Test func bothFormsSayTheSame() throws {
        let zoom = try json(
            #"{"roomId":"r","zoomScale":2,"offset":{"x":-1000,"y":600},"viewSize":{"width":400,"height":800},"canvasSize":{"width":2000,"height":1000}}"#
        )
        let rect = try json(#"{"roomId":"r","x":1400,"y":0,"width":200,"height":400}"#)
        #expect(try Rect(viewport: zoom) == Rect(x: 1400, y: 0, width: 200, height: 400))
        #expect(try Rect(viewport: rect) == Rect(x: 1400, y: 0, width: 200, height: 400))
        #expect(try Rect(viewport: json(#"{"roomId":"r"}"#)) == nil)
    }

    @Test func theMarginIsATenthOfTheLargerSide() {
        #expect(
            Rect(x: 1400, y: 0, width: 200, height: 400).withViewportMargin
                == Rect(x: 1360, y: -40, width: 280, height: 480))
        #expect(
            Rect(x: 0, y: 0, width: 1000, height: 0).withViewportMargin
                == Rect(x: -100, y: -100, width: 1200, height: 200))
    }

    @Test func edgesAreClampedToWhatElementsReach() throws {
        let far = try #require(try Rect(viewport: json(#"{"x":-1e308,"y":0,"width":1.7e308,"height":1e300}"#)))
        #expect(far == Rect(x: -1e25, y: 0, width: 2e25, height: 1e25))
        #expect(far.withViewportMargin.isFinite)
        // An element at the end of the canvas, as large as the rules of any file allow, is within reach.
        var giant = Element(id: "e", type: "note", createdBy: "u")
        (giant.positionX, giant.positionY) = (CanvasLimits.position, -CanvasLimits.position)
        (giant.originalWidth, giant.originalHeight) = (1e9, 1e9)
        (giant.scaleX, giant.scaleY, giant.anchorX, giant.anchorY, giant.rotation) = (1e6, 1e6, 1000, -1000, 45)
        var note = giant
        note.space = .normalized
        (note.positionX, note.positionY) = (1, 1)
        for box in [giant.boundingBox(), note.boundingBox(on: giant)] {
            #expect(Rect(x: -1e25, y: -1e25, width: 2e25, height: 2e25).contains(box.origin))
            #expect(Rect(x: -1e25, y: -1e25, width: 2e25, height: 2e25).contains(box.end))
        }
    }

    @Test(arguments: [
        (#"{"x":1}"#, "y"), (#"{"x":1,"y":2,"width":3}"#, "height"), (#"{"width":3}"#, "x"),
        (#"{"x":"1","y":2,"width":3,"height":4}"#, "x"), (#"{"x":null,"y":2,"width":3,"height":4}"#, "x"),
        (#"{"x":1,"y":2,"width":-3,"height":4}"#, "width"), (#"{"x":1,"y":2,"width":3,"height":-4}"#, "height"),
        (#"{"x":1,"y":2,"width":3,"height":4,"zoomScale":1}"#, "zoomScale"),
        (#"{"zoomScale":0}"#, "zoomScale"), (#"{"zoomScale":-1}"#, "zoomScale"),
        (#"{"offset":{"x":0,"y":0}}"#, "zoomScale"),
        (#"{"zoomScale":1}"#, "offset"), (#"{"zoomScale":1,"offset":[0,0]}"#, "offset"),
        (#"{"zoomScale":1,"offset":{"x":0}}"#, "offset.y"),
        (#"{"zoomScale":1,"offset":{"x":0,"y":0}}"#, "viewSize"),
        (#"{"zoomScale":1,"offset":{"x":0,"y":0},"viewSize":{"width":1}}"#, "viewSize"),
        (#"{"zoomScale":1,"offset":{"x":0,"y":0},"viewSize":{"width":1,"height":0}}"#, "viewSize.height"),
        (#"{"zoomScale":1,"offset":{"x":0,"y":0},"viewSize":{"width":1,"height":1}}"#, "canvasSize"),
        (
            #"{"zoomScale":1,"offset":{"x":0,"y":0},"viewSize":{"width":1,"height":1},"canvasSize":{"width":false,"height":1}}"#,
            "canvasSize.width"
        ),
        (
            #"{"zoomScale":1e-300,"offset":{"x":1e10,"y":0},"viewSize":{"width":1,"height":1},"canvasSize":{"width":1,"height":1}}"#,
            "zoomScale"
        ),
    ])
    func aWrongFieldIsNamed(text: String, field: String) throws {
        let payload = try json(text)
        #expect(refusedField { try Rect(viewport: payload) } == field)
    }
}

extension Inventor {
    fileprivate mutating func viewport() throws -> Viewport {
        let viewport = Viewport(
            zoomScale: self.uniform(0.1...10), offset: self.point(-1000...1000), viewSize: self.size(100...2000),
            canvasSize: self.size(100...5000))
        return try #require(viewport)
    }
}
