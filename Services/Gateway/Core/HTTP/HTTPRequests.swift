import Auth
import Timing
import Wire

/// Requests over HTTP. Each has a number, and its answer is a ``GatewayAction/http(request:status:json:)`` with that
/// number. Reads wait here for the fan-out, until their deadline; creations are commits.
package struct HTTPRequests {
    private let limits: Limits
    private var reads: Set<UInt64> = []
    private var deadlines = DeadlineQueue<UInt64>()
    /// Requests refused, and those among them that were refused as too many waited.
    private(set) var refusedTotal: UInt64 = 0, busyTotal: UInt64 = 0

    init(limits: Limits) {
        self.limits = limits
    }

    /// How many reads wait for an answer.
    package var readCount: Int { self.reads.count }

    /// Asks the fan-out for a room.
    mutating func read(
        _ text: String, as identity: Identity, number request: UInt64, _ rooms: Rooms, at now: Instant,
        into actions: inout [GatewayAction]
    ) {
        do throws(Refusal) {
            let room = try Self.room(text, for: identity)
            try self.startWaiting(request, at: now)
            let after = rooms.acknowledgedNumber(in: room)
            actions.append(.fanout(of: room, .read(RoomRead(request: request, room: room, after: after))))
        } catch {
            self.refuse(request, error, into: &actions)
        }
    }

    /// Asks the fan-out for a page of a room's history, as the query's parameters say.
    mutating func readHistory(
        _ text: String, after: String?, limit: String?, as identity: Identity, number request: UInt64,
        at now: Instant, into actions: inout [GatewayAction]
    ) {
        do throws(Refusal) {
            let room = try Self.room(text, for: identity)
            let page = try HistoryParameters(after: after, limit: limit)
            try self.startWaiting(request, at: now)
            let read = HistoryRead(request: request, room: room, after: page.after, limit: page.limit)
            actions.append(.fanout(of: room, .readHistory(read)))
        } catch {
            self.refuse(request, error, into: &actions)
        }
    }

    /// The room that a path names, if its token gives the right to see it.
    private static func room(_ text: String, for identity: Identity) throws(Refusal) -> Identifier {
        let room = try RoomID.parse(text)
        guard identity.may(.view, in: room) else {
            throw Refusal(.forbidden, "The token gives no right to this room.", field: "roomId")
        }
        return room
    }

    /// A read waits for its answer from now on, unless too many do.
    private mutating func startWaiting(_ request: UInt64, at now: Instant) throws(Refusal) {
        guard self.reads.count < self.limits.readsWaiting else {
            self.busyTotal += 1
            throw Refusal(.busy, "Too many reads are waiting.", retryAfterMs: Limits.busyMs)
        }
        self.reads.insert(request)
        self.deadlines.set(request, at: now + self.limits.deadline)
    }

    /// The fan-out answered a read.
    mutating func readAnswered(_ state: RoomState, into actions: inout [GatewayAction]) {
        guard self.reads.remove(state.request) != nil else { return }
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

    /// The fan-out answered a read of a room's history.
    mutating func historyAnswered(_ reply: HistoryReply, into actions: inout [GatewayAction]) {
        guard self.reads.remove(reply.request) != nil else { return }
        switch reply.outcome {
        case .failure(let refusal): self.refuse(reply.request, refusal, into: &actions)
        case .success(let page):
            actions.append(.http(request: reply.request, status: HTTPStatus.ok, json: EventText.history(page)))
        }
    }

    /// Time has passed: reads end at their deadlines.
    mutating func timeReached(_ now: Instant, into actions: inout [GatewayAction]) {
        while let request = self.deadlines.popDue(at: now) {
            if self.reads.remove(request) != nil { self.refuse(request, .roomUnavailable, into: &actions) }
        }
    }

    /// Answers a request with a refusal.
    mutating func refuse(_ request: UInt64, _ refusal: Refusal, into actions: inout [GatewayAction]) {
        self.refusedTotal += 1
        actions.append(.http(request: request, status: HTTPStatus.of(refusal), json: EventText.refused(refusal)))
    }
}
