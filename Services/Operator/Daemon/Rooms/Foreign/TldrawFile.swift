internal import Canvas
internal import JSONBytes

/// A file of tldraw (.tldr), or one of its snapshots.
struct TldrawFile {
    /// Parents above each other at most.
    private static let deepest = 30

    private let records: [JSONValue]
    /// The shapes by the name of their parent, each list in its order.
    private let children: [String: [JSONValue]]
    private let shapes: [String: JSONValue]
    private let assets: [String: JSONValue]
    private let bindings: [JSONValue]

    /// Nil for another file.
    init?(_ file: JSONValue) {
        if let records = file["records"], records.kind == .array {
            self.records = Foreign.list(records).filter { $0.kind == .object }
        } else if let store = file["document"]?["store"] ?? file["store"], store.kind == .object {
            self.records = store.members.map(\.value).filter { $0.kind == .object }
        } else {
            return nil
        }
        let shapes = Self.sorted(self.records.filter { $0["typeName"]?.string == "shape" })
        self.children = Dictionary(grouping: shapes) { Foreign.text($0["parentId"]) }
        self.shapes = Dictionary(shapes.map { (Foreign.text($0["id"]), $0) }) { $1 }
        let assets = self.records.filter { $0["typeName"]?.string == "asset" }
        self.assets = Dictionary(assets.map { (Foreign.text($0["id"]), $0) }) { $1 }
        self.bindings = self.records.filter { $0["typeName"]?.string == "binding" && $0["type"]?.string == "arrow" }
    }

    /// By their indexes, which are texts.
    static func sorted(_ records: [JSONValue]) -> [JSONValue] {
        let keys = records.map { Array(Foreign.text($0["index"]).utf16) }
        return records.indices.sorted { one, other in
            keys[one].lexicographicallyPrecedes(keys[other]) || (keys[one] == keys[other] && one < other)
        }.map { records[$0] }
    }

    func harvest() -> Harvest {
        var harvest = Harvest()
        let pages = Self.sorted(self.records.filter { $0["typeName"]?.string == "page" }).map { Foreign.text($0["id"]) }
        guard let first = pages.first else { return harvest }
        for shape in self.children[first] ?? [] { self.put(shape, TldrawFrame(), 0, into: &harvest) }
        for page in pages.dropFirst() {
            for _ in self.children[page] ?? [] { harvest.leave("thing on another page") }
        }
        return harvest.untied()
    }

    private func put(_ shape: JSONValue, _ parent: TldrawFrame, _ depth: Int, into harvest: inout Harvest) {
        var frame = parent.child(shape)
        let type = Foreign.text(shape["type"])
        guard type == "group" || type == "frame" else {
            return TldrawShape(shape, frame).take(into: &harvest, assets: self.assets) {
                self.arrow(shape, frame, $0, into: &$1)
            }
        }
        if type == "frame" {
            harvest.leave("frame")
        } else if frame.group == nil {
            frame.group = Foreign.text(shape["id"])
        }
        guard depth < Self.deepest else { return harvest.leave("thing in too many groups") }
        for child in self.children[Foreign.text(shape["id"])] ?? [] {
            self.put(child, frame, depth + 1, into: &harvest)
        }
    }

    private func arrow(_ shape: JSONValue, _ frame: TldrawFrame, _ look: Harvest.Fields, into harvest: inout Harvest) {
        let props = shape["props"]
        let ends = ["start", "end"].map { name in
            let end = props?[name]
            let point = Point(x: Foreign.number(end?["x"]), y: Foreign.number(end?["y"]))
            return (frame.place(of: point), self.tie(Foreign.text(shape["id"]), name, end))
        }
        func hasHead(_ name: String, _ otherwise: String) -> Bool {
            let head = Foreign.text(props?[name])
            return (head.isEmpty ? otherwise : head) != "none"
        }
        let isBackward = hasHead("arrowheadStart", "none") && !hasHead("arrowheadEnd", "arrow")
        harvest.arrow(
            Foreign.text(shape["id"]), from: ends[isBackward ? 1 : 0], to: ends[isBackward ? 0 : 1], look)
    }

    private func tie(_ arrow: String, _ name: String, _ end: JSONValue?) -> ForeignElement.Tie? {
        let bound = self.bindings.first {
            $0["fromId"]?.string == arrow && $0["props"]?["terminal"]?.string == name
        }
        // Older files have the binding in the arrow.
        let inside = end?["type"]?.string == "binding" ? end : nil
        let element = Foreign.text(bound?["toId"] ?? inside?["boundShapeId"])
        guard !element.isEmpty, let target = self.shapes[element],
            !["group", "frame", "arrow", "line", "draw", "highlight"].contains(Foreign.text(target["type"]))
        else { return nil }
        let isExact = bound.map { $0["props"]?["isPrecise"]?.bool != false } ?? true
        let anchor = (bound?["props"] ?? inside)?["normalizedAnchor"]
        func share(_ axis: String) -> Double {
            isExact ? Foreign.fine(min(max(Foreign.number(anchor?[axis], 0.5), 0), 1)) : 0.5
        }
        return .init(element: element, place: Point(x: share("x"), y: share("y")))
    }
}

/// Where a parent puts its children.
struct TldrawFrame {
    var origin = Point.zero
    var radians = 0.0
    var opacity = 1.0
    var isLocked = false
    var group: String?

    func child(_ shape: JSONValue) -> TldrawFrame {
        let way = Point(x: Foreign.number(shape["x"]), y: Foreign.number(shape["y"]))
        return TldrawFrame(
            origin: self.place(of: way), radians: self.radians + Foreign.number(shape["rotation"]),
            opacity: self.opacity * min(max(Foreign.number(shape["opacity"], 1), 0), 1),
            isLocked: self.isLocked || shape["isLocked"]?.bool == true, group: self.group)
    }

    /// Where a point of the shape is on the canvas.
    func place(of point: Point) -> Point { self.origin + Foreign.turned(point, self.radians) }

    /// A shape turns about its corner, an element about its middle.
    func box(_ width: Double, _ height: Double) -> Harvest.Fields {
        let middle = self.place(of: Point(x: width / 2, y: height / 2))
        return ForeignPlace(
            corner: Point(x: middle.x - width / 2, y: middle.y - height / 2), width: width, height: height,
            radians: self.radians
        ).fields
    }

    /// What all have.
    var look: Harvest.Fields {
        var fields: Harvest.Fields = []
        if self.opacity < 1 { fields.append(("opacity", .number(Foreign.fine(self.opacity)))) }
        if self.isLocked { fields.append(("locked", .flag)) }
        if let group = self.group { fields.append(("groupId", .text(group))) }
        return fields
    }
}
