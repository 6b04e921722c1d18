import HistoryChecker
import JSONBytes

/// An app as it should behave: it keeps a commit until it has its answer, numbers them, sends them again after a
/// reconnect under the same session, resumes where it was, and applies updates by number.
final class App: SimulatedApp {
    /// A commit without a final answer.
    struct Pending {
        let number: UInt64
        let event: String
        /// The members of the payload after room and number.
        let fields: String
        /// True while its answer is awaited.
        var isSent = false
        /// The acknowledgement that was asked for last.
        var ack: UInt64 = 0
    }

    enum State {
        case away
        case joining
        case joined
    }

    /// What an acknowledgement is for.
    enum Awaited {
        case join
        case commit(UInt64)
        /// A commit without a number.
        case unnumbered
        case view(CanvasBox?)
        case other
    }

    let witness: RoomWitness
    /// False once it begins nothing new.
    var isBusy = true

    var connection: AppConnection?
    var state = State.away
    var session: String?
    var sid = ""
    var shown: [String: String] = [:]

    var pending: [Pending] = []
    var lastNumber: UInt64 = 0
    /// The commit that was refused last for being sent too fast: nothing is sent before it.
    var slowedBy: UInt64?
    var gesture: UInt64 = 0
    /// The undo or redo that was refused last, and the entry that it could not take back.
    var blocked: (event: String, seq: UInt64)?
    /// What its user's fingers are on.
    var moving: Moving?
    private var lastAck: UInt64 = 0
    /// The number of traces that it has sent.
    private var lastTrace = 0
    /// The acknowledgement of the last join.
    var lastJoin: UInt64 = 0
    /// What each acknowledgement that is awaited is for.
    var awaited: [UInt64: Awaited] = [:]
    private var isStepping = false
    /// True once it does not come back any more.
    private var isGone = false
    /// For how long it waits for an answer.
    private static let patience = 12_000 * UInt64.millisecond

    init(_ number: Int, room: String, in world: World) {
        self.witness = RoomWitness("app\(number + 1)", room: room, in: world)
    }

    var elements: AppElements { self.witness.elements }
    var members: Set<String> { self.witness.members }
    var seen: [String: [String: String]] { self.witness.seen }
    var cursors: Set<String> { self.witness.cursors }
    var takesBatches: Bool { false }

    /// True when nothing is open and it has all of its room.
    func isSettled(at seq: UInt64) -> Bool {
        guard case .joined = self.state else { return false }
        return self.pending.isEmpty && self.awaited.isEmpty && self.witness.place?.seq == seq && !self.isBusy
    }

    // MARK: Connecting

    func connect() {
        guard self.connection == nil, !self.isGone else { return }
        guard let connection = self.world.socket(of: self) else {
            return self.world.after(100 * .millisecond) { [weak self] in self?.connect() }
        }
        self.connection = connection
        self.world.tell(connection, .connected(user: self.name))
        self.join()
        if !self.isStepping {
            self.isStepping = true
            self.stepLater()
        }
    }

    private func disconnected() {
        self.witness.disconnected()
        self.shown = [:]
        self.connection = nil
        self.state = .away
        self.awaited = [:]
        self.moving = nil
        for index in self.pending.indices { self.pending[index].isSent = false }
        self.world.after(self.world.random.number(10...400) * .millisecond) { [weak self] in self?.connect() }
    }

    /// The connection is gone, and not on its own wish.
    func cutOff() {
        self.observe(.closed)
        self.disconnected()
    }

    /// Gives the connection up itself, as an answer is missing. While faults last, and just after, none is owed yet: a gateway
    /// tries a commit without a number again after up to 8 s.
    private func hangUp() {
        if self.world.now < self.world.healAt + Self.patience { self.observe(.closed) }
        if self.closeConnection() { self.disconnected() }
    }

    /// Goes for good.
    func goAway() {
        self.isGone = true
        if self.closeConnection() { self.observe(.closed) }
        self.connection = nil
        self.witness.left()
    }

    /// - Returns: false when there is none.
    private func closeConnection() -> Bool {
        guard let connection else { return false }
        connection.isOpen = false
        self.world.tell(connection, .gone)
        return true
    }

    func join() {
        guard self.connection != nil else { return }
        self.state = .joining
        var text = "[\"room:join\",{\"roomId\":\"\(self.room)\""
        if let session { text += ",\"session\":\"\(session)\"" }
        if let place = self.witness.place {
            text += ",\"resume\":{\"epoch\":\"\(place.epoch)\",\"seq\":\(place.seq)}"
        }
        if self.world.random.place(2) == 0 { text += ",\"parts\":true" }
        self.witness.joinSent(after: self.witness.place?.seq)
        self.send(text + "}]", awaiting: .join)
        self.lastJoin = self.lastAck
    }

