internal import Canvas
internal import JSONBytes

/// A shape of a file of tldraw.
struct TldrawShape {
    private static let colours = [
        "black": "paper", "grey": "slate", "light-violet": "lilac", "violet": "lilac", "blue": "sky",
        "light-blue": "sky", "yellow": "sun", "orange": "peach", "green": "mint", "light-green": "mint",
        "light-red": "rose", "red": "rose", "white": "paper",
    ]
    /// Of texts, and of what is written on something.
    private static let textSizes = ["s": 18.0, "m": 24, "l": 36, "xl": 44]
    private static let labelSizes = ["s": 18.0, "m": 22, "l": 26, "xl": 32]
    private static let alignments = [
        "start": "left", "start-legacy": "left", "middle": "center", "middle-legacy": "center", "end": "right",
        "end-legacy": "right",
    ]
    private static let left = ["video": "video", "embed": "embedded page", "bookmark": "bookmark"]
    /// The side of a note.
    private static let note = 200.0
    private static let deepest = 30

    private let id: String
    private let type: String
    private let props: JSONValue?
    private let frame: TldrawFrame
    private let scale: Double
    private let colour: String

    init(_ shape: JSONValue, _ frame: TldrawFrame) {
        self.id = Foreign.text(shape["id"])
        self.type = Foreign.text(shape["type"])
        self.props = shape["props"]
        self.frame = frame
        self.scale = max(Foreign.number(self.props?["scale"], 1), 0.01)
        self.colour = Self.colours[Foreign.text(self.props?["color"])] ?? "paper"
    }

    /// - Parameter arrow: takes an arrow with this look.
    func take(
        into harvest: inout Harvest, assets: [String: JSONValue],
        arrow: (Harvest.Fields, inout Harvest) -> Void
    ) {
        let look = self.frame.look
        let line = look + [("stroke", .text(self.colour))]
        let content = harvest.content(Self.words(self.props))
        switch self.type {
        case "geo": self.takeForm(content, look, into: &harvest)
        case "note":
            let height = (Self.note + Foreign.number(self.props?["growY"])) * self.scale
            let tint = self.colour == "paper" ? "sun" : self.colour
            let fields = self.frame.box(Self.note * self.scale, height) + look + [("tint", .text(tint))]
            harvest.add(ForeignElement(self.id, "note", fields + [("content", .text(content))] + self.label))
        case "text": self.takeText(content, look, into: &harvest)
        case "draw", "highlight": harvest.stroke(self.id, self.drawn, line)
        case "line":
            let handles = self.props?["points"] ?? self.props?["handles"]
            let points = TldrawFile.sorted(handles.map { $0.members.map(\.value) } ?? [])
            let places = points.filter { $0.kind == .object }.map {
                Point(x: Foreign.number($0["x"]), y: Foreign.number($0["y"]))
            }
            harvest.stroke(self.id, places.map(self.frame.place(of:)), line)
        case "arrow":
            if !content.isEmpty { harvest.leave("text on an arrow") }
            if Foreign.number(self.props?["bend"]) != 0 { harvest.leave("bent arrow, as a straight one") }
            arrow(line, &harvest)
        case "image":
            let flips: [(StaticString, String)] = [("scaleX", "flipX"), ("scaleY", "flipY")]
            let mirrored: Harvest.Fields = flips.filter { self.props?[$0.1]?.bool == true }.map { ($0.0, .number(-1)) }
            let box = self.frame.box(Foreign.number(self.props?["w"], 100), Foreign.number(self.props?["h"], 100))
            let asset = assets[Foreign.text(self.props?["assetId"])]
            harvest.picture(asset?["props"]?["src"], self.id, box + look + mirrored)
        default: harvest.leave(Self.left[self.type] ?? "unknown thing")
        }
    }

    private var label: Harvest.Fields {
        let size = Self.labelSizes[Foreign.text(self.props?["size"])] ?? 22
        return [
            ("fontSize", .number(Foreign.fine(min(max(size * self.scale, 12), 72)))),
            ("align", .text(Self.alignments[Foreign.text(self.props?["align"])] ?? "center")),
        ]
    }

    private func takeForm(_ content: String, _ look: Harvest.Fields, into harvest: inout Harvest) {
        let form = Foreign.text(self.props?["geo"])
        let isRound = form == "ellipse" || form == "oval"
        if !isRound && form != "rectangle" { harvest.leave("other shape, as a rectangle") }
        let fill: String
        switch self.props?["fill"] {
        case nil: fill = "none"
        case let kind?: fill = kind.string == "none" ? "none" : kind.string == "semi" ? "paper" : self.colour
        }
        let height = Foreign.number(self.props?["h"], 100) + Foreign.number(self.props?["growY"])
        let fields =
            self.frame.box(Foreign.number(self.props?["w"], 100), height) + look + [
                ("shape", .text(isRound ? "ellipse" : "rectangle")), ("fill", .text(fill)),
                ("stroke", .text(self.colour)),
            ]
        let label = content.isEmpty ? [] : [("content", .text(content))] + self.label
        harvest.add(ForeignElement(self.id, "shape", fields + label))
    }

    /// Files do not say how large a text is: letters are about 0.6 of their size wide.
    private func takeText(_ content: String, _ look: Harvest.Fields, into harvest: inout Harvest) {
        let size = Self.textSizes[Foreign.text(self.props?["size"])] ?? 24
        let fontSize = Foreign.fine(min(max(size * self.scale, 12), 72))
        let lines = content.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map(\.count)
        let isFree = self.props?["autoSize"]?.bool != false
        let width =
            isFree
            ? Double(lines.max() ?? 0) * fontSize * 0.62 + 24 : Foreign.number(self.props?["w"], 200) * self.scale
        let wrapped = lines.map { max((Double($0) * fontSize * 0.62 / max(width, 1)).rounded(.up), 1) }
        let count = isFree ? Double(lines.count) : wrapped.reduce(0, +)
        let align = self.props?["textAlign"] ?? self.props?["align"]
        let fields: Harvest.Fields = [
            ("content", .text(content)), ("fontSize", .number(fontSize)),
            ("align", .text(Self.alignments[Foreign.text(align)] ?? "left")), ("ink", .text(self.colour)),
        ]
        harvest.add(
            ForeignElement(self.id, "text", self.frame.box(width, count * fontSize * 1.2 + 12) + look + fields))
    }

    /// The points of a pen on the canvas.
    private var drawn: [Point] {
        var points = Foreign.list(self.props?["segments"]).flatMap(TldrawPath.points)
        if self.props?["isClosed"]?.bool == true, let first = points.first { points.append(first) }
        let x = self.scale * Foreign.number(self.props?["scaleX"], 1)
        let y = self.scale * Foreign.number(self.props?["scaleY"], 1)
        return points.map { self.frame.place(of: Point(x: $0.x * x, y: $0.y * y)) }
    }

    /// Its text, which newer files have as a document.
    private static func words(_ props: JSONValue?) -> String {
        if let text = props?["text"]?.string { return text }
        func words(_ node: JSONValue?, _ depth: Int) -> String {
            guard let node, node.kind == .object, depth <= Self.deepest else { return "" }
            if let text = node["text"]?.string { return text }
            let type = node["type"]?.string
            if type == "hardBreak" { return "\n" }
            return Foreign.list(node["content"]).map { words($0, depth + 1) }
                .joined(separator: type == "paragraph" || type == "heading" ? "" : "\n")
        }
        return words(props?["richText"], 0)
    }
}
