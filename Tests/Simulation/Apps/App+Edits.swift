import HistoryChecker

/// Fingers on one element or on a group.
struct Moving {
    var elements: [String]
    /// How many previews are sent before the commit.
    var previewsLeft: Int
}

// The edits of an app's user: what the gateway may be sent, drawn from what the app has.
extension App {
    // MARK: Elements

    func create() {
        let id = self.newID()
        let item = "{\"id\":\"\(id)\",\"type\":\"note\",\"positionX\":1,\"positionY\":2}"
        self.begin("element:create", on: [id], "\"element\":\(item)")
    }

    /// Creates an element together with annotations of it.
    func createSeveral() {
        let parent = self.newID()
        let item = "{\"id\":\"\(parent)\",\"type\":\"photo\",\"positionX\":5,\"positionY\":6}"
        let annotations = Set((0...self.world.random.place(3)).map { _ in self.newAnnotationID() }).sorted()
        let items = [item] + annotations.map { Self.annotation($0, of: parent) }
        self.begin(
            "elements:create", on: [parent] + annotations, "\"elements\":[\(items.joined(separator: ","))]")
    }

    /// Adds an annotation to an element, which somebody may be deleting.
    func annotate() {
        let parents = self.elements.ids.filter { !AppElements.isAnnotation($0) }
        guard !parents.isEmpty else { return self.create() }
        let id = self.newAnnotationID()
        let item = Self.annotation(id, of: parents[self.world.random.place(parents.count)])
        self.begin("element:create", on: [id], "\"element\":\(item)")
    }

    func update() {
        let id = self.pick()
        self.begin("element:update", on: [id], "\"elementId\":\"\(id)\",\"set\":{\(self.changes)}")
    }

    /// Sets and removes an option and a field of the app's own, or resizes.
    private var changes: String {
        let number = self.world.random.number(12...72)
        let choices = [
            "\"zIndex\":\(number)", "\"zIndex\":null", "\"tint\":\(number),\"zIndex\":null", "\"tint\":null",
            "\"originalWidth\":\(number)", "\"originalHeight\":\(number),\"tint\":null",
        ]
        return choices[self.world.random.place(choices.count)]
    }

    func delete() {
        let id = self.pick()
        self.begin("element:delete", on: [id], "\"elementId\":\"\(id)\"")
    }

    func deleteGroup() {
        let ids = self.withStranger(self.pickGroup())
        self.begin("elements:delete", on: ids, "\"elementIds\":\(Self.list(ids))")
    }

    private static func annotation(_ id: String, of parent: String) -> String {
        "{\"id\":\"\(id)\",\"type\":\"text\",\"parentId\":\"\(parent)\",\"space\":\"normalized\","
            + "\"positionX\":0.5,\"positionY\":0.25}"
    }

    // MARK: Fingers

    /// Touches an element or a group.
    func beginMove() {
        self.gesture += 1
        let elements = self.world.random.chance(35) ? self.pickGroup() : [self.pick()]
        self.moving = Moving(elements: elements, previewsLeft: Int(self.world.random.number(0...4)))
        self.move()
    }

    /// Shows a preview of something that its user touches, or commits the move.
    func move() {
        guard var moving else { return }
        guard moving.previewsLeft > 0 else {
            self.moving = nil
            return moving.elements.count == 1 ? self.lift(moving.elements[0]) : self.lift(moving.elements)
        }
        moving.previewsLeft -= 1
        self.moving = moving
        if moving.elements.count > 1, self.world.random.place(2) == 0 { return self.show(moving.elements) }
        let element = moving.elements[self.world.random.place(moving.elements.count)]
        if self.world.random.place(3) == 0 {
            self.show("element:gesturing", [element], "\"elementId\":\"\(element)\",\(self.deltas)")
        } else {
            self.show("element:transforming", [element], self.part(of: element))
        }
    }

    private func show(_ group: [String]) {
        let pivot = "{\"x\":\(self.world.random.number(0...500)),\"y\":0}"
        self.show("elements:gesturing", group, "\"elements\":\(Self.list(group)),\"pivot\":\(pivot),\(self.deltas)")
    }

