import Auth
import Canvas
import Timing
import Wire

@testable import GatewayCore

/// One gateway with a clock that stands still, apps that speak in JSON and a fan-out that answers when told.
struct Scene {
    var gateway: Gateway
    /// What the gateway wants done, since it was last taken.
    var actions: [GatewayAction] = []
    /// Milliseconds.
    var now: UInt64 = 1_000
    var limits = GatewayLimits()

    init(limits: GatewayLimits = GatewayLimits(), tokens: TokenVerifier? = nil) {
        self.limits = limits
        self.gateway = Gateway(name: "gateway-1", connectionPrefix: 7, seed: 1, limits: limits, tokens: tokens)
    }

    /// The present moment.
    var moment: Instant { Instant(milliseconds: self.now) }

    /// The actions since the last call.
    mutating func take() -> [GatewayAction] {
        defer { self.actions.removeAll() }
        return self.actions
    }

    /// A user of the open mode connects.
    mutating func connect(_ user: String, room: Identifier? = nil, previews: Bool = true) throws -> Slot {
        let query = ["userId": user, "previews": previews ? "true" : "false"]
        let handshake = try HandshakeFields(
            auth: nil, query: { "\($0)" == "roomId" ? room?.text : query["\($0)"] }, header: { _ in nil })
        let identity = try self.gateway.authenticator.identify(handshake, guest: "guest", seconds: 0)
        return self.gateway.connected(identity: identity, handshake: handshake, at: self.moment, into: &self.actions)
    }

    /// An app sends an event.
    mutating func send(_ slot: Slot, _ event: String, _ payload: String, ack: UInt64? = nil) {
        self.gateway.eventReceived(
            Array("[\"\(event)\",\(payload)]".utf8), ackID: ack, from: slot, at: self.moment, seconds: 0,
            into: &self.actions)
    }

    /// A back end wants the room `r` changed.
    /// - Returns: the request's number.
    @discardableResult
    mutating func post(
        _ body: String, form: CommitRequest.Form = .creation, session: Identifier = "h:1", as user: Identifier = "ada",
        parent: TraceParent? = nil, seconds: Double = 0
    ) -> UInt64 {
        let request = CommitRequest(room: "r", form: form, body: Array(body.utf8), session: session, parent: parent)
        return self.gateway.requestReceived(
            .commits(request), as: Identity(member: Member(user: user, name: "", color: "")), at: self.moment,
            seconds: seconds, into: &self.actions)
    }

