import HistoryChecker
import JSONBytes

/// What a client sends and is answered, recorded as it is of every app. It outlives the runs of the app.
final class ClientWire {
    /// A commit's name on the wire.
    struct CommitName: Hashable {
        var session: String
        var number: UInt64
    }

    private enum Purpose {
        case join
        case commit(CommitName, event: String)
        case view(CanvasBox?)
        case other
    }

    private let witness: RoomWitness
    /// The name of the session in the room.
    private(set) var sid = ""
    /// What the user has selected over this connection.
    private(set) var shown: [String: String] = [:]
    private var lastRequest: UInt64 = 0
    private var lastJoin: UInt64 = 0
    /// By the client's numbers of requests, which begin anew with each run.
    private var awaited: [UInt64: (request: UInt64, purpose: Purpose)] = [:]
    private var invoked: Set<CommitName> = []
    /// Commits of the present session without a final answer.
    private var pending: Set<CommitName> = []
    /// The user's edits behind each commit.
    private var edits: [CommitName: [String]] = [:]
    /// Gestures are numbered anew when a run knows nothing of the former one: how much is added to their numbers in the
    /// history, and the highest one there.
    private var shift: UInt64 = 0
    private var lastGesture: UInt64 = 0

    init(_ witness: RoomWitness) {
        self.witness = witness
    }

    private var world: World { self.witness.world }
    /// True when commits were sent that have no answer.
    var hasCommits: Bool { !self.pending.isEmpty }
    /// True when nothing is under way.
    var isSettled: Bool { self.awaited.isEmpty && self.pending.isEmpty }

    // MARK: Runs and connections

    /// - Parameter isNew: whether the run has nothing of an earlier one.
    func runBegan(isNew: Bool) {
        if isNew { self.shift = self.lastGesture }
    }

    func disconnected() {
        self.witness.observe(.closed)
        self.witness.disconnected()
        self.awaited = [:]
        self.shown = [:]
    }

    /// What is saved says which edits are behind which commits, before any of them is sent.
    func saved(_ disk: ClientDisk) {
        for commit in disk.commits { self.edits[commit.name] = commit.edits }
    }

    // MARK: Out

    func sent(_ news: AppNews?) {
        guard case .event(let text, let number) = news else { return }
        var arguments = AppText(text).root.elements.makeIterator()
        guard let event = arguments.next()?.string, let data = arguments.next() else { return }
        guard let number else { return self.emitted(event, data) }
        self.lastRequest += 1
        let request = self.lastRequest
        self.witness.observe(.request) { $0.number = request }
        self.awaited[number] = (request, self.purpose(of: event, data))
        if event == "room:join" { self.lastJoin = number }
    }

    private func purpose(of event: String, _ data: JSONValue) -> Purpose {
        switch event {
        case "room:join":
            self.witness.joinSent(after: data["resume"]?["seq"]?.integer.map(UInt64.init))
            return .join
        case "room:leave":
            self.shown = [:]
            self.witness.left()
        case "selection:set": self.shown["selection"] = AppText.selection(data)
        case "presence:set": self.shown["state"] = AppText.state(data)
        case "viewport:set":
            self.shown["viewport"] = data["share"]?.bool == true ? AppText.viewport(data) : nil
            self.witness.looks()
            return .view(CanvasBox(viewport: data))
        default:
            guard let number = data["n"]?.integer else { return .other }
            let name = CommitName(session: self.sid, number: UInt64(number))
            if self.invoked.insert(name).inserted { self.invoke(name, event, data) }
            return .commit(name, event: event)
        }
        return .other
    }

    private func invoke(_ name: CommitName, _ event: String, _ data: JSONValue) {
        self.pending.insert(name)
        self.witness.observe(.invoke) {
            $0.session = name.session
            $0.number = name.number
            $0.event = event
            $0.targets = ClientWire.targets(of: data)
            $0.gesture = self.gesture(data)
            $0.undo = data["undoable"]?.bool == false ? "none" : data["undoGroup"]?.string ?? ""
            if let past = data["past"]?.integer { $0.undo = "\(past)" }
            $0.edits = self.edits[name] ?? []
        }
    }