    /// - Parameter fields: the members of the payload that say what is shown.
    func show(_ event: String, _ elements: [String], _ fields: String) {
        let shown = elements.count == 1 ? AppText(Array("{\(fields)}".utf8)).root : nil
        for element in elements {
            self.observe(.previewSent) {
                $0.element = element
                $0.gesture = self.gesture
                if let shown { $0.show(shown, on: self.elements.states[element]) }
                if event == "element:transforming" { $0.targets = AppText.fields(of: shown) }
            }
        }
        self.send(
            "[\"\(event)\",{\"roomId\":\"\(self.room)\",\(fields),\"gesture\":\(self.gesture)}]", awaiting: nil)
    }

    /// Commits a move of one element in one of the ways in which that is possible.
    private func lift(_ element: String) {
        let id = "\"elementId\":\"\(element)\""
        switch self.world.random.place(8) {
        case 0: self.lift("element:gesture", [element], "\(id),\(self.deltas)\(self.motion)")
        case 1: self.lift("element:gesture", [element], "\(id),\(self.deltas),\"anchor\":\(self.anchor)")
        case 2: self.lift("element:preset", [element], "\(id),\"preset\":\"\(self.preset)\"\(self.motion)")
        case 3: self.lift("element:throw", [element], "\(id),\(self.velocity)")
        default: self.lift("element:transform", [element], "\(self.transform(of: element))\(self.motion)")
        }
    }

    /// Commits a move of a group.
    private func lift(_ elements: [String]) {
        let ids = self.withStranger(elements)
        // A pivot is on the canvas, where annotations are not.
        if ids.contains(where: AppElements.isAnnotation) || self.world.random.place(2) == 0 {
            let items = ids.map { "{\(self.transform(of: $0))}" }.joined(separator: ",")
            self.lift("elements:transform", ids, "\"elements\":[\(items)]\(self.motion)")
        } else if self.world.random.place(3) == 0 {
            let items = ids.map { "{\"elementId\":\"\($0)\"}" }.joined(separator: ",")
            self.lift("elements:throw", ids, "\"elements\":[\(items)],\(self.velocity)")
        } else {
            let pivot = "{\"x\":\(self.world.random.number(0...500)),\"y\":\(self.world.random.number(0...500))}"
            self.lift("elements:gesture", ids, "\"elements\":\(Self.list(ids)),\"pivot\":\(pivot),\(self.deltas)")
        }
    }

    private func lift(_ event: String, _ targets: [String], _ fields: String) {
        self.begin(event, on: targets, "\(fields),\"gesture\":\(self.gesture)", gesture: self.gesture)
    }

    /// Lets elements pulse and turn, or leaves them alone.
    func animate() {
        let ids = self.world.random.place(2) == 0 ? self.pickGroup() : [self.pick()]
        let tracks = [
            "\"tracks\":{\"opacity\":[{\"at\":0.5,\"value\":0}]}",
            "\"tracks\":{\"rotation\":[{\"at\":0,\"value\":0,\"curve\":\"ease\"},{\"at\":1,\"value\":720}]}",
            "\"composite\":\"add\",\"tracks\":{\"positionX\":[{\"at\":0.5,\"value\":80}],\"scaleX\":[{\"at\":0.3,\"value\":1}]}",
        ][self.world.random.place(3)]
        let times = self.world.random.place(4) == 0 ? "\"infinite\"" : "9"
        let animation = self.world.random.place(4) == 0 ? "null" : "{\"ms\":300,\"iterations\":\(times),\(tracks)}"
        guard ids.count > 1 else {
            return self.begin("element:animate", on: ids, "\"elementId\":\"\(ids[0])\",\"animation\":\(animation)")
        }
        self.begin(
            "elements:animate", on: ids,
            "\"elements\":\(Self.list(ids)),\"animation\":\(animation),\"staggerMs\":40")
    }

