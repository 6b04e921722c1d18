import HistoryChecker

// What apps do in the last scene of a world.
extension App {
    /// Makes sure of what it sees, and that there is an element for it to drag. Some keep what they look at.
    func prepareScene() {
        if self.sight == .unknown || self.world.random.place(2) == 0 { self.look() }
        if self.sceneElement == nil { self.create() }
    }

    /// Throws an element, and has another one turn without end.
    func setInMotion() {
        let ids = self.elements.ids.filter { !AppElements.isAnnotation($0) }
        guard let thrown = ids.first, let turning = ids.last else { return }
        let tracks = "{\"rotation\":[{\"at\":1,\"value\":360}]}"
        self.begin("element:throw", on: [thrown], "\"elementId\":\"\(thrown)\",\"velocity\":{\"x\":900,\"y\":-700}")
        self.begin(
            "element:animate", on: [turning],
            "\"elementId\":\"\(turning)\","
                + "\"animation\":{\"ms\":900,\"iterations\":\"infinite\",\"composite\":\"add\",\"tracks\":\(tracks)}")
    }

    /// The element that it drags, each app of the room another one; nil when there are too few.
    private var sceneElement: String? {
        let apps = self.world.apps.filter { $0.room == self.room }
        let elements = self.elements.ids.filter { !AppElements.isAnnotation($0) }
        guard let place = apps.firstIndex(where: { $0 === self }), place < elements.count else { return nil }
        return elements[place]
    }

    /// Drags its element and moves its cursor through what others look at.
    func playScene() {
        self.gesture += 1
        self.playScene(steps: Int(self.world.random.number(4...7)), on: self.sceneElement)
    }

    private func playScene(steps: Int, on element: String?) {
        guard case .joined = self.state else { return }
        guard steps > 0 else { return self.endScene(element) }
        for _ in 0...self.world.random.place(2) {
            if let element { self.drag(element, step: steps) }
            if self.world.random.place(3) == 0 { self.point(in: self.viewOfAnother) }
        }
        if self.world.random.place(30) == 0 { self.look() }
        self.world.after(self.world.random.number(0...40) * .millisecond) { [weak self] in
            self?.playScene(steps: steps - 1, on: element)
        }
    }

    /// Some lift the finger, some keep it down; some look at another part, where others may still move something.
    private func endScene(_ element: String?) {
        if self.world.random.place(2) == 0 { self.look() }
        guard let element, self.world.random.place(4) == 0 else { return }
        let fields = "\"elementId\":\"\(element)\",\"positionX\":500,\"gesture\":\(self.gesture)"
        self.begin("element:transform", on: [element], fields, gesture: self.gesture)
    }

    private func drag(_ element: String, step: Int) {
        let (x, y) = self.spot(in: self.viewOfAnother)
        self.show(
            "element:transforming", [element],
            "\"elementId\":\"\(element)\",\"positionX\":\(x),\"positionY\":\(y),"
                + "\"transform\":{\"rotation\":\(step * 7 % 360),\"scaleX\":1,\"scaleY\":1}")
    }

    private func point(in view: CanvasBox) {
        let (x, y) = self.spot(in: view)
        self.point(x: x, y: y)
    }

    /// What somebody else in the room looks at, if anybody does.
    private var viewOfAnother: CanvasBox {
        let views = self.world.apps.compactMap { app in
            if case .part(let view) = app.sight, app.room == self.room, app !== self { view } else { nil }
        }
        guard !views.isEmpty else { return CanvasBox(left: 0, top: 0, right: 1000, bottom: 1000) }
        return views[self.world.random.place(views.count)]
    }

    /// A point in a view, about its margin, or, as often as not, far away: there it mostly stays on one side.
    private func spot(in view: CanvasBox) -> (x: Int, y: Int) {
        var x = view.left + (view.right - view.left) * Double(self.world.random.number(0...100)) / 100
        let y = view.top + (view.bottom - view.top) * Double(self.world.random.number(0...100)) / 100
        switch self.world.random.place(8) {
        case 0...2: break
        case 3: x = view.right + Double(self.world.random.number(0...400))
        case 4: x -= 5000
        default: x += 5000 + Double(self.world.random.number(0...900))
        }
        return (Int(x), Int(y))
    }
}
