import Canvas
import Foundation
import JSONBytes
import Testing

/// How elements are seen that leave their plane.
@Suite struct DepthTests {
    private struct Case {
        let element: Element
        let json: JSONValue

        func numbers(_ name: String) -> [Double]? { self.json[name].map(DepthTests.numbers) }
    }

    private static func numbers(_ json: JSONValue) -> [Double] { json.elements.compactMap(\.double) }

    /// What a browser said of them: `Tests/Client/test_browser.py` compares it again.
    private static func cases() throws -> [Case] {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Depth/cases.json")
        var document = JSONDocument()
        try document.parse(try String(contentsOf: file, encoding: .utf8).utf8, limits: .wellFormed)
        return try document.root.elements.map { json in
            let fields = try #require(json["element"])
            var element = Element(id: "e", type: "note", createdBy: "u")
            for (key, value) in fields.members where value.double != nil {
                _ = try #require(ElementField.named(key, after: nil)).read(value, into: &element)
            }
            return Case(element: element, json: json)
        }
    }

    @Test func elementsAreSeenAsABrowserDrawsThem() throws {
        let cases = try Self.cases()
        #expect(cases.count == 200)
        for each in cases {
            let (note, matrix) = (each.element, each.element.projection())
            let expected = try #require(each.numbers("matrix"))
            #expect(
                zip(matrix.elements, expected).allSatisfy { ($0 - $1).magnitude <= 1e-9 * max(1, $1.magnitude) },
                "\(note)")
            let corners = try #require(each.json["corners"]).elements.map(Self.numbers).map {
                Point(x: $0[0], y: $0[1])
            }
            #expect(isClose(note.corners(), corners, within: 1e-8), "\(note)")
            guard let box = each.numbers("box") else { continue }
            let bounds = note.boundingBox()
            let actual = [bounds.origin.x, bounds.origin.y, bounds.size.width, bounds.size.height]
            #expect(zip(actual, box).allSatisfy { ($0 - $1).magnitude <= 1e-3 * max(1, $1.magnitude) }, "\(note)")
            for point in try #require(each.json["points"]).elements {
                let place = Self.numbers(point)
                let isHit = point.elements.contains { $0.bool == true }
                #expect(note.contains(Point(x: place[0], y: place[1])) == isHit, "\(place) on \(note)")
            }
            if let back = each.json["back"]?.bool { #expect(matrix.showsBack == back, "\(note)") }
        }
    }

    @Test(arguments: [301, 302] as [UInt64])
    func aFlatElementIsTheSameWithDepth(seed: UInt64) {
        var inventor = Inventor(seed: seed)
        for _ in 0..<500 {
            let note = inventor.note()
            let map = note.projection()
            #expect(note.isFlat && isClose(map.corners(of: note.originalSize), note.corners()), "seed \(seed): \(note)")
            let point = note.corners()[2] + inventor.point(-50...50)
            let own = map.unprojected(point) ?? .zero
            #expect(isClose(own, note.ownPoint(fromCanvas: point) ?? .zero, within: 1e-6), "seed \(seed): \(note)")
            #expect(!map.showsBack)
            // Depth that a viewer cannot see.
            var raised = note
            raised.positionZ = 500
            #expect(raised.isFlat && raised.corners() == note.corners())
            // A viewer sees what is twice as near twice as large, about the anchor.
            raised.perspective = 1000
            let anchor = Point(x: note.positionX, y: note.positionY)
            let grown = note.corners().map { anchor + ($0 - anchor) * 2 }
            #expect(!raised.isFlat && isClose(raised.corners(), grown), "seed \(seed): \(note)")
        }
    }

    @Test(arguments: [303, 304] as [UInt64])
    func whatIsSeenLiesWithinTheCornersAndIsFoundThere(seed: UInt64) {
        var inventor = Inventor(seed: seed)
        var (seen, hidden) = (0, 0)
        for _ in 0..<1000 {
            let note = inventor.deepNote()
            let map = note.projection()
            let unit = inventor.point(0...1)
            let own = Point(x: unit.x * note.originalWidth, y: unit.y * note.originalHeight)
            guard let place = map.projected(own) else {
                hidden += 1
                continue
            }
            seen += 1
            let box = note.boundingBox()
            #expect(box.expanded(byFractionOfLargerSide: 1e-9).contains(place), "seed \(seed): \(note)")
            // Seen almost edge-on, a small error on the canvas is a large one on the element.
            guard let found = note.ownPoint(fromCanvas: place), note.stretchIsUsable(at: own) else { continue }
            #expect(isClose(found, own, within: 1e-5), "seed \(seed): \(own) on \(note)")
        }
        #expect(seen > 500 && hidden > 50)
    }

    @Test func behindTheViewerNothingIsSeen() {
        var note = Element(id: "e", type: "note", createdBy: "u")
        (note.positionX, note.positionY, note.perspective) = (30, 40, 100)
        for (z, isSeen) in [(99.0, true), (99.5, false), (100, false), (500, false)] {
            note.positionZ = z
            #expect(note.corners().isEmpty == !isSeen, "\(z)")
            #expect(note.contains(Point(x: 30, y: 40)) == isSeen)
            #expect((note.ownPoint(fromCanvas: Point(x: 30, y: 40)) == nil) == !isSeen)
        }
        #expect(note.boundingBox() == Rect(x: 30, y: 40, width: 0, height: 0))
        // An annotation disappears with its parent.
        var label = Element(id: "l", type: "text", createdBy: "u")
        (label.space, label.positionX, label.positionY) = (.normalized, 0.5, 0.5)
        #expect(label.boundingBox(on: note) == Rect(x: 30, y: 40, width: 0, height: 0))
        #expect(!label.contains(Point(x: 30, y: 40), on: note))
    }

    @Test func theNearPlaneCuts() {
        // Turned by a quarter, the lower half of 100 pixels comes towards a viewer who is 25 away: half of it is seen.
        var note = Element(id: "e", type: "note", createdBy: "u")
        (note.perspective, note.rotationX, note.rotationY) = (25, 89, 0)
        let corners = note.corners()
        #expect(corners.count == 4 && corners.allSatisfy(\.isFinite))
        #expect(note.boundingBox().size.width > 4000)
        (note.rotationX, note.rotation) = (60, 45)
        #expect(note.corners().count == 5)
    }

    @Test func edgeOnNothingIsHit() {
        var note = Element(id: "e", type: "note", createdBy: "u")
        for (x, y) in [(90.0, 0.0), (0, 90), (270, 0), (90, 90)] {
            (note.rotationX, note.rotationY) = (x, y)
            for perspective in [0.0, 500] {
                note.perspective = perspective
                #expect(note.ownPoint(fromCanvas: .zero) == nil, "\(x) \(y)")
                #expect(!note.contains(.zero, tolerance: 5))
            }
        }
        (note.rotationX, note.rotationY) = (0, 180)
        #expect(note.projection().showsBack && note.contains(.zero))
        note.scaleX = -1
        #expect(note.projection().showsBack)
        note.scaleX = 0
        #expect(!note.contains(.zero, tolerance: 5))
    }

    @Test func toleranceIsMeasuredOnTheCanvas() {
        var note = Element(id: "e", type: "note", createdBy: "u")
        note.rotationX = 60
        // 100 pixels are seen as 50.
        #expect(note.contains(Point(x: 0, y: 25)) && !note.contains(Point(x: 0, y: 26)))
        #expect(note.contains(Point(x: 0, y: 29), tolerance: 5) && !note.contains(Point(x: 0, y: 31), tolerance: 5))
        #expect(note.contains(Point(x: 54, y: 0), tolerance: 5) && !note.contains(Point(x: 56, y: 0), tolerance: 5))
    }

    @Test func annotationsLieInThePlaneOfTheirParent() throws {
        var card = Element(id: "c", type: "note", createdBy: "u")
        (card.positionX, card.positionY, card.rotationY, card.perspective) = (400, 300, 30, 800)
        var label = Element(id: "l", type: "text", createdBy: "u")
        (label.space, label.positionX, label.positionY, label.rotation) = (.normalized, 0.8, 0.3, 20)
        let own = Point(x: 70, y: 20)
        let place = try #require(label.projection(on: card).projected(own))
        let onCard = label.matrix(parentSize: card.originalSize).applied(to: own)
        #expect(isClose(place, try #require(card.projection().projected(onCard))))
        #expect(label.contains(place, on: card) && label.boundingBox(on: card).contains(place))
        #expect(!label.contains(place, on: Element(id: "c", type: "note", createdBy: "u")))
    }

    @Test func aNewAnchorLeavesItAsIfItWereFlat() throws {
        var card = Element(id: "c", type: "note", createdBy: "u")
        (card.rotation, card.rotationY, card.perspective) = (20, 30, 800)
        var flat = card
        flat.rotationY = 0
        let (held, ofFlat) = (try #require(card.anchored(at: .zero)), try #require(flat.anchored(at: .zero)))
        #expect((held.positionX, held.positionY) == (ofFlat.positionX, ofFlat.positionY))
        #expect((held.rotationY, held.perspective) == (30, 800))
        #expect(isClose(ofFlat.corners(), flat.corners()))
    }
}

