import HistoryChecker
import JSONBytes

/// What an app has of its room by the messages that reach it, recorded as they come. It decides nothing.
final class RoomWitness {
    /// What the app sees of its room.
    enum Sight: Equatable {
        /// It is not in the room.
        case nothing
        /// It has asked for another part and has no answer yet, or it joined again over its connection.
        case unknown
        case everything
        case part(CanvasBox)
    }

    let name: String
    let room: String
    unowned let world: World

    /// Its place in the room; nil before the first join.
    private(set) var place: (epoch: String, seq: UInt64)?
    private var asked: UInt64 = 0
    /// When its last join was answered.
    private(set) var joinedAt: UInt64 = 0
    private(set) var elements = AppElements()
    /// The parts of a snapshot that have come; nil when none is under way.
    private var partial: (epoch: String, seq: UInt64, states: [String: String])?
    /// The users whom it shows as members.
    private(set) var members: Set<String> = []
    /// What others show but their cursors, by session and part.
    private(set) var seen: [String: [String: String]] = [:]
    /// The sessions whose cursors it sees.
    private(set) var cursors: Set<String> = []
    private(set) var sight = Sight.nothing
    /// True after it has left the room, until it is in again.
    private(set) var hasLeft = false
    /// True after it was told that it lost its place, until a join gives it one: an earlier join, whose answer it no longer
    /// waits for, may have been answered behind that, and brings it updates that are of no use to it.
    private var isLost = false

    init(_ name: String, room: String, in world: World) {
        self.name = name
        self.room = room
        self.world = world
    }

    func observe(_ kind: HistoryRecord.Kind, _ fill: (inout HistoryRecord) -> Void = { _ in }) {
        self.world.observe(kind) {
            $0.client = self.name
            $0.room = self.room
            fill(&$0)
        }
    }

    // MARK: Joins

    /// It asks to join, and to go on behind a number.
    func joinSent(after seq: UInt64?) {
        self.asked = seq ?? self.asked
        self.partial = nil
    }

    /// It is in its room and sees everything, unless its connection was there before.
    func beganToSee() {
        self.hasLeft = false
        self.sight = self.sight == .nothing ? .everything : .unknown
    }

    /// A join was accepted.
    /// - Returns: false when it promised more updates than it brought.
    func joined(_ answer: JSONValue) -> Bool {
        self.joinedAt = self.world.now
        self.meet(answer["members"])
        let epoch = answer["epoch"]?.string ?? ""
        let seq = UInt64(answer["seq"]?.integer ?? 0)
        if let updates = answer["updates"] {
            self.resumed(updates, epoch, upTo: seq)
            return self.place?.seq == seq
        }
        if answer["parts"] != nil {
            self.partial = (epoch, seq, [:])
        } else {
            self.snapshot(AppText.states(of: answer["elements"]), epoch, seq)
        }
        return true
    }

    /// Updates that came while the join was under way are had already.
    private func resumed(_ updates: JSONValue, _ epoch: String, upTo last: UInt64) {
        let place = max(self.asked, self.place?.epoch == epoch ? self.place?.seq ?? 0 : 0)
        self.observe(.resumed) {
            $0.epoch = epoch
            $0.seq = place
            $0.to = last
        }
        self.isLost = false
        self.place = (epoch, place)
        for update in updates.elements {
            guard let data = update["data"], UInt64(update["seq"]?.integer ?? 0) > place else { continue }
            self.update(update["event"]?.string ?? "", data)
        }
    }

    /// The members and what they show are in the answer to a join.
    private func meet(_ members: JSONValue?) {
        self.members = Set(members?.children.compactMap { $0["userId"]?.string } ?? [])
        self.seen = [:]
        self.cursors = []
        for connection in members?.children.flatMap({ $0["connections"]?.children ?? [] }) ?? [] {
            guard let sid = connection["sid"]?.string else { continue }
            self.seen[sid] = AppText.shown(connection)
            if connection["cursor"] != nil { self.cursors.insert(sid) }
        }
    }

    /// One part of a snapshot came.
    private func part(_ data: JSONValue) {
        self.partial?.states.merge(AppText.states(of: data["elements"])) { $1 }
        guard let partial, data["part"]?.integer == data["parts"]?.integer else { return }
        self.partial = nil
        self.snapshot(partial.states, partial.epoch, partial.seq)
    }

