import Canvas
import HistoryChecker
import JSONBytes
import TouchSyncClientCore

/// What a client's user does and sees, recorded: edits, their results, and what is drawn.
final class ClientScreen {
    private let witness: RoomWitness
    /// What was drawn last of each element.
    private var drawn: [String: String] = [:]
    /// For a screen that is wrong on purpose: elements that an edit of its user changed since they were drawn.
    private var confirmed: Set<String> = []
    /// The elements that moved when they were last looked at, as they were then.
    private(set) var moving: [String: Element] = [:]
    /// The elements of each edit without a result.
    private var edited: [String: [String]] = [:]

    init(_ witness: RoomWitness) {
        self.witness = witness
    }

    /// A run of the app begins, or the room is opened again: nothing is drawn yet.
    func runBegan() {
        (self.drawn, self.moving) = ([:], [:])
        self.witness.observe(.started)
    }

    /// The user edits elements.
    func edits(_ id: String, _ event: String, _ targets: [String]) {
        self.edited[id] = targets
        self.witness.observe(.edit) { ($0.edit, $0.event, $0.targets) = (id, event, targets) }
    }

    /// The user is told what became of an edit.
    /// - Parameter code: why it was refused; empty when it was applied.
    func told(_ id: String, seq: UInt64, code: String) {
        let targets = self.edited.removeValue(forKey: id) ?? []
        if code.isEmpty { self.confirmed.formUnion(targets) }
        self.witness.observe(.result) { ($0.edit, $0.seq, $0.code) = (id, seq, code) }
    }

    /// Draws elements again.
    func show(_ ids: [String], _ app: ClientApp) {
        if app.mistakes.isLate { self.show(Dictionary(ids.map { ($0, self.drawn[$0] ?? "") }) { $1 }, app) }
        var bodies: [String: String] = [:]
        for id in ids where !app.mistakes.forgets(in: self.witness.world) {
            let element = app.core?.element(id, in: app.room)
            bodies[id] = Self.body(app.mistakes.altered(element, isConfirmed: self.confirmed.contains(id)))
        }
        self.show(bodies, app)
        self.drawn.merge(bodies) { $1 }
        self.confirmed.subtract(ids)
    }

    /// What is to be seen when everything is drawn again.
    func showAll(_ app: ClientApp) {
        let elements = app.elementsShown()
        self.show(Dictionary(elements.map { ($0.id, Self.body($0)) }) { $1 }, app, isWhole: true)
    }

    private func show(_ bodies: [String: String], _ app: ClientApp, isWhole: Bool = false) {
        self.witness.observe(.shown) {
            $0.epoch = self.witness.place?.epoch ?? ""
            $0.seq = UInt64(app.core?.seq(of: app.room) ?? 0)
            $0.at = app.core?.serverTime(at: Double(app.now))
            $0.elements = bodies
            $0.targets = app.user.held(at: $0.seq)
            $0.isFinal = isWhole
        }
    }

    /// Looks at what moves, as the client or what is stored says, and once more at what did when it was last looked at.
    func look(_ app: ClientApp) {
        let drawn = Set(app.draw())
        guard let core = app.core, core.state == .live, let time = core.serverTime(at: app.exactTime) else { return }
        let elements = app.elementsShown()
        let moving = elements.filter { drawn.contains($0.id) || !$0.playback.fields(at: time).isEmpty }
        let former = self.moving
        self.moving = Dictionary(moving.map { ($0.id, $0) }) { $1 }
        let looked = elements.filter { self.moving[$0.id] != nil || former[$0.id] != nil }
        guard !looked.isEmpty else { return }
        let poses = looked.compactMap { element in
            core.pose(of: element.id, in: app.room, at: app.exactTime).map { (element.id, $0) }
        }
        app.transcript?.append(poses, in: app.room, at: app.exactTime)
        self.witness.observe(.posed) {
            $0.at = time
            $0.seq = UInt64(core.seq(of: app.room))
            for element in looked {
                let pose = core.pose(of: element.id, in: app.room, at: app.exactTime)
                let shown = app.mistakes.altered(pose, former: former[element.id], at: time)
                $0.elements[element.id] = shown.map(Self.text)
                $0.geometry[element.id] = Self.text(element.pose)
            }
        }
    }

    private static func text(_ pose: Pose) -> String {
        var writer = JSONWriter(reserving: 160)
        self.encode(pose, into: &writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// Writes the fields that move.
    static func encode(_ pose: Pose, into writer: inout JSONWriter) {
        writer.beginObject()
        for field in ElementField.animated { writer.member(field.name, pose[field]) }
        writer.endObject()
    }

    private static func body(_ element: Element?) -> String {
        guard let element else { return "" }
        var writer = JSONWriter(reserving: 384)
        element.encode(into: &writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
