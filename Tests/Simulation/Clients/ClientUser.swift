import Canvas
import JSONBytes
import TouchSyncClientCore

/// The user of a client: edits and gestures at random, with a connection and without one. Edits outlive the runs of the
/// app, fingers do not.
final class ClientUser {
    /// Fingers on an element or on a group.
    struct Fingers {
        let name: String
        let elements: [String]
        /// How often they move before they are lifted.
        var movesLeft: Int
        var fields = GestureFields()
    }

    private(set) var fingers: Fingers?
    private var lastName = 0
    private var lastEdit = 0
    /// The element that was put somewhere last.
    private var lastPlaced: String?

    /// What the client catches for its user; and by the number of its update what it caught, until that is shown.
    var caught: [String] = [] { didSet { self.everCaught.formUnion(self.caught) } }
    private var everCaught: Set<String> = []
    private var lastCatch: UInt64 = 0

    /// The elements under fingers, and those that were caught, while a number of the room is shown.
    func held(at seq: UInt64) -> [String] {
        (self.fingers?.elements ?? []) + self.caught + (seq < self.lastCatch ? self.everCaught.sorted() : [])
    }

    func begin(_ app: ClientApp) {
        // Who waits for a connection does more meanwhile than the time would allow.
        let usual: ClosedRange<UInt64> = app.core?.state == .live ? 20...200 : 5...40
        let pause = app.world.random.number(self.fingers == nil ? usual : 8...24)
        app.after(pause * .millisecond) { [weak app] in
            guard let app, app.isBusy || self.fingers != nil else { return }
            self.step(app)
            self.begin(app)
        }
    }

    func runEnded() {
        self.fingers = nil
    }

    private func step(_ app: ClientApp) {
        if self.fingers != nil { return self.move(app) }
        guard let core = app.core, core.pendingEdits(in: app.room) < 8 else { return }
        let elements = app.elementsShown()
        switch app.world.random.place(32) {
        case _ where elements.count < 2, 0: self.create(app)
        case 1: self.createSeveral(app)
        case 2: self.annotate(elements, app)
        case 3: self.delete(elements, app)
        case 4: self.update(elements, app)
        case 5: self.turn(elements, app)
        case 6, 7: self.edit(app.world.random.place(3) == 0 ? "history:redo" : "history:undo", [], "", app)
        case 8: self.look(app)
        case 9: self.point(app)
        case 10: self.select(elements, app)
        case 11: self.leave(app)
        case 12, 13: self.placeGroup(elements, app)
        case 14...19: self.place(elements, app)
        case 31: self.animate(elements, app)
        default: self.touch(elements, app)
        }
    }

    // MARK: Results

    /// The result of an edit.
    func told(_ id: String, _ answer: EditAnswer, _ app: ClientApp) {
        guard id != ClientDisk.halt else {
            self.lastCatch = max(self.lastCatch, UInt64(answer.seq ?? 0))
            return
        }
        let code = answer.error?.code.rawValue ?? ""
        if code == "forgotten" { app.world.count("clients.forgotten") }
        if !code.isEmpty { app.world.count("clients.refused-edits") }
        if code.isEmpty, answer.details["duplicate"]?.bool == true { app.world.count("clients.found-edits") }
        app.screen.told(id, seq: UInt64(answer.seq ?? 0), code: code.isEmpty && !answer.isApplied ? "?" : code)
    }

    private func edit(_ event: String, _ targets: [String], _ fields: String, _ app: ClientApp) {
        let undo = event.hasPrefix("history:") ? "" : self.undoPolicy(app)
        guard let body = JSONObject(text: Array("{\(fields)\(undo)}".utf8)) else { fatalError("no JSON: \(fields)") }
        app.input(.room(app.room, .edit(id: self.edits(event, targets, app), event: event, body: body)))
    }

    /// The id of another edit.
    private func edits(_ event: String, _ targets: [String], _ app: ClientApp) -> String {
        self.lastEdit += 1
        let id = "\(app.name)-\(self.lastEdit)"
        app.screen.edits(id, event, targets)
        return id
    }

    private func undoPolicy(_ app: ClientApp) -> String {
        switch app.world.random.place(12) {
        case 0: ",\"undoable\":false"
        case 1, 2: ",\"undoGroup\":\"g\(app.world.random.place(2))\""
        default: ""
        }
    }

    // MARK: Elements

    private func create(_ app: ClientApp) {
        let id = "e\(app.world.random.number(1...30))"
        self.edit(
            "element:create", [id],
            "\"element\":{\"id\":\"\(id)\",\"type\":\"note\",\"positionX\":3,\"positionY\":4,\"colour\":\"red\"}", app)
    }

