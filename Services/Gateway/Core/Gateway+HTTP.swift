import Auth
package import Timing
package import Wire

/// Requests over HTTP. Each gets a number, and its answer comes as an ``GatewayAction/http(request:status:json:)`` with
/// that number.
extension Gateway {
    /// `GET /api/rooms/{roomId}`: asks the fan-out.
    package mutating func read(
        room text: String, as identity: Identity, at now: Instant, into actions: inout [GatewayAction]
    ) -> UInt64 {
        self.clock = now
        let request = self.newRequest()
        do throws(Refusal) {
            let room = try RoomID.parse(text)
            guard identity.may(.view, in: room) else {
                throw Refusal(.forbidden, "The token gives no right to this room.", field: "roomId")
            }
            try self.reads.start(request, at: now)
            let read = RoomRead(request: request, room: room, after: self.recent.number(in: room))
            actions.append(.fanout(of: room, .read(read)))
        } catch {
            self.refuse(request, error, into: &actions)
        }
        return request
    }

    /// The fan-out answered a read.
    package mutating func readAnswered(_ state: RoomState, into actions: inout [GatewayAction]) {
        guard self.reads.end(state.request) else { return }
        switch state.outcome {
        case .neverUsed:
            let refusal = Refusal(.notFound, "Nothing was ever done in this room.", field: "roomId")
            self.refuse(state.request, refusal, into: &actions)
        case .unavailable: self.refuse(state.request, .roomUnavailable, into: &actions)
        case .state(let position, let elements):
            let json = EventText.room(state.room, at: position, elements: elements)
            actions.append(.http(request: state.request, status: HTTPStatus.ok, json: json))
        }
    }

    /// `POST /api/rooms/{roomId}/elements`: creates an element as one numbered commit of a session of its own, so that
    /// the same `Idempotency-Key` finds the first result again.
    /// - Parameter session: the session's name: made from the user and the key, or random without one.
    package mutating func create(
        in text: String, body: [UInt8], session: Identifier, as identity: Identity, at now: Instant,
        into actions: inout [GatewayAction]
    ) -> UInt64 {
        self.clock = now
        let request = self.newRequest()
        do throws(Refusal) {
            let room = try RoomID.parse(text)
            guard identity.may(.commit, in: room) else {
                throw Refusal(.forbidden, "The token gives no right to change this room.", field: "roomId")
            }
            try self.custody.checkRoom(for: body.count)
            let edit = try self.reader.creation(body)
            guard self.custody[CustodyKey(room: room, session: session, number: 1)] == nil else {
                throw Refusal(.busy, "A request with the same Idempotency-Key is under way.", retryAfterMs: 200)
            }
            let commit = Commit(
                room: room, session: session, claim: 1, number: 1, isNumberedByApp: false,
                user: identity.member.user, connection: 0, gateway: self.name, gestures: [],
                edit: EncodedEdit(edit))
            self.keep(commit, from: .http(request), at: now, into: &actions)
        } catch {
            self.refuse(request, error, into: &actions)
        }
        return request
    }

    /// Answers a request with a refusal.
    mutating func refuse(_ request: UInt64, _ refusal: Refusal, into actions: inout [GatewayAction]) {
        self.tally.refused += 1
        actions.append(.http(request: request, status: HTTPStatus.of(refusal), json: EventText.refused(refusal)))
    }
}