@Suite struct Matrix4Tests {
    private static func isClose(_ left: Matrix4, _ right: Matrix4, within tolerance: Double = 1e-9) -> Bool {
        zip(left.elements, right.elements).allSatisfy { ($0 - $1).magnitude <= tolerance * max(1, $1.magnitude) }
    }

    @Test(arguments: [311, 312] as [UInt64])
    func itsInverseTakesItBack(seed: UInt64) throws {
        var inventor = Inventor(seed: seed)
        for _ in 0..<500 {
            let (first, second) = (inventor.deepNote().projection(), inventor.deepNote().projection())
            let map = first.followed(by: second)
            #expect(map.followed(by: .identity) == map && Matrix4.identity.followed(by: map) == map)
            let inverse = try #require(map.inverse)
            #expect(Self.isClose(map.followed(by: inverse), .identity, within: 1e-5), "seed \(seed)")
        }
        #expect(Matrix4(AffineMatrix(a: 0, b: 0, c: 0, d: 1, tx: 0, ty: 0)).inverse == nil)
    }
}

extension Inventor {
    /// A note that leaves its plane, often beyond the viewer.
    fileprivate mutating func deepNote() -> Element {
        var note = self.note()
        note.positionZ = self.uniform(-300...300).rounded()
        note.rotationX = Angle(degrees: self.uniform(0...360)).degrees
        note.rotationY = self.chance(20) ? 90 : Angle(degrees: self.uniform(0...360)).degrees
        note.perspective = self.chance(20) ? 0 : self.uniform(50...1000)
        return note
    }
}

extension Element {
    /// Whether it is not seen almost edge-on.
    fileprivate func stretchIsUsable(at own: Point) -> Bool {
        let map = self.projection()
        let step = 1e-3
        guard let place = map.projected(own), let right = map.projected(own + Point(x: step, y: 0)),
            let down = map.projected(own + Point(x: 0, y: step))
        else { return false }
        let (x, y) = (right - place, down - place)
        return (x.x * y.y - x.y * y.x).magnitude > 1e-3 * step * step
    }
}