    /// The elements that the payload of an edit names.
    static func targets(of data: JSONValue) -> [String] {
        let items = (data["elements"]?.children ?? []) + [data["element"]].compactMap(\.self)
        return items.compactMap { $0.string ?? $0["elementId"]?.string ?? $0["id"]?.string }
            + [data["elementId"]].compactMap { $0?.string } + (data["elementIds"]?.children.compactMap(\.string) ?? [])
    }

    private func gesture(_ data: JSONValue) -> UInt64 {
        guard let number = data["gesture"]?.integer else { return 0 }
        self.lastGesture = max(self.lastGesture, UInt64(number) + self.shift)
        return UInt64(number) + self.shift
    }

    private func emitted(_ event: String, _ data: JSONValue) {
        switch event {
        case "element:gesturing", "elements:gesturing":
            for element in Self.targets(of: data) {
                self.witness.observe(.previewSent) {
                    $0.element = element
                    $0.gesture = self.gesture(data)
                }
            }
        case "cursor:moving":
            self.witness.observe(.pointed) {
                if let x = data["x"]?.double, let y = data["y"]?.double { $0.show(cursor: (x, y)) }
            }
        default: break
        }
    }

    // MARK: In

    func received(_ message: AppMessage, _ text: AppText) {
        switch message {
        case .acknowledged(let number): self.answered(number, text.root)
        case .event:
            var arguments = text.root.elements.makeIterator()
            guard !self.witness.hasLeft, let name = arguments.next()?.string, let data = arguments.next() else {
                return
            }
            if name == "room:resync" { self.world.count("clients.resyncs") }
            self.witness.received(name, data)
        case .opened, .accepted, .ping: break
        }
    }

    private func answered(_ number: UInt64, _ answer: JSONValue) {
        guard let (request, purpose) = self.awaited.removeValue(forKey: number) else {
            return self.world.count("clients.unasked-answers")
        }
        self.witness.observe(.answer) {
            $0.number = request
            $0.at = answer["time"]?.double
            if case .join = purpose { return }
            $0.seq = UInt64(answer["seq"]?.integer ?? 0)
        }
        switch purpose {
        case .join where number == self.lastJoin: self.joinAnswered(answer)
        case .commit(let name, let event): self.commitAnswered(name, event, answer)
        case .view(let box): if answer["ok"]?.bool == true { self.witness.sees(box) }
        case .join, .other: break
        }
    }

    private func joinAnswered(_ answer: JSONValue) {
        guard answer["ok"]?.bool == true else {
            let isExpired = answer["error"]?["code"]?.string == "session_expired"
            return self.world.count(isExpired ? "clients.session-expired" : "clients.joins-delayed")
        }
        self.witness.beganToSee()
        let sid = answer["sid"]?.string ?? ""
        if sid != self.sid { self.beginSession(sid) }
        if !self.witness.joined(answer) { self.world.count("clients.wrong-place") }
    }

    /// A new session: the wire will not tell what became of the former one's commits.
    private func beginSession(_ sid: String) {
        for name in self.pending.sorted(by: { $0.number < $1.number }) {
            self.world.count("clients.lost")
            self.witness.observe(.lost) { ($0.session, $0.number) = (name.session, name.number) }
        }
        self.pending = []
        self.shown = [:]
        self.sid = sid
        self.world.gestureShifts[sid] = self.shift
    }

    private func commitAnswered(_ name: CommitName, _ event: String, _ answer: JSONValue) {
        guard self.pending.contains(name) else { return }
        if answer["ok"]?.bool == true {
            self.pending.remove(name)
            self.witness.accepted(answer, as: name.number, of: name.session, event)
        } else if self.witness.refused(answer["error"], as: name.number, of: name.session) {
            self.pending.remove(name)
        }
    }
}

extension CanvasBox {
    /// The part of the canvas in a `viewport:set`; nil: everything.
    fileprivate init?(viewport: JSONValue) {
        guard let x = viewport["x"]?.double, let y = viewport["y"]?.double, let width = viewport["width"]?.double,
            let height = viewport["height"]?.double
        else { return nil }
        self.init(left: x, top: y, right: x + width, bottom: y + height)
    }
}
