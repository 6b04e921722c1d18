import Canvas
import JSONBytes
import Testing
import Wire

/// Random elements and commits, from the reasonable to the absurd.
struct Inventor {
    var generator: SplitMix64
    let types = ["note", "photo", "video", "audio", "text", "sticker"]

    init(seed: UInt64) { self.generator = SplitMix64(seed: seed) }

    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self.generator) < percent }

    /// A finite number: mostly near `range`, sometimes far from it, sometimes any bits.
    mutating func number(_ range: ClosedRange<Double>) -> Double {
        switch Int.random(in: 0..<10, using: &self.generator) {
        case 0:
            let any = Double(bitPattern: self.generator.next())
            return any.isFinite ? any : 0
        case 1:
            return [0, -0.0, 1, -1, 1e308, -1e308, 1e-308, .leastNonzeroMagnitude, 0.5, 360].randomElement(
                using: &self.generator) ?? 0
        default: return Double.random(in: range, using: &self.generator)
        }
    }

    mutating func maybe(_ range: ClosedRange<Double>, _ percent: Int = 50) -> Double? {
        self.chance(percent) ? self.number(range) : nil
    }

    mutating func positive(_ range: ClosedRange<Double>) -> Double? {
        self.maybe(range).map { max($0.magnitude, .leastNonzeroMagnitude) }
    }

    mutating func fields() -> TransformFields {
        TransformFields(
            positionX: self.maybe(-2000...2000), positionY: self.maybe(-2000...2000), rotation: self.maybe(-720...720),
            scaleX: self.maybe(-12...12),
            scaleY: self.maybe(-12...12), width: self.maybe(1...500), height: self.maybe(1...500))
    }

    mutating func sizes() -> ElementChanges {
        var changes = ElementChanges()
        changes.originalWidth = self.positive(1...500)
        changes.originalHeight = self.positive(1...500)
        return changes
    }

    mutating func newElement() -> NewElement {
        var new = NewElement(type: self.types.randomElement(using: &self.generator) ?? "note")
        new.transform = self.fields()
        new.transform.width = self.positive(1...500)
        new.transform.height = self.positive(1...500)
        new.originalWidth = self.positive(1...500)
        new.originalHeight = self.positive(1...500)
        new.anchorX = self.maybe(0...1)
        new.anchorY = self.maybe(0...1)
        new.snapDegrees = self.chance(30) ? max(self.number(1...180).magnitude, .leastNonzeroMagnitude) : nil
        new.fontSize = self.maybe(1...100)
        new.zIndex = self.maybe(-10...10)
        new.locked = self.chance(20)
        if self.chance(30) {
            new.bounds = Bounds(
                x: self.number(-100...100), y: self.number(-100...100), width: self.number(0...100).magnitude,
                height: self.number(0...100).magnitude)
        }
        if self.chance(30) { new.constraints = self.constraints() }
        // What snapped off the arc may be nearer to its other end, and snap elsewhere from there.
        if new.snapDegrees != nil { new.constraints?.rotation = nil }
        if self.chance(30) { (new.space, new.parentId) = (.normalized, "p") }
        if self.chance(50) { new.extra = [ExtraField(name: "k\u{E9}\"", json: Array(#"{"x":[1,null]}"#.utf8))] }
        return new
    }

    mutating func constraints() -> Constraints {
        var constraints = Constraints()
        if self.chance(30) { constraints.axis = self.chance(50) ? .x : .y }
        if self.chance(50) {
            let low = min(max(self.number(-360...360), -360), 360)
            constraints.rotation = low...min(low + Double.random(in: 0...360, using: &self.generator), 360)
        }
        if self.chance(50) {
            let low = self.positive(0.1...5) ?? 1
            constraints.scale = low...(low + self.number(0...5).magnitude)
        }
        if self.chance(50) {
            constraints.grid = Constraints.Grid(
                x: self.positive(0.1...50), y: self.positive(0.1...50), offsetX: self.maybe(-50...50),
                offsetY: self.maybe(-50...50))
        }
        return constraints
    }
}

@Suite("Properties of the rules")
struct PropertyTests {
    private func stored(_ element: Element) -> TransformFields {
        TransformFields(
            positionX: element.positionX, positionY: element.positionY, rotation: element.rotation,
            scaleX: element.scaleX, scaleY: element.scaleY,
            width: element.width, height: element.height)
    }

    /// Every promise about a stored element.
    private func broken(_ element: Element) -> String? {
        let typeRules = rules.rules(for: element.type)
        let numbers = [
            element.positionX, element.positionY, element.rotation, element.scaleX, element.scaleY,
            element.originalWidth, element.originalHeight,
            element.anchorX, element.anchorY, element.width, element.height,
        ]
        if !numbers.allSatisfy(\.isFinite) { return "not finite" }
        if !(0..<360).contains(element.rotation) || element.rotation.sign == .minus { return "rotation" }
        if !typeRules.rotates, element.rotation != 0 { return "rotates" }
        let positions = [element.positionX, element.positionY]
        switch element.space {
        case .canvas:
            if positions.contains(where: { $0.magnitude > 1e9 || $0.rounded() != $0 }) { return "position" }
        case .normalized: if positions.contains(where: { !(0...1).contains($0) }) { return "position" }
        }
        if positions.contains(where: { $0 == 0 && $0.sign == .minus }) { return "-0" }
        let (x, y) = (element.scaleX.magnitude, element.scaleY.magnitude)
        if typeRules.lockedAspect, x != y { return "aspect" }
        if x < typeRules.minScale || y < typeRules.minScale { return "too small" }
        let hasSmallest = max(typeRules.minSide, typeRules.minWidth, typeRules.minHeight) > 0
        if !hasSmallest, max(x, y) > typeRules.maxScale { return "too large" }
        if element.width < max(typeRules.minWidth, typeRules.minSide) { return "narrow" }
        if element.height < max(typeRules.minHeight, typeRules.minSide) { return "low" }
        if let fontSize = element.fontSize, let range = typeRules.fontSize, !range.contains(fontSize) {
            return "fontSize"
        }
        if let arc = element.constraints?.rotation, typeRules.rotates, element.snapDegrees == nil {
            // An end that was normalised may lie beyond itself by a rounding.
            let past = Angle(degrees: element.rotation - arc.lowerBound).degrees
            if past > arc.upperBound - arc.lowerBound + 1e-9, past < 360 - 1e-9 { return "arc" }
        }
        if let step = element.snapDegrees, !(step > 0 && step <= 180) { return "snapDegrees" }
        return nil
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func storedValuesAreInsideEveryRangeStaySoAndApplyingThemAgainAdjustsNothing(seed: UInt64) {
        var inventor = Inventor(seed: seed)
        for round in 0..<2500 {
            let new = inventor.newElement()
            var (element, adjusted) = rules.create(new, id: "e", by: "u")
            for _ in 0..<4 {
                if let promise = self.broken(element) {
                    Issue.record("seed \(seed) round \(round): \(promise) in \(element)")
                    return
                }
                guard adjusted.allSatisfy({ $0.stored.isFinite && $0.sent.isFinite && $0.sent != $0.stored }) else {
                    Issue.record("seed \(seed) round \(round): \(adjusted)")
                    return
                }
                let before = element
                let again = rules.apply(self.stored(element), to: &element)
                guard again.isEmpty, element == before else {
                    Issue.record("seed \(seed) round \(round): \(again) for \(before)")
                    return
                }
                // A constraint holds what is sent; a resize sends no scale.
                adjusted =
                    inventor.chance(30) && element.constraints?.scale == nil
                    ? rules.apply(inventor.sizes(), to: &element) : rules.apply(inventor.fields(), to: &element)
            }
        }
    }

    @Test(arguments: [5, 6] as [UInt64])
    func everythingThatIsSentAndNotAdjustedIsStoredAsSent(seed: UInt64) {
        var inventor = Inventor(seed: seed)
        for _ in 0..<3000 {
            var (element, _) = rules.create(inventor.newElement(), id: "e", by: "u")
            let sent = inventor.fields()
            let adjusted = rules.apply(sent, to: &element)
            let pairs: [(String, Double?, Double)] = [
                ("positionX", sent.positionX, element.positionX), ("positionY", sent.positionY, element.positionY),
                ("scaleX", sent.scaleX, element.scaleX),
                ("scaleY", sent.scaleY, element.scaleY),
                ("rotation", sent.rotation.map { Angle(degrees: $0).degrees }, element.rotation),
            ]
            for (field, value, stored) in pairs {
                let isNamed = adjusted.contains { $0.field == field }
                #expect(isNamed == (value != nil && value != stored), "seed \(seed): \(field) of \(sent) in \(element)")
            }
        }
    }

    @Test("decode ∘ encode = identity", arguments: [7, 8] as [UInt64])
    func roundTrip(seed: UInt64) throws {
        var inventor = Inventor(seed: seed)
        for _ in 0..<1500 {
            let (element, _) = rules.create(inventor.newElement(), id: "e\u{301}-😀\"", by: "u\n")
            let once = text { element.encode(into: &$0) }
            let read = try #require(Element(json: try json(once)), "seed \(seed): \(once)")
            #expect(read == element, "seed \(seed)")
            #expect(text { read.encode(into: &$0) } == once, "seed \(seed)")
        }
    }

    @Test(arguments: [9, 10] as [UInt64])
    func gesturesAndPresetsLeaveAStoredElementInsideEveryRange(seed: UInt64) {
        var inventor = Inventor(seed: seed)
        for round in 0..<3000 {
            var (element, _) = rules.create(inventor.newElement(), id: "e", by: "u")
            var gesture = Gesture()
            gesture.translation = Point(x: inventor.number(-50...50), y: inventor.number(-50...50))
            gesture.scaleX = inventor.number(-3...3)
            gesture.scaleY = inventor.number(-3...3)
            gesture.rotation = inventor.number(-400...400)
            if inventor.chance(40) { gesture.anchor = Point(x: inventor.number(0...1), y: inventor.number(0...1)) }
            let pivot =
                inventor.chance(40) ? Point(x: inventor.number(-500...500), y: inventor.number(-500...500)) : nil
            _ = rules.apply(
                gesture.followed(by: gesture), to: &element, pivot: pivot, parentSize: Size(width: 300, height: 200))
            for preset in Preset.allCases { _ = rules.apply(preset.fields(on: element), to: &element) }
            if let promise = self.broken(element) {
                Issue.record("seed \(seed) round \(round): \(promise) in \(element)")
            }
        }
    }
}
