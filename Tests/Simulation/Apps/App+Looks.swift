import HistoryChecker
import JSONBytes

// What apps look at, and what they show of themselves.
extension App {
    // MARK: Viewports

    /// Looks at a part of the canvas, named in one of the two ways, or at everything again.
    func look() {
        self.world.count("apps.viewports")
        switch self.world.random.place(5) {
        case 0: self.look(at: nil, "")
        case 1, 2: self.lookScaled()
        default:
            let (x, y) = (Double(self.world.random.number(0...900)), Double(self.world.random.number(0...900)))
            let size = Double(self.world.random.number(600...1500))
            let box = CanvasBox(left: x, top: y, right: x + size, bottom: y + 800)
            let fields = ",\"x\":\(x),\"y\":\(y),\"width\":\(size),\"height\":800"
            guard self.world.random.place(2) == 0 else { return self.look(at: box, fields) }
            self.world.count("apps.viewports-shared")
            self.look(at: box, fields + ",\"share\":true", shared: "\(x) \(y) \(size) 800.0")
        }
    }

    /// Names the part by zoom and offset: screen = (p − canvasCentre) · zoomScale + viewCentre + offset, both sizes and the
    /// offset given; the part runs from the screen's (0, 0) to its far corner.
    private func lookScaled() {
        let zoom = [0.25, 0.5, 1][self.world.random.place(3)]
        let (x, y) = (Double(self.world.random.number(0...600)) - 300, Double(self.world.random.number(0...600)) - 300)
        let (width, height) = (800.0, 600.0)
        let left = (-width / 2 - x) / zoom + 1000
        let top = (-height / 2 - y) / zoom + 500
        self.look(
            at: CanvasBox(left: left, top: top, right: left + width / zoom, bottom: top + height / zoom),
            ",\"zoomScale\":\(zoom),\"offset\":{\"x\":\(x),\"y\":\(y)},"
                + "\"viewSize\":{\"width\":\(width),\"height\":\(height)},"
                + "\"canvasSize\":{\"width\":2000,\"height\":1000}")
    }

    private func look(at box: CanvasBox?, _ fields: String, shared: String? = nil) {
        self.witness.looks()
        self.shown["viewport"] = shared
        self.send("[\"viewport:set\",{\"roomId\":\"\(self.room)\"\(fields)}]", awaiting: .view(box))
    }

    func viewAnswered(_ box: CanvasBox?, _ answer: JSONValue) {
        if answer["ok"]?.bool == true { self.witness.sees(box) }
    }

    /// It is in its room. Some look at a part first.
    func beganToSee() {
        self.witness.beganToSee()
        if self.world.random.place(3) == 0 { self.look() }
    }

    // MARK: Awareness

    /// Moves the cursor, hides it, selects something or shows a state.
    func point() {
        switch self.world.random.place(5) {
        case 0: self.hideCursor()
        case 1: self.showState()
        case 2: self.point(x: Int(self.world.random.number(0...900)), y: 5)
        default:
            self.world.count("apps.selections")
            let selection = self.world.random.place(3) == 0 ? [] : [self.pick()]
            self.shown["selection"] = selection.first
            let ids = selection.map { "\"\($0)\"" }.joined(separator: ",")
            let fields = "\"roomId\":\"\(self.room)\",\"elementIds\":[\(ids)]"
            self.send("[\"selection:set\",{\(fields)}]", awaiting: .other)
        }
    }

    private func showState() {
        self.world.count("apps.states")
        let state = "{\"tool\":\(self.world.random.place(100))}"
        self.shown["state"] = state
        self.send("[\"presence:set\",{\"roomId\":\"\(self.room)\",\"state\":\(state)}]", awaiting: .other)
    }

    func point(x: Int, y: Int) {
        self.observe(.pointed) { $0.show(cursor: (Double(x), Double(y))) }
        self.send("[\"cursor:moving\",{\"roomId\":\"\(self.room)\",\"x\":\(x),\"y\":\(y)}]", awaiting: nil)
    }

    private func hideCursor() {
        self.observe(.pointed)
        self.send("[\"cursor:moving\",{\"roomId\":\"\(self.room)\",\"x\":null,\"y\":null}]", awaiting: nil)
    }
}
