internal import Canvas
internal import JSONBytes

/// A file of Excalidraw (.excalidraw).
struct ExcalidrawFile {
    /// What has a form here.
    private static let forms = ["rectangle": "rectangle", "diamond": "rectangle", "ellipse": "ellipse"]
    /// What is left out, by what it is.
    private static let left = [
        "frame": "frame", "magicframe": "frame", "embeddable": "embedded page", "iframe": "embedded page",
    ]

    private let things: [JSONValue]
    private let files: JSONValue?
    /// The last of each name.
    private let byID: [String: Int]
    /// The text in each form: by the form's name the place of the text.
    private let labels: [String: Int]

    /// Nil for another file.
    init?(_ file: JSONValue) {
        guard file["type"]?.string == "excalidraw", file["elements"]?.kind == .array else { return nil }
        let things = Foreign.list(file["elements"]).filter { $0.kind == .object && $0["isDeleted"]?.bool != true }
        self.things = things
        self.files = file["files"]
        self.byID = Dictionary(things.indices.map { (Foreign.text(things[$0]["id"]), $0) }) { $1 }
        var labels: [String: Int] = [:]
        for (index, thing) in things.enumerated() where thing["type"]?.string == "text" {
            guard let holder = thing["containerId"]?.string, let place = self.byID[holder],
                Self.forms[Foreign.text(things[place]["type"])] != nil
            else { continue }
            labels[holder] = index
        }
        self.labels = labels
    }

    func harvest() -> Harvest {
        var harvest = Harvest()
        for (index, thing) in self.things.enumerated() {
            if thing["type"]?.string == "text", let holder = thing["containerId"]?.string, self.byID[holder] != nil {
                if self.labels[holder] != index { harvest.leave("text on an arrow") }
            } else {
                self.take(thing, into: &harvest)
            }
        }
        return harvest.untied()
    }

    private func take(_ thing: JSONValue, into harvest: inout Harvest) {
        let (id, type) = (Foreign.text(thing["id"]), Foreign.text(thing["type"]))
        let common = Self.common(thing)
        let base = Self.place(thing).fields + common
        let stroke = ForeignColour.ink(Foreign.text(thing["strokeColor"]))
        if let form = Self.forms[type] {
            if type == "diamond" { harvest.leave("diamond, as a rectangle") }
            let fill = thing["backgroundColor"]
            let isEmpty = fill == nil || fill?.string == "transparent"
            let look: Harvest.Fields = [
                ("shape", .text(form)), ("fill", .text(isEmpty ? "none" : ForeignColour.tint(Foreign.text(fill)))),
                ("stroke", .text(stroke)),
            ]
            let label = self.labels[id].map { Self.label(self.things[$0], &harvest) } ?? []
            return harvest.add(ForeignElement(id, "shape", base + look + label))
        }
        switch type {
        case "text":
            let label = Self.label(thing, &harvest)
            harvest.add(ForeignElement(id, "text", base + label + [("ink", .text(stroke))]))
        case "arrow": self.takeArrow(thing, common + [("stroke", .text(stroke))], into: &harvest)
        case "line", "freedraw":
            harvest.stroke(id, Self.points(thing), common + [("stroke", .text(stroke))])
        case "image":
            let scale = Foreign.list(thing["scale"]).map(\.double)
            let names: [StaticString] = ["scaleX", "scaleY"]
            let mirrored: Harvest.Fields = zip(names, scale).filter { $0.1 == -1 }.map { ($0.0, .number(-1)) }
            let file = thing["fileId"]?.string.flatMap { self.files?[$0] }
            harvest.picture(file?["dataURL"], id, base + mirrored)
        default: harvest.leave(Self.left[type] ?? "unknown thing")
        }
    }

    private static func place(_ thing: JSONValue) -> ForeignPlace {
        ForeignPlace(
            corner: Point(x: Foreign.number(thing["x"]), y: Foreign.number(thing["y"])),
            width: Foreign.number(thing["width"], 100), height: Foreign.number(thing["height"], 100),
            radians: Foreign.number(thing["angle"]))
    }

    /// What all have.
    private static func common(_ thing: JSONValue) -> Harvest.Fields {
        var fields: Harvest.Fields = []
        let opacity = min(max(Foreign.number(thing["opacity"], 100), 0), 100) / 100
        if opacity < 1 { fields.append(("opacity", .number(opacity))) }
        if thing["locked"]?.bool == true { fields.append(("locked", .flag)) }
        if let group = Foreign.list(thing["groupIds"]).last?.string { fields.append(("groupId", .text(group))) }
        return fields
    }

    private static func label(_ text: JSONValue, _ harvest: inout Harvest) -> Harvest.Fields {
        let align = text["textAlign"]?.string ?? ""
        let original = Foreign.text(text["originalText"])
        return [
            ("content", .text(harvest.content(original.isEmpty ? Foreign.text(text["text"]) : original))),
            ("fontSize", .number(min(max(Foreign.fine(Foreign.number(text["fontSize"], 20)), 12), 72))),
            ("align", .text(["left", "center", "right"].contains(align) ? align : "left")),
        ]
    }

    /// The points of a line on the canvas: its box turns about its middle.
    private static func points(_ thing: JSONValue) -> [Point] {
        let place = Self.place(thing)
        let points = Foreign.list(thing["points"]).map { point in
            let pair = Foreign.list(point)
            return place.corner
                + Point(x: Foreign.number(pair.first), y: Foreign.number(pair.dropFirst().first))
        }
        guard Foreign.degrees(place.radians) != 0, let first = points.first else { return points }
        let (xs, ys) = (points.map(\.x), points.map(\.y))
        let middle = Point(
            x: ((xs.min() ?? first.x) + (xs.max() ?? first.x)) / 2,
            y: ((ys.min() ?? first.y) + (ys.max() ?? first.y)) / 2)
        return points.map { middle + Foreign.turned($0 - middle, place.radians) }
    }

    private func takeArrow(_ thing: JSONValue, _ look: Harvest.Fields, into harvest: inout Harvest) {
        let points = Self.points(thing)
        guard points.count > 1 else { return harvest.leave("arrow without a way") }
        if points.count > 2 { harvest.leave("bent arrow, as a straight one") }
        let start = (points[0], self.tie(thing["startBinding"]))
        let end = (points[points.count - 1], self.tie(thing["endBinding"]))
        let isBackward = thing["startArrowhead"]?.string != nil && thing["endArrowhead"]?.string == nil
        harvest.arrow(
            Foreign.text(thing["id"]), from: isBackward ? end : start, to: isBackward ? start : end, look)
    }

    private func tie(_ binding: JSONValue?) -> ForeignElement.Tie? {
        guard let element = binding?["elementId"]?.string, !element.isEmpty, let index = self.byID[element] else {
            return nil
        }
        let target = self.things[index]
        let type = Foreign.text(target["type"])
        let isInside = target["containerId"]?.string.map { self.byID[$0] != nil } ?? false
        guard Self.forms[type] != nil || type == "text" || type == "image", !isInside else { return nil }
        let place = Foreign.list(binding?["fixedPoint"])
        func share(_ value: JSONValue?) -> Double { Foreign.fine(min(max(Foreign.number(value, 0.5), 0), 1)) }
        return .init(element: element, place: Point(x: share(place.first), y: share(place.dropFirst().first)))
    }
}
