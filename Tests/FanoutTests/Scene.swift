import Canvas
import DatabaseTestKit
import FanoutCore
import Testing
import Timing
import Wire

/// One fan-out with a clock that stands still and a database that answers when told.
struct Scene {
    var fanout: Fanout
    var database = DatabaseModel()
    var now = Instant.start + .seconds(1)
    /// Questions that the database has not answered.
    var questions: [DatabaseRequest] = []
    private var actions: [FanoutAction] = []
    private var lastRequest: UInt64 = 0

    static let g1 = GatewayID(1)
    static let g2 = GatewayID(2)
    static let issuer = SessionIssuer(
        issue: { _, user in (sid: Identifier("s-\(user)"), secret: "s-\(user).good") },
        verify: { secret, _, user in secret == "s-\(user).good" ? Identifier("s-\(user)") : nil })

    /// - Parameter isReady: the database was reached and both gateways are up.
    init(limits: FanoutLimits = FanoutLimits(), isReady: Bool = true) {
        self.fanout = Fanout(limits: limits)
        self.fanout.linkUp(to: Self.g1, at: self.now)
        self.fanout.linkUp(to: Self.g2, at: self.now)
        if isReady { self.identify() }
    }

    mutating func identify(_ issuer: SessionIssuer = Self.issuer) {
        self.fanout.databaseReached(
            epoch: self.database.epoch, issuer: issuer, at: self.now, into: &self.actions)
    }

    /// What was done since the last call, but for questions.
    mutating func take() -> [FanoutAction] {
        self.sortQuestions()
        defer { self.actions.removeAll() }
        return self.actions
    }

    /// The records that a gateway got since the last call; the others' are thrown away.
    mutating func taken(by gateway: GatewayID) -> [GatewayRecord] {
        self.take().compactMap { action in
            switch action {
            case .send(let record, let to): to == gateway ? record : nil
            case .broadcast(let record, let to, let except):
                to.contains(gateway) && except != gateway ? record : nil
            case .read: nil
            }
        }
    }

    private mutating func sortQuestions() {
        for case .read(let request) in self.actions { self.questions.append(request) }
        self.actions.removeAll { if case .read = $0 { true } else { false } }
    }

    /// The database answers everything that was asked, and what that leads to.
    mutating func answer() {
        self.sortQuestions()
        while !self.questions.isEmpty {
            let request = self.questions.removeFirst()
            let reply = self.database.answer(request.query)
            self.fanout.databaseAnswered(reply, to: request.tag, at: self.now, into: &self.actions)
            self.sortQuestions()
        }
    }

    /// The database fails everything that was asked.
    mutating func failAll() {
        self.sortQuestions()
        let asked = self.questions
        self.questions = []
        for request in asked {
            self.fanout.databaseAnswered(.failed, to: request.tag, at: self.now, into: &self.actions)
        }
    }

    /// The kinds of question that wait.
    mutating func asked() -> [DatabaseRequest.Query] {
        self.sortQuestions()
        return self.questions.map(\.query)
    }

    /// Answers one waiting question with something else.
    mutating func answer(_ index: Int = 0, with reply: DatabaseReply) {
        self.sortQuestions()
        let request = self.questions.remove(at: index)
        self.fanout.databaseAnswered(reply, to: request.tag, at: self.now, into: &self.actions)
    }

    mutating func pass(_ milliseconds: UInt64) {
        self.now = self.now + .milliseconds(milliseconds)
        self.fanout.timeReached(self.now, into: &self.actions)
    }

    mutating func join(
        _ user: String, _ connection: UInt64, at gateway: GatewayID = g1, room: Identifier = "r",
        session: String = "", resume: Position? = nil
    ) {
        self.lastRequest += 1
        self.send(
            Join(
                request: self.lastRequest, room: room, connection: connection, member: .named(user),
                session: session, resume: resume), from: gateway)
    }

    mutating func send(_ join: Join, from gateway: GatewayID) {
        self.fanout.joinReceived(join, from: gateway, at: self.now, into: &self.actions)
    }

    /// A member whose join was answered; leaves no actions behind.
    mutating func member(
        _ user: String, _ connection: UInt64, at gateway: GatewayID = g1, room: Identifier = "r"
    ) {
        self.join(user, connection, at: gateway, room: room)
        self.answer()
        _ = self.take()
    }