    /// A connected member of a room, its join answered; leaves no actions behind.
    mutating func member(
        _ user: String, of room: Identifier = "r", sid: Identifier? = nil, seq: UInt64 = 0, isV1: Bool = false
    ) throws -> Slot {
        let slot = try self.connect(user, room: isV1 ? room : nil)
        if !isV1 { self.send(slot, "room:join", #"{"roomId":"\#(room)"}"#, ack: 0) }
        self.answerJoins(sid: sid ?? Identifier("s-\(user)"), seq: seq)
        _ = self.take()
        return slot
    }

    /// The fan-out answers all joins that were sent since actions were last taken.
    mutating func answerJoins(sid: Identifier, seq: UInt64 = 0, sessionEpoch: UInt32 = 1) {
        self.answerJoins(self.actions, sid: sid, seq: seq, sessionEpoch: sessionEpoch)
    }

    /// The fan-out answers the joins among these actions.
    mutating func answerJoins(_ actions: [GatewayAction], sid: Identifier, seq: UInt64, sessionEpoch: UInt32 = 1) {
        for case .fanout(_, .join(let join)) in actions {
            self.gateway.joinAnswered(
                self.answer(to: join, sid: sid, seq: seq, sessionEpoch: sessionEpoch), at: self.moment, seconds: 0,
                into: &self.actions)
        }
    }

    /// What a fan-out answers a join in a room without elements.
    func answer(to join: Join, sid: Identifier, seq: UInt64 = 0, sessionEpoch: UInt32 = 1) -> JoinReply {
        JoinReply(
            request: join.request, room: join.room, connection: join.connection,
            outcome: .success(
                JoinReply.Joined(
                    position: Position(epoch: "e", seq: seq), content: .elements(Array("[]".utf8)),
                    members: [join.member], session: "secret", sid: sid, sessionEpoch: sessionEpoch, number: 0)))
    }

    /// The time passes and what waits for it is done.
    mutating func advance(_ milliseconds: UInt64) {
        self.now += milliseconds
        self.gateway.timeReached(self.moment, seconds: 0, into: &self.actions)
    }

    /// The same, and what is due leaves that is paced.
    mutating func pass(_ milliseconds: UInt64) {
        self.advance(milliseconds)
        self.gateway.relay.timeReached(self.moment, into: &self.actions)
    }
}

extension PreviewText {
    /// The previews that it shows.
    var previews: ArraySlice<Preview> { if case .previews(let previews) = self.content { previews } else { [] } }
}

extension Awareness {
    /// The cursor that it shows.
    var cursor: Point? { if case .cursor(let cursor) = self.value { cursor } else { nil } }
    /// The selection that it shows; nil if it is of another part.
    var selection: [Identifier]? { if case .selection(let elements) = self.value { elements } else { nil } }
}

extension Instant {
    /// That many milliseconds after the clock's start.
    init(milliseconds: UInt64) {
        self = .start + .milliseconds(milliseconds)
    }

    /// Whole milliseconds since the clock's start.
    var milliseconds: UInt64 { self.elapsed(since: .start).milliseconds }
}

extension [GatewayAction] {
    /// The commits among them.
    var commits: [Commit] {
        self.compactMap { if case .commit(_, let commit) = $0 { commit } else { nil } }
    }

    /// The joins among them.
    var joins: [Join] {
        self.compactMap { if case .fanout(_, .join(let join)) = $0 { join } else { nil } }
    }

    /// The ids of the acknowledgements among them, in order.
    var acknowledged: [UInt64] {
        self.compactMap { if case .acknowledge(_, let id, _) = $0 { id } else { nil } }
    }

    /// The previews among them.
    var previews: [Preview] {
        self.compactMap { if case .preview(_, let preview) = $0 { preview } else { nil } }
    }

    /// The awareness for fan-outs among them.
    var awareness: [Awareness] {
        self.compactMap { if case .fanout(_, .awareness(let awareness)) = $0 { awareness } else { nil } }
    }

    /// The ends of gestures among them.
    var gestureEnds: [GestureEnd] {
        self.compactMap { if case .fanout(_, .gestureEnd(let end)) = $0 { end } else { nil } }
    }

    /// What one app received, as text: acknowledgements and events.
    func texts(for slot: Slot) -> [String] {
        self.flatMap { action -> [[UInt8]] in
            switch action {
            case .acknowledge(slot, _, let json), .emit(slot, let json): [json]
            case .broadcast(let slots, let json, _) where slots.contains(slot): [json]
            case .signal(let slots, let json) where slots.contains(slot): [json]
            case .previews(let slots, let previews) where slots.contains(slot):
                previews.filter { $0.sender != slot }.map(\.json)
            case .sightings(let sightings, let previews):
                sightings.filter { $0.slot == slot }.flatMap { $0.indices.map { previews[$0].json } }
            default: []
            }
        }.map { String(decoding: $0, as: UTF8.self) }
    }
}

/// A result as the committer gives it.
func result(of commit: Commit, seq: UInt64 = 0, refusal: Refusal? = nil, elements: UInt32 = 1) -> CommitResult {
    CommitResult(
        room: commit.room, session: commit.session, number: commit.number, connection: commit.connection,
        refusal: refusal, seq: seq,
        json: Array((refusal == nil ? #"{"ok":true,"seq":\#(seq)}"# : #"{"ok":false}"#).utf8),
        elements: refusal == nil ? elements : 0, bodyHash: commit.edit.bodyHash)
}

/// A transform by somebody else.
func update(
    _ seq: UInt64, room: Identifier = "r", event: UpdateEvent = .transformed, ids: [Identifier] = ["e"],
    sid: Identifier = "s", gesture: UInt64 = 0, trace: TraceID? = nil
) -> Update {
    Update(
        shard: UInt8(Shard.of(room: room)), gseq: seq, room: room, seq: seq, event: event, user: "u", sid: sid,
        number: 0,
        elements: ids.map {
            UpdatedElement(
                id: $0, json: event.shape == .deletion ? [] : Array(#"{"id":"\#($0)"}"#.utf8), gesture: gesture)
        }, trace: trace)
}
