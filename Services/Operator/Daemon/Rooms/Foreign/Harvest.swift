internal import Canvas
internal import JSONBytes

/// Collects what comes out of a file of another program: elements, the lowest first, and how often what was left out or
/// changed.
struct Harvest {
    typealias Fields = [(name: StaticString, value: ForeignElement.Value)]

    /// Elements of a file, characters of a text and bytes of a picture at most: an element's own fields have little space.
    private static let most = (elements: 5000, characters: 1500, picture: 128 << 10)

    private(set) var elements: [ForeignElement] = []
    /// By what it is, in the singular, in the order in which it was met.
    private(set) var left: [(what: String, count: Int)] = []
    private var ids: Set<String> = []

    mutating func leave(_ what: String) {
        if let index = self.left.firstIndex(where: { $0.what == what }) {
            self.left[index].count += 1
        } else {
            self.left.append((what, 1))
        }
    }

    mutating func add(_ element: ForeignElement) {
        guard self.elements.count < Self.most.elements else {
            return self.leave("element beyond \(Self.most.elements)")
        }
        var element = element
        let id = element.id
        var count = 2
        while !self.ids.insert(element.id).inserted {
            element.id = "\(id) \(count)"
            count += 1
        }
        self.elements.append(element)
    }

    /// A text that an element can keep.
    mutating func content(_ text: String) -> String {
        let scalars = text.unicodeScalars.filter { $0.value != 0 }
        if scalars.count > Self.most.characters {
            self.leave("end of a text beyond \(Self.most.characters) characters")
        }
        var content = String.UnicodeScalarView()
        content.append(contentsOf: scalars.prefix(Self.most.characters))
        return String(content)
    }

    /// A picture, if it is one that an element can bring.
    mutating func picture(_ address: JSONValue?, _ id: String, _ fields: Fields) {
        guard let address = address?.string, Self.isPicture(address) else {
            return self.leave("picture that is not in the file")
        }
        guard address.utf8.count <= Self.most.picture else { return self.leave("picture that is too large") }
        self.add(ForeignElement(id, "photo", fields + [("picture", .text(address))]))
    }

    private static func isPicture(_ address: String) -> Bool {
        for kind in ["png", "jpeg", "webp", "gif"] where address.hasPrefix("data:image/\(kind);base64,") {
            let digits = address.utf8.dropFirst("data:image/\(kind);base64,".utf8.count)
            let body = digits.prefix { $0 != UInt8(ascii: "=") }
            return !body.isEmpty && digits.dropFirst(body.count).allSatisfy { $0 == UInt8(ascii: "=") }
                && body.allSatisfy { byte in
                    switch byte {
                    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
                        true
                    default: false
                    }
                }
        }
        return false
    }

    /// A line of a pen, in several elements of a group if it is long.
    mutating func stroke(_ id: String, _ points: [Point], _ fields: Fields) {
        let parts = PenStroke.parts(points)
        let isGrouped = fields.contains { $0.name.description == "groupId" }
        for (index, part) in parts.enumerated() {
            guard let box = Self.box(around: part) else { continue }
            let numbers = part.flatMap { [Foreign.whole($0.x - box.corner.x), Foreign.whole($0.y - box.corner.y)] }
            let group: Fields = parts.count > 1 && !isGrouped ? [("groupId", .text(id))] : []
            self.add(
                ForeignElement(
                    index == 0 ? id : "\(id)-\(index)", "stroke",
                    box.fields + [("points", .numbers(numbers))] + fields + group))
        }
    }

    private static func box(around points: [Point]) -> ForeignPlace? {
        guard let first = points.first else { return nil }
        var (least, most) = (first, first)
        for point in points {
            (least.x, least.y) = (min(least.x, point.x), min(least.y, point.y))
            (most.x, most.y) = (max(most.x, point.x), max(most.y, point.y))
        }
        return ForeignPlace(
            corner: least, width: max(most.x - least.x, 1), height: max(most.y - least.y, 1), radians: 0)
    }

    /// An arrow between two points of the canvas, each perhaps on an element.
    mutating func arrow(
        _ id: String, from start: (Point, ForeignElement.Tie?), to end: (Point, ForeignElement.Tie?), _ fields: Fields
    ) {
        let ends = [start.0, end.0].map { Point(x: Foreign.whole($0.x), y: Foreign.whole($0.y)) }
        guard let box = Self.box(around: ends) else { return }
        self.add(
            ForeignElement(
                id, "arrow",
                box.fields + [
                    ("from", .end(ends[0] - box.corner, on: start.1)), ("to", .end(ends[1] - box.corner, on: end.1)),
                ] + fields))
    }

    /// Arrows let go of what did not come with them.
    consuming func untied() -> Harvest {
        let targets = Set(self.elements.filter(\.isTarget).map(\.id))
        for index in self.elements.indices { self.elements[index].untie { targets.contains($0) } }
        return self
    }
}