    /// A connection shows its user by another name.
    mutating func rename(_ renamed: MemberRenamed) {
        self.fanout.memberRenamed(renamed, into: &self.actions)
    }

    mutating func leave(_ connection: UInt64, at gateway: GatewayID = g1, room: Identifier = "r") {
        self.fanout.leaveReceived(
            Leave(room: room, connection: connection), from: gateway, at: self.now, into: &self.actions)
    }

    /// A gateway's link goes down and comes up again.
    mutating func reconnect(_ gateway: GatewayID) {
        self.fanout.linkDown(to: gateway, at: self.now)
        self.fanout.linkUp(to: gateway, at: self.now)
    }

    mutating func interest(
        _ occupants: [(String, UInt64)], seq: UInt64, epoch: Identifier = "epoch-1", at gateway: GatewayID = g1,
        room: Identifier = "r", hasViewports: Bool = false
    ) {
        let interest = RoomInterest(
            room: room, position: Position(epoch: epoch, seq: seq),
            occupants: occupants.map { RoomInterest.Occupant(connection: $0.1, member: .named($0.0)) },
            hasViewports: hasViewports)
        self.fanout.interestReceived(interest, from: gateway, at: self.now, into: &self.actions)
    }

    mutating func send(_ interest: RoomInterest, from gateway: GatewayID) {
        self.fanout.interestReceived(interest, from: gateway, at: self.now, into: &self.actions)
    }

    mutating func receive(_ update: Update) {
        self.fanout.updateReceived(update, at: self.now, into: &self.actions)
    }

    /// Commits a change and lets the fan-out have it at once.
    @discardableResult
    mutating func commit(
        _ element: Identifier = "e", _ json: String? = nil, room: Identifier = "r", sid: Identifier = "s-ann",
        gesture: UInt64 = 0
    ) -> Update {
        let update = self.database.commit(element, json, room: room, sid: sid, gesture: gesture)
        self.receive(update)
        return update
    }

    mutating func preview(_ previews: Preview...) {
        self.fanout.previewsReceived(previews, at: self.now, into: &self.actions)
    }

    /// Connections show something of their persons.
    mutating func show(_ awareness: Awareness...) {
        for one in awareness { self.fanout.awarenessReceived(one, at: self.now, into: &self.actions) }
    }

    /// A connection tells the others something.
    mutating func send(_ signal: RoomSignal) {
        self.fanout.signalReceived(signal, into: &self.actions)
    }

    /// A gesture ended; `connection` went away in the middle of it.
    mutating func end(
        _ gesture: UInt64, of sid: Identifier = "s-ann", element: Identifier = "e", left connection: UInt64 = 0
    ) {
        let end = GestureEnd(
            room: "r", element: element, user: "ann", sid: sid, gesture: gesture, connection: connection)
        self.fanout.gestureEndReceived(end, at: self.now, into: &self.actions)
    }

    mutating func read(
        _ room: Identifier, request: UInt64, after: UInt64 = 0, allowance: UInt32 = .max, from gateway: GatewayID = g1
    ) {
        self.fanout.readReceived(
            RoomRead(request: request, room: room, after: after, allowance: allowance), from: gateway, at: self.now,
            into: &self.actions)
    }

    mutating func readHistory(
        _ room: Identifier, request: UInt64, after: UInt64 = 0, limit: UInt16 = 50, from gateway: GatewayID = g1
    ) {
        self.fanout.historyReadReceived(
            HistoryRead(request: request, room: room, after: after, limit: limit), from: gateway, at: self.now,
            into: &self.actions)
    }

    static func element(_ id: Identifier, type: String = "note", rotation: Int = 0, more: String = "") -> String {
        #"{"id":"\#(id)","type":"\#(type)","positionX":1,"positionY":2,"width":100,"height":100,"rotation":\#(rotation),"#
            + #""scaleX":1,"scaleY":1,"originalWidth":100,"originalHeight":100,"anchorX":0.5,"anchorY":0.5,"#
            + #""createdBy":"ann","updatedBy":"ann","rev":1\#(more)}"#
    }
}
