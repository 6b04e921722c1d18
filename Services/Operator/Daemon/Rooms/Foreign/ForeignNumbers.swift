internal import Canvas
internal import Glibc
internal import JSONBytes

/// What files of other programs have in common. A field that is missing or of another kind counts as its default. The page
/// of the canvas reads them by the same rules (Services/Gateway/Pages/web/canvas/foreign.js); Tests/Import holds both to the
/// same results.
enum Foreign {
    /// How far a coordinate may be, pixels.
    private static let far = 1e7

    static func number(_ value: JSONValue?, _ otherwise: Double = 0) -> Double {
        value?.double.map { min(max($0, -Self.far), Self.far) } ?? otherwise
    }

    static func text(_ value: JSONValue?) -> String { value?.string ?? "" }

    static func list(_ value: JSONValue?) -> [JSONValue] { value.map { Array($0.elements) } ?? [] }

    /// Halves go up.
    static func whole(_ value: Double) -> Double { (value + 0.5).rounded(.down) }

    /// Two digits behind the point.
    static func fine(_ value: Double) -> Double { Self.whole(value * 100) / 100 }

    static func turned(_ point: Point, _ radians: Double) -> Point {
        let (cosine, sine) = (cos(radians), sin(radians))
        return Point(x: point.x * cosine - point.y * sine, y: point.x * sine + point.y * cosine)
    }

    /// Degrees from 0 to below 360.
    static func degrees(_ radians: Double) -> Double {
        let degrees = Self.fine(radians * 180 / Double.pi).truncatingRemainder(dividingBy: 360)
        return degrees < 0 ? Self.fine(degrees + 360) : degrees
    }
}

/// A rectangle that was turned about its middle.
struct ForeignPlace {
    /// Its upper left corner before.
    var corner: Point
    var width: Double
    var height: Double
    var radians: Double

    /// The geometry of an element.
    var fields: [(name: StaticString, value: ForeignElement.Value)] {
        let rotation = Foreign.degrees(self.radians)
        let turn: [(name: StaticString, value: ForeignElement.Value)] = [("rotation", .number(rotation))]
        return [
            ("positionX", .number(Foreign.whole(self.corner.x + self.width / 2))),
            ("positionY", .number(Foreign.whole(self.corner.y + self.height / 2))),
            ("width", .number(max(Foreign.fine(self.width.magnitude), 1))),
            ("height", .number(max(Foreign.fine(self.height.magnitude), 1))),
        ] + (rotation == 0 ? [] : turn)
    }
}

/// The palette of the page: a colour of another program is the nearest one.
enum ForeignColour {
    private static let names = ["sun", "peach", "rose", "lilac", "sky", "mint", "slate", "paper"]
    private static let inks = [
        0x7A5403, 0x974304, 0xAE1B40, 0x733AB9, 0x005FA6, 0x186B45, 0x4A5364, 0x171A23,
    ]
    private static let tints = [
        0xFFE593, 0xFFD1AC, 0xFECACD, 0xDFD0FF, 0xBADFFF, 0xB8F1CF, 0xD6DDE9, 0xFFFFFF,
    ]

    /// The line that is nearest to a colour such as `#1971c2`; `paper` for what is no such colour.
    static func ink(_ colour: String) -> String { Self.nearest(colour, Self.inks) }

    /// The fill.
    static func tint(_ colour: String) -> String { Self.nearest(colour, Self.tints) }

    private static func nearest(_ colour: String, _ colours: [Int]) -> String {
        guard let value = Self.parse(colour) else { return "paper" }
        var best = 0
        for index in colours.indices where Self.distance(colours[index], value) < Self.distance(colours[best], value) {
            best = index
        }
        return Self.names[best]
    }

    /// Three digits, or six, perhaps with two of opacity.
    private static func parse(_ colour: String) -> Int? {
        var digits = colour.utf8.dropFirst().compactMap { hexDigit($0) == 0xFF ? nil : Int(hexDigit($0)) }
        guard colour.utf8.first == UInt8(ascii: "#"), digits.count == colour.utf8.count - 1 else { return nil }
        if digits.count == 3 { digits = digits.flatMap { [$0, $0] } }
        guard digits.count == 6 || digits.count == 8 else { return nil }
        return digits.prefix(6).reduce(0) { $0 << 4 | $1 }
    }

    private static func distance(_ one: Int, _ other: Int) -> Int {
        [16, 8, 0].reduce(0) { sum, shift in
            let way = (one >> shift & 255) - (other >> shift & 255)
            return sum + way * way
        }
    }
}