    private func createSeveral(_ app: ClientApp) {
        let (parent, annotation) = ("e\(app.world.random.number(1...30))", "a\(app.world.random.number(1...60))")
        self.edit(
            "elements:create", [parent, annotation],
            "\"elements\":[{\"id\":\"\(parent)\",\"type\":\"photo\",\"positionX\":7,\"positionY\":8},"
                + "\(Self.annotation(annotation, of: parent))]", app)
    }

    private func annotate(_ elements: [Element], _ app: ClientApp) {
        let parents = elements.filter { $0.parentId == nil }
        guard !parents.isEmpty else { return self.create(app) }
        let id = "a\(app.world.random.number(1...60))"
        let item = Self.annotation(id, of: parents[app.world.random.place(parents.count)].id)
        self.edit("element:create", [id], "\"element\":\(item)", app)
    }

    private static func annotation(_ id: String, of parent: String) -> String {
        "{\"id\":\"\(id)\",\"type\":\"text\",\"parentId\":\"\(parent)\",\"space\":\"normalized\","
            + "\"positionX\":0.5,\"positionY\":0.25}"
    }

    private func update(_ elements: [Element], _ app: ClientApp) {
        let id = self.pick(elements, app)
        let number = app.world.random.number(12...72)
        // The type of a field is the server's to refuse.
        let choices = [
            "\"zIndex\":\(number)", "\"zIndex\":\"high\"", "\"zIndex\":null,\"colour\":null", "\"colour\":\(number)",
            "\"originalWidth\":\(number)", "\"originalWidth\":null",
        ]
        let set = choices[app.world.random.place(choices.count)]
        self.edit("element:update", [id], "\"elementId\":\"\(id)\",\"set\":{\(set)}", app)
    }

    private func turn(_ elements: [Element], _ app: ClientApp) {
        let id = self.pick(elements, app)
        let names = ["rotateCW", "rotateCCW", "rotate180", "flipX", "flipY", "reset"]
        let preset = names[app.world.random.place(names.count)]
        self.edit("element:preset", [id], "\"elementId\":\"\(id)\",\"preset\":\"\(preset)\"", app)
    }

    /// Deletes an element or two, with their annotations.
    private func delete(_ elements: [Element], _ app: ClientApp) {
        var ids = [self.pick(elements, app)]
        if app.world.random.place(2) == 0 { ids = self.pickGroup(elements, app, atMost: 2) }
        let annotations = elements.filter { $0.parentId.map(ids.contains) ?? false }.map(\.id)
        let fields = ids.count == 1 ? "\"elementId\":\"\(ids[0])\"" : "\"elementIds\":\(Self.list(ids))"
        self.edit(ids.count == 1 ? "element:delete" : "elements:delete", ids + annotations, fields, app)
    }

    /// Puts an element somewhere; the same one again as often as not.
    private func place(_ elements: [Element], _ app: ClientApp) {
        var id = self.pick(elements, app)
        if let lastPlaced, app.world.random.place(2) == 0 { id = lastPlaced }
        self.lastPlaced = id
        self.edit("element:transform", [id], Self.placement(of: id, app) + Self.motion(app), app)
    }

    private func placeGroup(_ elements: [Element], _ app: ClientApp) {
        let ids = self.pickGroup(elements, app, atMost: 4)
        let items = ids.map { "{\(Self.placement(of: $0, app))}" }.joined(separator: ",")
        self.edit("elements:transform", ids, "\"elements\":[\(items)]" + Self.motion(app), app)
    }

    private static func placement(of element: String, _ app: ClientApp) -> String {
        let (x, y) = (app.world.random.number(0...999), app.world.random.number(0...999))
        return app.world.random.place(2) == 0
            ? "\"elementId\":\"\(element)\",\"positionX\":\(x),\"transform\":{\"rotation\":\(y % 360),\"rotationY\":\(y)}"
            : "\"elementId\":\"\(element)\",\"positionY\":\(y),\"transform\":{\"scaleX\":1.5,\"scaleY\":1.5}"
    }

    /// At times a motion, as the last member of a payload.
    private static func motion(_ app: ClientApp) -> String {
        guard app.world.random.place(3) == 0 else { return "" }
        return ",\"motion\":{\"ms\":\(app.world.random.number(100...2000)),\"curve\":\"ease-out\"}"
    }

    /// Lets an element swing, or leaves it alone.
    private func animate(_ elements: [Element], _ app: ClientApp) {
        let id = self.pick(elements, app)
        let tracks = "{\"rotation\":[{\"at\":0.5,\"value\":40}],\"positionY\":[{\"at\":1,\"value\":-30}]}"
        let animation = app.world.random.place(4) == 0 ? "null" : "{\"ms\":700,\"iterations\":4,\"tracks\":\(tracks)}"
        self.edit("element:animate", [id], "\"elementId\":\"\(id)\",\"animation\":\(animation)", app)
    }

