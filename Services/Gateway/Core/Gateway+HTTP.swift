import Auth
import JSONBytes
package import Wire

/// How refusals look in HTTP.
package enum HTTPStatus {
    /// 200.
    package static let ok = 200
    /// 201.
    package static let created = 201

    /// The status of a refusal.
    package static func of(_ refusal: Refusal) -> Int {
        switch refusal.code {
        case .invalid: 400
        case .forbidden: 403
        case .notFound, .unknownEvent: 404
        case .conflict, .gap: 409
        case .gone, .sessionExpired: 410
        case .tooLarge: 413
        case .rateLimited: 429
        case .busy, .unavailable: 503
        }
    }
}

extension Gateway {
    /// `GET /api/rooms/{roomId}`: asks the fan-out; the answer comes as an `.http` action with the returned number.
    package mutating func read(room text: String, as identity: Identity, at now: UInt64) -> UInt64 {
        let request = self.newRequest()
        do throws(Refusal) {
            let room = try RoomID.parse(text)
            guard identity.may(.view, in: room) else {
                throw Refusal(.forbidden, "The token gives no right to this room.", field: "roomId")
            }
            guard self.reads.count < self.limits.readsWaiting else {
                self.tally.busy += 1
                throw Refusal(.busy, "Too many reads are waiting.", retryAfterMs: Custody.busyMs)
            }
            self.reads[request] = (room, now + self.limits.deadlineMs)
            let read = RoomRead(request: request, room: room, after: self.recent.number(in: room))
            self.actions.append(.fanout(shard: Shard.of(room: room), .read(read)))
        } catch {
            self.refuseHTTP(request, error)
        }
        return request
    }

    /// The fan-out answered a read.
    package mutating func readAnswered(_ state: RoomState) {
        guard self.reads.removeValue(forKey: state.request) != nil else { return }
        switch state.outcome {
        case .neverUsed:
            self.refuseHTTP(state.request, Refusal(.notFound, "Nothing was ever done in this room.", field: "roomId"))
        case .unavailable:
            self.refuseHTTP(
                state.request, Refusal(.unavailable, "The room cannot be read at the moment.", retryAfterMs: 1000))
        case .state(let position, let elements):
            var writer = JSONWriter(reserving: elements.count + 128)
            writer.beginObject()
            writer.key("roomId")
            writer.value(state.room.text)
            writer.key("epoch")
            writer.value(position.epoch.text)
            writer.key("seq")
            writer.value(position.seq)
            writer.key("elements")
            writer.raw(elements)
            writer.endObject()
            self.actions.append(.http(request: state.request, status: HTTPStatus.ok, json: writer.bytes))
        }
    }

    /// `POST /api/rooms/{roomId}/elements`: creates an element as one numbered commit of a session of its own, so that
    /// the same `Idempotency-Key` finds the first result again.
    /// - Parameter session: the session's name: made from the user and the key, or random without one.
    package mutating func create(
        in text: String, body: [UInt8], session: Identifier, as identity: Identity, at now: UInt64
    ) -> UInt64 {
        let request = self.newRequest()
        do throws(Refusal) {
            let room = try RoomID.parse(text)
            guard identity.may(.commit, in: room) else {
                throw Refusal(.forbidden, "The token gives no right to change this room.", field: "roomId")
            }
            try self.checkCustody(for: body.count)
            let edit = try self.creation(fromHTTP: body)
            let key = CustodyKey(room: room, session: session, number: 1)
            guard self.custody[key] == nil else {
                throw Refusal(.busy, "A request with the same Idempotency-Key is under way.", retryAfterMs: 200)
            }
            let commit = Commit(
                room: room, session: session, claim: 1, number: 1, isNumberedByApp: false,
                user: identity.member.user, connection: 0, gateway: self.name, gestures: [],
                edit: EncodedEdit(edit))
            self.keep(commit, from: .http(request), at: now)
        } catch {
            self.refuseHTTP(request, error)
        }
        return request
    }

    private mutating func creation(fromHTTP body: [UInt8]) throws(Refusal) -> CreateElement {
        do {
            try self.document.parse(body, limits: self.limits.json)
        } catch {
            throw Refusal(.invalid, "The body is not valid JSON at byte \(error.offset).")
        }
        return try CreateElement(element: self.document.root, reading: &self.editReading)
    }

    private mutating func refuseHTTP(_ request: UInt64, _ refusal: Refusal) {
        self.tally.refused += 1
        self.actions.append(
            .http(request: request, status: HTTPStatus.of(refusal), json: EventText.refused(refusal)))
    }
}