    /// Catches what flies.
    func halt() {
        let fields = "\"fields\":[\"positionX\",\"positionY\"]"
        if self.world.random.place(2) == 0 {
            let ids = self.withStranger(self.pickGroup())
            return self.begin("elements:halt", on: ids, "\"elements\":\(Self.list(ids)),\(fields)")
        }
        let id = self.pick()
        self.begin("element:halt", on: [id], "\"elementId\":\"\(id)\",\(fields)")
    }

    /// At times a motion, as the last member of a payload.
    private var motion: String {
        switch self.world.random.place(4) {
        case 0: ",\"motion\":{\"ms\":\(self.world.random.number(1...2000))}"
        case 1: ",\"motion\":{\"spring\":{\"response\":0.3,\"velocity\":{\"positionX\":500}},\"turn\":\"cw\"}"
        default: ""
        }
    }

    private var velocity: String {
        let (x, y) = (self.world.random.number(0...900), self.world.random.number(0...900))
        return "\"velocity\":{\"x\":\(x),\"y\":\(y)},\"rate\":0.99"
    }

    private func transform(of element: String) -> String {
        let (place, turn) = self.target()
        return "\"elementId\":\"\(element)\",\(place),\(turn)"
    }

    /// A preview has what a hand has moved since the last one: at times the place alone, or the rest alone.
    private func part(of element: String) -> String {
        let (place, turn) = self.target()
        let parts = place.utf8.count % 3 == 0 ? place : turn.utf8.count % 3 == 0 ? turn : "\(place),\(turn)"
        return "\"elementId\":\"\(element)\",\(parts)"
    }

    /// Where a hand may put an element, and how it may turn it.
    private func target() -> (place: String, turn: String) {
        let (x, y) = (self.world.random.number(0...999), self.world.random.number(0...999))
        return (
            "\"positionX\":\(x),\"positionY\":\(y),\"positionZ\":\(x)",
            "\"transform\":{\"rotation\":\(x % 360),\"rotationX\":\(y),\"perspective\":\(x % 8 == 0 ? y : 0)}"
        )
    }

    /// What two fingers did: small numbers, so that elements stay within their limits for a while.
    private var deltas: String {
        let (x, y) = (self.world.random.number(0...60), self.world.random.number(0...60))
        let scale = ["0.5", "1.25", "2"][self.world.random.place(3)]
        return "\"translation\":{\"x\":\(x),\"y\":\(y)},\"scale\":\(scale),\"rotation\":\(x * 7),"
            + "\"tilt\":{\"x\":\(y),\"y\":-\(x)}"
    }

    private var anchor: String {
        let places = ["0", "0.25", "1"]
        return "{\"x\":\(places[self.world.random.place(3)]),\"y\":\(places[self.world.random.place(3)])}"
    }

    private var preset: String {
        let names = ["rotateCW", "rotateCCW", "rotate180", "flipX", "flipY", "reset"]
        return names[self.world.random.place(names.count)]
    }

    // MARK: Choosing

    /// One of the elements that the app has; it has at least one.
    func pick() -> String {
        let ids = self.elements.ids
        return ids.isEmpty ? "e0" : ids[self.world.random.place(ids.count)]
    }

    /// Two to five of them.
    private func pickGroup() -> [String] {
        var ids = self.elements.ids
        let count = min(ids.count, Int(self.world.random.number(2...5)))
        return (0..<count).map { _ in ids.remove(at: self.world.random.place(ids.count)) }
    }

    /// Sometimes with an element that was deleted or never existed: then nothing of the group may change.
    private func withStranger(_ ids: [String]) -> [String] {
        guard self.world.random.place(6) == 0 else { return ids }
        let deleted = self.elements.deleted.sorted()
        let choice = self.world.random.place(deleted.count + 1)
        var ids = ids
        ids.insert(choice < deleted.count ? deleted[choice] : "e0", at: self.world.random.place(ids.count + 1))
        return ids
    }

    /// An id that somebody may use or have used already.
    private func newID() -> String { "e\(self.world.random.number(1...30))" }

    private func newAnnotationID() -> String { "\(AppElements.annotationPrefix)\(self.world.random.number(1...60))" }

    private static func list(_ ids: [String]) -> String {
        "[\(ids.map { "\"\($0)\"" }.joined(separator: ","))]"
    }
}