    // MARK: Fingers

    private func touch(_ elements: [Element], _ app: ClientApp) {
        let ids = app.world.random.chance(35) ? self.pickGroup(elements, app, atMost: 4) : [self.pick(elements, app)]
        self.lastName += 1
        let fingers = Fingers(
            name: "g\(self.lastName)", elements: ids, movesLeft: Int(app.world.random.number(1...5)))
        self.fingers = fingers
        let pivot = app.world.random.place(2) == 0 ? Point(x: Double(app.world.random.number(0...500)), y: 0) : nil
        app.input(.room(app.room, .gestureBegan(fingers.name, elementIds: ids, pivot: pivot)))
        self.move(app)
    }

    private func move(_ app: ClientApp) {
        guard var fingers else { return }
        guard fingers.movesLeft > 0 else { return self.lift(fingers, app) }
        fingers.movesLeft -= 1
        let (x, y) = (app.world.random.number(0...60), app.world.random.number(0...60))
        fingers.fields.translation = Point(x: Double(x), y: Double(y))
        fingers.fields.rotation = Double(x * 7)
        if x % 2 == 0 { fingers.fields.tilt = Point(x: Double(y), y: -Double(x)) }
        let scale = [0.5, 1.25, 2][app.world.random.place(3)]
        fingers.fields.scale = Point(x: scale, y: scale)
        self.fingers = fingers
        app.input(.room(app.room, .gestureMoved(fingers.name, fingers.fields)))
    }

    private func lift(_ fingers: Fingers, _ app: ClientApp) {
        self.fingers = nil
        if app.world.random.place(6) == 0 { return app.input(.room(app.room, .gestureCancelled(fingers.name))) }
        let throwing = app.world.random.place(2) == 0 ? GestureThrow() : nil
        let event = (fingers.elements.count == 1 ? "element:" : "elements:") + (throwing == nil ? "gesture" : "throw")
        let id = self.edits(event, fingers.elements, app)
        guard let throwing else { return app.input(.room(app.room, .gestureEnded(fingers.name, id: id))) }
        app.input(.room(app.room, .gestureThrown(fingers.name, id: id, throwing)))
    }

    // MARK: Awareness

    /// Looks at a part of the canvas, or at everything again.
    func look(_ app: ClientApp) {
        app.world.count("clients.viewports")
        let (x, y) = (Double(app.world.random.number(0...900)), Double(app.world.random.number(0...900)))
        let size = Double(app.world.random.number(600...1500))
        let view = Rect(x: x, y: y, width: size, height: 800)
        let isShared = app.world.random.place(2) == 0
        app.input(.room(app.room, .looked(app.world.random.place(5) == 0 ? nil : view, isShared: isShared)))
    }

    private func point(_ app: ClientApp) {
        if app.world.random.place(4) == 0 {
            let state = "{\"tool\":\(app.world.random.place(100))}"
            return app.input(.room(app.room, .presented(state)))
        }
        let x = Double(app.world.random.number(0...900))
        app.input(.room(app.room, .pointed(app.world.random.place(4) == 0 ? nil : Point(x: x, y: 5))))
    }

    private func select(_ elements: [Element], _ app: ClientApp) {
        app.input(.room(app.room, .selected(app.world.random.place(3) == 0 ? [] : [self.pick(elements, app)])))
    }

    // MARK: Leaving

    /// Leaves the room as soon as all edits have their results.
    private func leave(_ app: ClientApp) {
        guard app.core?.pendingEdits(in: app.room) == 0 else { return }
        app.input(.room(app.room, .leave))
    }

    /// The room is left: soon it is opened again.
    func left(_ app: ClientApp) {
        app.world.count("clients.left-and-joined")
        app.after(app.world.random.number(1...50) * .millisecond) { [weak app] in app?.openRoom() }
    }

    // MARK: Choosing

    private func pick(_ elements: [Element], _ app: ClientApp) -> String {
        elements.isEmpty ? "e0" : elements[app.world.random.place(elements.count)].id
    }

    private func pickGroup(_ elements: [Element], _ app: ClientApp, atMost most: UInt64) -> [String] {
        var ids = elements.map(\.id)
        let count = min(ids.count, Int(app.world.random.number(2...most)))
        return (0..<count).map { _ in ids.remove(at: app.world.random.place(ids.count)) }
    }

    private static func list(_ ids: [String]) -> String {
        "[\(ids.map { "\"\($0)\"" }.joined(separator: ","))]"
    }
}
