import Canvas
import Testing

@Suite("Commits and previews under the rules")
struct TransformRuleTests {
    @Test("absent = leave as it is")
    func absent() throws {
        var (element, _) = try created("note", #""positionX":5,"positionY":6,"rotation":10,"scaleX":2,"scaleY":3"#)
        let before = element
        #expect(rules.apply(TransformFields(), to: &element).isEmpty)
        #expect(element == before)
        #expect(rules.apply(TransformFields(positionX: 7), to: &element).isEmpty)
        #expect((element.positionX, element.positionY, element.rotation) == (7, 6, 10))
        #expect((element.scaleX, element.scaleY) == (2, 3))
    }

    @Test(
        "range: a scale outside its type's range is clamped and named",
        arguments: [
            ("note", 20.0, 10.0), ("note", 0.01, 0.1), ("photo", 6, 5), ("photo", 0.1, 0.2), ("video", 4, 3),
            ("text", 11, 10),
            ("sticker", 11, 10), ("sticker", 0, 0.1), ("note", -20, -10), ("note", -0.01, -0.1), ("note", 1e308, 10),
        ])
    func range(type: String, sent: Double, stored: Double) throws {
        var (element, _) = try created(type)
        let adjusted = rules.apply(TransformFields(scaleX: sent, scaleY: sent), to: &element)
        #expect(adjusted == [adjustment("scaleX", sent, stored, .range), adjustment("scaleY", sent, stored, .range)])
        #expect((element.scaleX, element.scaleY) == (stored, stored))
    }

    @Test("range: the ends of a range are inside")
    func rangeEnds() throws {
        for (type, low, high) in [("note", 0.1, 10.0), ("photo", 0.2, 5), ("video", 0.5, 3)] {
            var (element, _) = try created(type)
            for scale in [low, high] {
                #expect(rules.apply(TransformFields(scaleX: scale, scaleY: scale), to: &element).isEmpty)
            }
        }
    }

    @Test("free aspect: each axis by itself")
    func freeAspect() throws {
        var (element, _) = try created("note")
        #expect(rules.apply(TransformFields(scaleX: 2), to: &element).isEmpty)
        #expect((element.scaleX, element.scaleY) == (2, 1))
        #expect((element.width, element.height) == (200, 100))
    }

    @Test(
        "aspect: the axis that moved further in log scale decides, a tie is X's",
        arguments: [
            (2.0, 3.0, 3.0), (3, 2, 3), (0.5, 1.5, 0.5), (1.5, 0.5, 0.5), (2, 0.5, 2), (0.5, 2, 0.5), (1, 1, 1),
            (4, 0.3, 4), (4, 0.24, 0.24),
        ])
    func aspect(x: Double, y: Double, stored: Double) throws {
        var (element, _) = try created("photo")
        let adjusted = rules.apply(TransformFields(scaleX: x, scaleY: y), to: &element)
        #expect((element.scaleX, element.scaleY) == (stored, stored))
        #expect(adjusted.map(\.field) == (x != stored ? ["scaleX"] : []) + (y != stored ? ["scaleY"] : []))
        #expect(adjusted.allSatisfy { $0.why == .aspect })
    }

    @Test("aspect: compared with the stored scale, not with 1")
    func aspectStored() throws {
        var (element, _) = try created("photo", #""scaleX":4,"scaleY":4"#)
        #expect(
            rules.apply(TransformFields(scaleX: 4.1, scaleY: 2), to: &element) == [
                adjustment("scaleX", 4.1, 2, .aspect)
            ])
    }

    @Test("aspect: one axis alone decides and drags the other along, which is not reported")
    func aspectAlone() throws {
        var (element, _) = try created("photo")
        #expect(rules.apply(TransformFields(scaleY: 2), to: &element).isEmpty)
        #expect((element.scaleX, element.scaleY) == (2, 2))
        #expect(rules.apply(TransformFields(scaleX: 3), to: &element).isEmpty)
        #expect((element.scaleX, element.scaleY) == (3, 3))
    }

    @Test("aspect: the sign of a scale is a mirror and stays per axis, 0 counts as +")
    func signs() throws {
        var (element, _) = try created("photo")
        #expect(
            rules.apply(TransformFields(scaleX: -2, scaleY: 1), to: &element) == [adjustment("scaleY", 1, 2, .aspect)])
        #expect((element.scaleX, element.scaleY) == (-2, 2))
        #expect(rules.apply(TransformFields(scaleY: 3), to: &element).isEmpty)
        #expect((element.scaleX, element.scaleY) == (-3, 3))
        _ = rules.apply(TransformFields(scaleX: 0, scaleY: -0.0), to: &element)
        #expect((element.scaleX, element.scaleY) == (0.2, 0.2))
        #expect(element.width > 0)
    }

    @Test("aspect: decided on raw values, before the range")
    func aspectThenRange() throws {
        var (element, _) = try created("photo")
        // Clamped first, both would be 5 and nothing would be left to decide.
        let adjusted = rules.apply(TransformFields(scaleX: 0.001, scaleY: 40), to: &element)
        #expect((element.scaleX, element.scaleY) == (0.2, 0.2))
        #expect(adjusted == [adjustment("scaleX", 0.001, 0.2, .range), adjustment("scaleY", 40, 0.2, .range)])
    }

