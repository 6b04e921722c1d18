internal import Canvas
internal import JSONBytes
internal import Wire

/// What the rooms of a fan-out share: bounds and rules, and the machines that work for all of them.
struct RoomServices: Sendable {
    let limits: FanoutLimits
    var rules: RulesTable { didSet { self.rulesText = self.rules.jsonText } }
    /// The rules as JSON text, for the answers to joins.
    private(set) var rulesText: [UInt8]
    /// How sessions are signed; nil until the database was reached.
    var issuer: SessionIssuer?
    var history = DatabaseHistory()
    var questions = OpenQuestions()
    var gateways = GatewayRoster()
    var joins = PendingJoins()
    var deadlines = RoomDeadlines()
    var counters = FanoutCounters()
    /// Parsed elements; kept for its storage.
    var document = JSONDocument()

    init(limits: FanoutLimits, rules: RulesTable) {
        self.limits = limits
        self.rules = rules
        self.rulesText = rules.jsonText
    }

    /// False when nobody waits for the answer to a question any more.
    func isWanted(_ tag: UInt64) -> Bool {
        switch self.questions.purpose(of: tag) {
        case nil: false
        case .room(_, .claim(let join)), .room(_, .replay(let join)): self.joins[join] != nil
        case .heads, .epochMove, .shardLog, .history, .room: true
        }
    }

    /// Asks the database for another epoch while its history is stale.
    mutating func moveEpoch(into actions: inout [FanoutAction]) {
        guard let epoch = self.history.beginMove() else { return }
        self.questions.ask(.moveEpoch(from: epoch), for: .epochMove, into: &actions)
    }

    mutating func refuse(
        _ join: Join, from gateway: GatewayID, with refusal: Refusal, into actions: inout [FanoutAction]
    ) {
        self.counters.refusals += 1
        actions.append(.send(.joinReply(join.reply(.failure(refusal))), to: gateway))
    }

    mutating func refuse(_ read: RoomRead, from gateway: GatewayID, into actions: inout [FanoutAction]) {
        self.counters.refusals += 1
        actions.append(.send(.roomState(read.reply(.unavailable)), to: gateway))
    }

    /// The gateway's members lose their place in the room, and join again.
    mutating func refuse(_ interest: RoomInterest, from gateway: GatewayID, into actions: inout [FanoutAction]) {
        self.counters.resets += 1
        let position = RoomPosition(room: interest.room, position: interest.position, isReset: true)
        actions.append(.send(.roomPosition(position), to: gateway))
    }
}

extension Refusal {
    static let tooManyWait = Refusal(.busy, "Too many rooms or joins are waiting.", retryAfterMs: 1000)
    static let connectionLeft = Refusal(.unavailable, "The connection has left.", retryAfterMs: 1000)
    static let sessionMovedOn = Refusal(
        .unavailable, "Another connection joined with this session meanwhile; join again.", retryAfterMs: 1000)
}

extension Join {
    func reply(_ outcome: Result<JoinReply.Joined, Refusal>) -> JoinReply {
        JoinReply(request: self.request, room: self.room, connection: self.connection, outcome: outcome)
    }
}

extension RoomRead {
    func reply(_ outcome: RoomState.Outcome) -> RoomState {
        RoomState(request: self.request, room: self.room, outcome: outcome)
    }
}