    // MARK: Sending

    /// Sends an event; whoever has waited for its acknowledgement for too long hangs up.
    func send(_ text: String, awaiting awaited: Awaited?) {
        guard let connection else { return }
        var ackID: UInt64?
        if let awaited {
            self.lastAck += 1
            let ack = self.lastAck
            ackID = ack
            self.awaited[ack] = awaited
            self.observe(.request) { $0.number = ack }
            self.world.after(Self.patience) { [weak self] in
                guard let self, self.connection === connection, self.awaited[ack] != nil else { return }
                self.world.count("apps.hung-up")
                self.hangUp()
            }
        }
        self.world.tell(connection, .event(Array(text.utf8), ackID: ackID))
    }

    /// Sends the commits that wait, in order.
    func flush() {
        guard case .joined = self.state, self.slowedBy == nil else { return }
        for index in self.pending.indices where !self.pending[index].isSent {
            self.pending[index].isSent = true
            self.pending[index].ack = self.lastAck + 1
            let commit = self.pending[index]
            self.send(self.text(of: commit), awaiting: .commit(commit.number))
            self.sendCopies(of: commit)
        }
    }

    func text(of commit: Pending) -> String {
        let fields = (commit.fields.isEmpty ? "" : ",") + commit.fields + self.traceParent(of: commit)
        return "[\"\(commit.event)\",{\"roomId\":\"\(self.room)\",\"n\":\(commit.number)\(fields)}]"
    }

    /// Every fourth commit is part of a trace: of another one each time that it is sent.
    private func traceParent(of commit: Pending) -> String {
        guard commit.number.isMultiple(of: 4) else { return "" }
        self.lastTrace += 1
        let zeros = String(repeating: "0", count: 24)
        return ",\"traceparent\":\"00-\(zeros)\(10_000_000 + self.lastTrace)-00f067aa0ba902b7-01\""
    }

    // MARK: What its user does

    private func stepLater() {
        let pause = self.world.random.number(self.moving == nil ? 20...200 : 8...24)
        self.world.after(pause * .millisecond) { [weak self] in
            guard let self, self.isBusy else { return }
            self.step()
            self.stepLater()
        }
    }

    private func step() {
        guard case .joined = self.state, self.pending.count < 4 else { return }
        if self.moving != nil { return self.move() }
        switch self.world.random.place(32) {
        case _ where self.elements.ids.count < 2, 0: self.create()
        case 1: self.createSeveral()
        case 2: self.annotate()
        case 3: self.delete()
        case 4: self.deleteGroup()
        case 5: self.update()
        case 6 where self.pending.isEmpty: self.leaveAndJoin()
        case _ where self.world.plan.isUnnumbered && self.world.random.chance(70), 7: self.burst(on: self.pick())
        case 8, 9, 10: self.undoOrRedo()
        case 11: self.look()
        case 12: self.point()
        case 30: self.animate()
        case 31: self.halt()
        default: self.beginMove()
        }
    }

    /// Accepts a commit of its user, and sends it when it is its turn.
    /// - Parameter targets: the elements that it is to change; all of them or none.
    func begin(
        _ event: String, on targets: [String], _ fields: String, gesture: UInt64 = 0, leavingOut past: UInt64? = nil
    ) {
        self.lastNumber += 1
        let number = self.lastNumber
        let (policy, undo) = event.hasPrefix("history:") ? (past.map { "\($0)" } ?? "", "") : self.undoPolicy()
        self.pending.append(Pending(number: number, event: event, fields: fields + undo))
        self.observe(.invoke) {
            $0.session = self.sid
            $0.number = number
            $0.event = event
            $0.targets = targets
            $0.gesture = gesture
            $0.undo = policy
        }
        self.flush()
    }

    /// How the next commit enters the undo stack, and the fields that say so.
    private func undoPolicy() -> (name: String, fields: String) {
        switch self.world.random.place(12) {
        case 0: return ("none", ",\"undoable\":false")
        case 1, 2, 3:
            let group = "g\(self.world.random.place(2))"
            return (group, ",\"undoGroup\":\"\(group)\"")
        default: return ("", "")
        }
    }

    func observe(_ kind: HistoryRecord.Kind, _ fill: (inout HistoryRecord) -> Void = { _ in }) {
        self.witness.observe(kind, fill)
    }
}