    @Test("aspect: values whose quotients overflow are still compared")
    func aspectOverflow() throws {
        var (element, _) = try created("photo", #""scaleX":0.2,"scaleY":0.2"#)
        _ = rules.apply(TransformFields(scaleX: 1e308, scaleY: .leastNonzeroMagnitude), to: &element)
        #expect((element.scaleX, element.scaleY) == (0.2, 0.2))
        _ = rules.apply(TransformFields(scaleX: .greatestFiniteMagnitude, scaleY: 1), to: &element)
        #expect((element.scaleX, element.scaleY) == (5, 5))
        // 0 is infinitely far away, on either axis.
        _ = rules.apply(TransformFields(scaleX: 1e308, scaleY: 0), to: &element)
        #expect((element.scaleX, element.scaleY) == (0.2, 0.2))
        _ = rules.apply(TransformFields(scaleX: 3, scaleY: 3), to: &element)
        _ = rules.apply(TransformFields(scaleX: 0, scaleY: 4), to: &element)
        #expect((element.scaleX, element.scaleY) == (0.2, 0.2))
    }

    @Test("size: a video's smallest side stays at 44 px")
    func smallestSide() throws {
        var (element, _) = try created("video", #""width":160,"height":80"#)
        let adjusted = rules.apply(TransformFields(scaleX: 0.5, scaleY: 0.5), to: &element)
        #expect(adjusted == [adjustment("scaleX", 0.5, 0.55, .size), adjustment("scaleY", 0.5, 0.55, .size)])
        #expect(element.height >= 44)
    }

    @Test("size: audio stays at 120 × 44 px or more")
    func audioSize() throws {
        var (element, _) = try created("audio", #""width":160,"height":80"#)
        _ = rules.apply(TransformFields(scaleX: 0.5, scaleY: 0.5), to: &element)
        #expect((element.scaleX, element.scaleY) == (0.75, 0.75))
    }

    @Test("size: the smallest size wins over the largest scale")
    func sizeWins() throws {
        var (element, adjusted) = try created("video", #""width":10,"height":10"#)
        #expect((element.scaleX, element.scaleY) == (4.4, 4.4))
        #expect(
            adjusted == [
                adjustment("width", 10, element.width, .computed), adjustment("height", 10, element.height, .computed),
            ])
        #expect(
            rules.apply(TransformFields(scaleX: 3, scaleY: -3), to: &element) == [
                adjustment("scaleX", 3, 4.4, .size), adjustment("scaleY", -3, -4.4, .size),
            ])
    }

    @Test(
        "rotation: the same angle spelt differently is no adjustment",
        arguments: [
            (360.0, 0.0), (-90, 270), (-0.0, 0), (720, 0), (450, 90), (-360, 0), (-1e-20, 0), (359.5, 359.5),
        ])
    func rotationSpelling(sent: Double, stored: Double) throws {
        var (element, _) = try created("note")
        #expect(rules.apply(TransformFields(rotation: sent), to: &element).isEmpty)
        #expect(element.rotation == stored)
        #expect(element.rotation.sign == .plus)
    }

    @Test("rotation: any finite number is an angle")
    func hugeRotation() throws {
        var (element, _) = try created("note")
        for sent in [1e300, -1e300, 1.7976931348623157e308, .leastNonzeroMagnitude] {
            #expect(rules.apply(TransformFields(rotation: sent), to: &element).isEmpty)
            #expect((0..<360).contains(element.rotation))
        }
    }

    @Test("rotation: audio is kept at 0")
    func audioRotation() throws {
        var (element, adjusted) = try created("audio", #""width":160,"height":80,"rotation":45"#)
        #expect(adjusted == [adjustment("rotation", 45, 0, .rotation)])
        #expect(
            rules.apply(TransformFields(rotation: 450), to: &element) == [adjustment("rotation", 450, 0, .rotation)])
        #expect(rules.apply(TransformFields(rotation: 360), to: &element).isEmpty)
        #expect(element.rotation == 0)
    }

    @Test(
        "snap: the last step for rotation",
        arguments: [
            (90.0, 44.0, 0.0), (90, 46, 90), (90, 45, 90), (90, 316, 0), (45, 22.5, 45), (45, 350, 0), (45, -20, 0),
            (45, 400, 45), (180, 269, 180),
            (180, 270, 0), (100, 359, 0), (100, 310, 300), (50, 358, 0), (50, 340, 350),
            (0.1, 0.26, 0.30000000000000004),
        ])
    func snap(step: Double, sent: Double, stored: Double) throws {
        var (element, _) = try created("note", "\"snapDegrees\":\(step)")
        #expect(
            rules.apply(TransformFields(rotation: sent), to: &element) == [adjustment("rotation", sent, stored, .snap)])
        #expect(element.rotation == stored)
        #expect(rules.apply(TransformFields(rotation: stored), to: &element).isEmpty)
    }

    @Test("snap: a multiple spelt otherwise is no adjustment")
    func snapSpelling() throws {
        var (element, _) = try created("note", #""snapDegrees":90"#)
        for sent in [90, -270, 450, 360, -90.0] {
            #expect(rules.apply(TransformFields(rotation: sent), to: &element).isEmpty)
        }
    }

    @Test(
        "integer: positions are whole pixels, halves away from zero",
        arguments: [
            (10.4, 10.0), (10.5, 11), (-10.5, -11), (-10.4, -10), (-0.4, 0), (0.5, 1), (0.49999999999999994, 0),
        ])
    func integer(sent: Double, stored: Double) throws {
        var (element, _) = try created("note")
        #expect(
            rules.apply(TransformFields(positionX: sent, positionY: 3), to: &element) == [
                adjustment("positionX", sent, stored, .integer)
            ])
        #expect(element.positionX == stored)
        #expect(element.positionX.sign == (stored < 0 ? .minus : .plus))
    }

    @Test("range: positions are clamped to ± 1,000,000,000")
    func positionRange() throws {
        var (element, _) = try created("note")
        #expect(
            rules.apply(TransformFields(positionX: 1e308, positionY: -1_000_000_001), to: &element) == [
                adjustment("positionX", 1e308, 1e9, .range), adjustment("positionY", -1_000_000_001, -1e9, .range),
            ])
        #expect(rules.apply(TransformFields(positionX: 1e9, positionY: -1e9), to: &element).isEmpty)
    }

