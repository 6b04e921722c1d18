import Canvas
import JSONBytes
import Wire

/// The events that apps send.
enum AppEvent {
    case roomJoin
    case roomLeave
    case transforming
    case authRefresh
    /// An edit: a commit asks for it.
    case edit(EditKind)

    private static let controls: [(name: String, event: AppEvent)] = [
        ("element:transforming", .transforming), ("room:join", .roomJoin), ("room:leave", .roomLeave),
        ("auth:refresh", .authRefresh),
    ]

    /// The event of that name.
    init?(_ name: JSONValue) {
        if let control = Self.controls.first(where: { name.isString($0.name) }) {
            self = control.event
        } else if let kind = allEdits.kind(ofEvent: name) {
            self = .edit(kind)
        } else {
            return nil
        }
    }

    /// Its name.
    var name: String {
        switch self {
        case .roomJoin: "room:join"
        case .roomLeave: "room:leave"
        case .transforming: "element:transforming"
        case .authRefresh: "auth:refresh"
        case .edit(let kind): kind.event
        }
    }

    var isCommit: Bool {
        if case .edit = self { return true }
        return false
    }
}

/// One event while it is handled.
struct Incoming {
    let slot: Slot
    let ackID: UInt64?
    let event: AppEvent
    let payload: JSONValue
    let json: [UInt8]
    let now: UInt64
}

extension Gateway {
    /// An app sent an event: a JSON array of its name and one object.
    /// - Parameters:
    ///   - ackID: the acknowledgement that the app asks for.
    ///   - json: the array's text, which may be anything.
    ///   - seconds: the time since 1970, for tokens.
    /// - Returns: false when the text was no event at all, which counts against the connection.
    @discardableResult
    package mutating func received(
        _ json: [UInt8], ackID: UInt64?, from slot: Slot, at now: UInt64, seconds: Int64
    ) -> Bool {
        guard self.connections.indices.contains(slot), self.connections[slot] != nil else { return true }
        self.tally.events += 1
        do {
            try self.document.parse(json, limits: self.limits.json)
        } catch {
            self.refuse(
                Refusal(.invalid, "The event is not valid JSON at byte \(error.offset)."), slot: slot, ackID: ackID,
                event: "")
            return false
        }
        let root = self.document.root
        var arguments = root.elements.makeIterator()
        guard root.kind == .array, let name = arguments.next(), name.kind == .string else {
            self.refuse(
                Refusal(.invalid, "An event is an array that begins with its name."), slot: slot, ackID: ackID,
                event: ""
            )
            return false
        }
        guard let event = AppEvent(name) else {
            self.refuse(
                Refusal(.unknownEvent, "There is no such event."), slot: slot, ackID: ackID, event: name.string ?? "")
            return true
        }
        guard let payload = arguments.next(), payload.kind == .object else {
            self.refuse(
                Refusal(.invalid, "The payload must be an object."), slot: slot, ackID: ackID, event: event.name)
            return true
        }
        if case .authRefresh = event {
            self.refreshToken(slot: slot, ackID: ackID, token: payload["token"]?.string, seconds: seconds)
            return true
        }
        self.dispatch(Incoming(slot: slot, ackID: ackID, event: event, payload: payload, json: json, now: now))
        return true
    }

    private mutating func dispatch(_ incoming: Incoming) {
        do throws(Refusal) {
            guard let text = incoming.payload["roomId"]?.string else {
                throw Refusal(.invalid, "A room id is a string.", field: "roomId")
            }
            let room = try RoomID.parse(text)
            if self.waitsForJoin(incoming, room: room) { return }
            switch incoming.event {
            case .roomJoin: try self.join(incoming, room: room)
            case .roomLeave: self.leave(incoming, room: room)
            case .transforming: try self.preview(incoming, room: room)
            case .edit(let kind): try self.commit(incoming, kind, room: room)
            case .authRefresh: break
            }
        } catch {
            self.refuse(error, incoming: incoming)
        }
    }

    private mutating func refuse(_ refusal: Refusal, incoming: Incoming) {
        if case .transforming = incoming.event {
            self.refusePreview(refusal, incoming: incoming)
            return
        }
        self.refuse(
            refusal, slot: incoming.slot, ackID: incoming.ackID, event: incoming.event.name,
            room: incoming.payload["roomId"]?.string.map { Identifier($0) },
            element: incoming.payload["elementId"]?.string.map { Identifier($0) },
            number: incoming.payload["n"]?.integer.flatMap { $0 > 0 ? UInt64($0) : nil })
    }

    /// Keeps an event for a room whose first join is under way, so that an app may go on without waiting for it.
    private mutating func waitsForJoin(_ incoming: Incoming, room: Identifier) -> Bool {
        if case .roomJoin = incoming.event { return false }
        guard self.connections[incoming.slot]?.isJoining(room) == true,
            let membership = self.connections[incoming.slot]?.memberships[room]
        else { return false }
        let bytes = (self.connections[incoming.slot]?.waitingBytes ?? 0) + incoming.json.count
        if membership.waiting.count < Membership.maxWaiting, bytes <= ClientConnection.maxWaitingBytes {
            self.connections[incoming.slot]?.waitingBytes = bytes
            self.connections[incoming.slot]?.memberships[room]?.waiting.append(
                Membership.Waiting(ackID: incoming.ackID, json: incoming.json))
        } else if incoming.event.isCommit {
            self.refuse(
                Refusal(.busy, "Too many events wait for the join of this room.", retryAfterMs: 100),
                slot: incoming.slot,
                ackID: incoming.ackID, event: incoming.event.name, room: room)
        }
        return true
    }
}