    private func snapshot(_ states: [String: String], _ epoch: String, _ seq: UInt64) {
        self.isLost = false
        self.place = (epoch, seq)
        self.elements.reset(to: states)
        self.observe(.snapshot) {
            $0.epoch = epoch
            $0.seq = seq
            $0.elements = states
        }
    }

    // MARK: Departures

    /// It leaves the room because it wants to.
    func left() {
        self.sight = .nothing
        self.observe(.left) { $0.isFinal = true }
        self.hasLeft = true
    }

    /// Its connection is gone.
    func disconnected() {
        if self.place != nil { self.observe(.left) }
        self.hasLeft = false
        self.partial = nil
        self.sight = .nothing
    }

    // MARK: Viewports

    /// It asks to see another part of the canvas.
    func looks() {
        self.sight = .unknown
        self.observe(.look)
    }

    /// It sees the part that it asked for; nil: everything.
    func sees(_ box: CanvasBox?) {
        guard self.sight != .nothing else { return }
        self.sight = box.map(Sight.part) ?? .everything
        self.observe(.view) { $0.box = box }
    }

    // MARK: Events

    func received(_ name: String, _ data: JSONValue) {
        switch name {
        case "element:transformed", "element:created", "element:updated", "element:deleted", "elements:transformed",
            "elements:created", "elements:changed", "elements:updated":
            self.update(name, data)
        case "element:transforming": self.preview(of: data, data)
        case "elements:transforming":
            guard let elements = data["elements"] else { return }
            for element in elements.elements { self.preview(of: element, data) }
        case "previews:batch":
            for message in data["events"]?.children ?? [] {
                var parts = message.elements
                guard let name = parts.next()?.string, let data = parts.next() else { continue }
                self.received(name, data)
            }
        case "member:joined": self.members.insert(data["userId"]?.string ?? "")
        case "member:left": self.members.remove(data["userId"]?.string ?? "")
        case "cursor:moved": self.cursor(data)
        case "selection:changed":
            self.world.count("selections")
            self.seen[data["sid"]?.string ?? "", default: [:]]["selection"] = AppText.selection(data)
        case "presence:changed":
            self.world.count("states")
            self.seen[data["sid"]?.string ?? "", default: [:]]["state"] = AppText.state(data)
        case "viewport:changed":
            self.world.count("viewports-shared")
            self.seen[data["sid"]?.string ?? "", default: [:]]["viewport"] = AppText.viewport(data)
        case "room:elements": self.part(data)
        case "room:resync":
            self.isLost = true
            self.observe(.resync) {
                $0.from = UInt64(data["from"]?.integer ?? 0)
                $0.to = UInt64(data["to"]?.integer ?? 0)
            }
        default: break
        }
    }

    private func update(_ name: String, _ data: JSONValue) {
        if self.isLost { return }
        let states = self.elements.apply(name, data)
        let seq = UInt64(data["seq"]?.integer ?? 0)
        self.observe(.deliver) {
            $0.seq = seq
            $0.event = name
            $0.session = data["sid"]?.string ?? ""
            $0.number = UInt64(data["n"]?.integer ?? 0)
            $0.elements = states
        }
        self.place?.seq = seq
    }

    private func preview(of element: JSONValue, _ data: JSONValue) {
        let sid = data["sid"]?.string ?? ""
        let shift = self.world.gestureShifts[sid] ?? 0
        self.observe(.preview) {
            $0.session = sid
            $0.element = element["elementId"]?.string ?? ""
            $0.sender = data["userId"]?.string ?? ""
            $0.gesture = UInt64(data["gesture"]?.integer ?? 0) + shift
            $0.targets = AppText.fields(of: element)
            $0.show(element, on: self.elements.states[$0.element])
        }
    }

    /// Somebody's cursor came.
    private func cursor(_ data: JSONValue) {
        let sid = data["sid"]?.string ?? ""
        self.observe(.cursor) {
            $0.sender = data["userId"]?.string ?? ""
            if let x = data["x"]?.double, let y = data["y"]?.double { $0.show(cursor: (x, y)) }
        }
        if data["x"]?.kind == .null { self.cursors.remove(sid) } else { self.cursors.insert(sid) }
    }
}
