import Canvas
import JSONBytes

let rules = RulesTable.defaults

func json(_ text: String) throws -> JSONValue {
    var document = JSONDocument()
    try document.parse(text.utf8, limits: .element)
    return document.root
}

/// The field that a piece of reading refuses; nil if it does not.
func refusedField<Value>(_ body: () throws -> Value) -> String? {
    do {
        _ = try body()
        return nil
    } catch {
        return (error as? FieldError)?.field ?? "\(error)"
    }
}

func adjustment(_ field: String, _ sent: Double, _ stored: Double, _ why: Adjustment.Why) -> Adjustment {
    Adjustment(field: field, sent: sent, stored: stored, why: why)
}

/// A new element of a type from an app's JSON members.
func created(_ type: String, _ members: String = "") throws -> (Element, [Adjustment]) {
    let body = try json("{\"type\":\"\(type)\"\(members.isEmpty ? "" : "," + members)}")
    return rules.create(try NewElement(body, path: "element"), id: "e1", by: "ann")
}

func text(_ body: (inout JSONWriter) -> Void) -> String {
    var writer = JSONWriter()
    body(&writer)
    return String(decoding: writer.bytes, as: UTF8.self)
}

func isClose(_ left: Point, _ right: Point, within tolerance: Double = 1e-9) -> Bool {
    let size = max(1, left.x.magnitude, left.y.magnitude)
    return (left.x - right.x).magnitude <= tolerance * size && (left.y - right.y).magnitude <= tolerance * size
}

/// The numbers that are none.
let notFinite: [Double] = [.nan, -.nan, .signalingNaN, .infinity, -.infinity]

extension Inventor {
    mutating func uniform(_ range: ClosedRange<Double>) -> Double { Double.random(in: range, using: &self.generator) }

    mutating func point(_ range: ClosedRange<Double>) -> Point {
        Point(x: self.uniform(range), y: self.uniform(range))
    }

    /// A named anchor or any other, on the element or not far from it.
    mutating func anchor() -> Point {
        if self.chance(50) { return self.point(-2...2) }
        return AnchorPoint.allCases.randomElement(using: &self.generator)?.unitPoint ?? .zero
    }

    mutating func size(_ range: ClosedRange<Double>) -> Size {
        Size(width: self.uniform(range), height: self.uniform(range))
    }

    /// Any finite number: any bits, or one of those at which arithmetic goes wrong.
    mutating func anyNumber() -> Double {
        if self.chance(30) {
            let largest = Double.greatestFiniteMagnitude
            let smallest = Double.leastNonzeroMagnitude
            return [largest, -largest, smallest, -smallest, 0, -0.0, 1, -1, 360].randomElement(using: &self.generator)
                ?? 0
        }
        let number = Double(bitPattern: self.generator.next())
        return number.isFinite ? number : self.number(-1000...1000)
    }

    mutating func anyPoint() -> Point { Point(x: self.anyNumber(), y: self.anyNumber()) }

    /// A rotated, scaled, often mirrored note with any anchor on it, as it may be on somebody's screen.
    mutating func note() -> Element {
        var note = Element(id: "e", type: "note", createdBy: "u")
        (note.positionX, note.positionY) = (self.uniform(-1000...1000), self.uniform(-1000...1000))
        note.rotation =
            self.chance(20)
            ? [0, 90, 180, 270][Int.random(in: 0..<4, using: &self.generator)]
            : Angle(degrees: self.uniform(0...360)).degrees
        note.scaleX = self.uniform(0.1...10) * (self.chance(30) ? -1 : 1)
        note.scaleY = self.uniform(0.1...10) * (self.chance(30) ? -1 : 1)
        (note.originalWidth, note.originalHeight) = (self.uniform(10...400), self.uniform(10...400))
        (note.anchorX, note.anchorY) = (self.uniform(-0.5...1.5), self.uniform(-0.5...1.5))
        return note
    }

    mutating func pose() -> Pose {
        Pose(
            position: self.point(-1000...1000), rotation: Angle(degrees: self.uniform(0...360)),
            scaleX: self.uniform(-5...5), scaleY: self.uniform(-5...5))
    }
}

func isClose(_ left: [Point], _ right: [Point], within tolerance: Double = 1e-9) -> Bool {
    left.count == right.count && zip(left, right).allSatisfy { isClose($0, $1, within: tolerance) }
}

func isClose(_ left: Double, _ right: Double, within tolerance: Double = 1e-9) -> Bool {
    (left - right).magnitude <= tolerance * max(1, left.magnitude, right.magnitude)
}

extension Gesture {
    /// A drag by pixels of the canvas; for an annotation by fractions of the parent.
    static func drag(_ translation: Point) -> Gesture {
        var gesture = Gesture()
        gesture.translation = translation
        return gesture
    }

    /// A pinch by a factor on both axes.
    static func pinch(_ factor: Double) -> Gesture {
        var gesture = Gesture()
        (gesture.scaleX, gesture.scaleY) = (factor, factor)
        return gesture
    }

    /// A rotation, clockwise; it may exceed a full turn.
    static func turn(degrees: Double) -> Gesture {
        var gesture = Gesture()
        gesture.rotation = degrees
        return gesture
    }

    /// A tilt by degrees about the x axis and the y axis.
    static func tilt(_ degrees: Point) -> Gesture {
        var gesture = Gesture()
        gesture.tilt = degrees
        return gesture
    }
}