    @Test("bounds: the anchor position is clamped into them")
    func bounds() throws {
        var (element, _) = try created("note", #""bounds":{"x":0,"y":10,"width":100,"height":50}"#)
        #expect(element.positionY == 10)
        #expect(
            rules.apply(TransformFields(positionX: 150, positionY: -5), to: &element) == [
                adjustment("positionX", 150, 100, .bounds), adjustment("positionY", -5, 10, .bounds),
            ])
        #expect(rules.apply(TransformFields(positionX: 0, positionY: 60), to: &element).isEmpty)
    }

    @Test("bounds: positions stay whole in bounds that are not")
    func fractionalBounds() throws {
        var (element, _) = try created("note", #""bounds":{"x":0.5,"y":0.25,"width":9.25,"height":0.5}"#)
        _ = rules.apply(TransformFields(positionX: -3, positionY: 7), to: &element)
        #expect((element.positionX, element.positionY) == (1, 0))
        _ = rules.apply(TransformFields(positionX: 50), to: &element)
        #expect(element.positionX == 9)
    }

    @Test("normalized: 0…1, not rounded")
    func normalized() throws {
        var (element, _) = try created(
            "text", #""space":"normalized","parentId":"p","positionX":0.123456,"positionY":0.5"#)
        #expect(element.positionX == 0.123456)
        #expect(
            rules.apply(TransformFields(positionX: 1.5, positionY: -0.1), to: &element) == [
                adjustment("positionX", 1.5, 1, .range), adjustment("positionY", -0.1, 0, .range),
            ])
        #expect(rules.apply(TransformFields(positionX: 0.3333333, positionY: -0.0), to: &element).isEmpty)
    }

    @Test("computed: a size hint differing by up to half a pixel is no adjustment")
    func sizeHints() throws {
        var (element, _) = try created("note")
        #expect(rules.apply(TransformFields(scaleX: 2, scaleY: 2, width: 200.5, height: 199.5), to: &element).isEmpty)
        #expect(
            rules.apply(TransformFields(scaleX: 2, scaleY: 2, width: 200.51, height: 0), to: &element) == [
                adjustment("width", 200.51, 200, .computed), adjustment("height", 0, 200, .computed),
            ])
        // Hints alone change nothing.
        let before = element
        _ = rules.apply(TransformFields(width: 1e308, height: -1e308), to: &element)
        #expect(element == before)
    }

    @Test func noStoredValueIsEverNonFiniteWhateverArithmeticHandsIn() throws {
        var (element, _) = try created("photo")
        let before = element
        #expect(
            rules.apply(
                TransformFields(
                    positionX: .nan, positionY: .nan, rotation: .nan, scaleX: .nan, scaleY: -.nan, width: .nan,
                    height: .nan),
                to: &element
            ).isEmpty)
        #expect(element == before)
        _ = rules.apply(
            TransformFields(
                positionX: .infinity, positionY: -.infinity, rotation: .infinity, scaleX: -.infinity, scaleY: .infinity),
            to: &element)
        #expect((element.positionX, element.positionY) == (1e9, -1e9))
        #expect((element.scaleX, element.scaleY) == (-5, 5))
        #expect((0..<360).contains(element.rotation))
    }

    @Test func anAdjustmentIsWrittenWithTheElementsIdInGroups() {
        let adjusted = adjustment("rotation", 45, 0, .rotation)
        #expect(text { adjusted.encode(into: &$0) } == #"{"field":"rotation","sent":45,"stored":0,"why":"rotation"}"#)
        #expect(
            text { adjusted.encode(into: &$0, elementId: "e\"1") }
                == #"{"elementId":"e\"1","field":"rotation","sent":45,"stored":0,"why":"rotation"}"#)
    }
}
