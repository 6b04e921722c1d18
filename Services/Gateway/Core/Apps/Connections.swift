import Canvas
import JSONBytes
import Timing
package import Wire

/// The apps that are connected, each in a slot that is reused after it.
///
/// A slot names a connection as long as it is there; whatever outlives the connection remembers its id too, which is
/// unique over all gateways and never reused.
package struct Connections {
    /// The connection in each slot, nil when there is none. Changed in place: an array's element is reached without a call,
    /// a subscript of this type would allocate for each access. Added and removed by the methods below only.
    var bySlot: [ClientConnection?] = []
    /// The id of the connection in each slot, 0 when there is none: to look at it does not touch the connection.
    private var ids: [UInt64] = []
    private var freeSlots: [Slot] = []
    private var slots: [UInt64: Slot] = [:]
    private var lastID: UInt64
    private var countsByUser: [Identifier: Int] = [:]
    /// Connections with a held preview or a delayed commit.
    private(set) var restless: Set<Slot> = []
    /// Events refused; awareness received; previews received, held back and dropped.
    private(set) var refusedTotal: UInt64 = 0
    package private(set) var awarenessTotal: UInt64 = 0
    package private(set) var previewsTotal: UInt64 = 0, previewsHeldTotal: UInt64 = 0, previewsDroppedTotal: UInt64 = 0
    private let limits: GatewayLimits

    /// Nobody is connected.
    /// - Parameter prefix: tells the ids of this process from all others'.
    init(prefix: UInt32, limits: GatewayLimits) {
        self.limits = limits
        self.lastID = UInt64(prefix) << 32
    }

    package var count: Int { self.bySlot.count - self.freeSlots.count }

    // MARK: Slots

    /// - Throws: a refusal when a user has as many connections as one may have.
    package func requireCapacity(for user: Identifier) throws(Refusal) {
        guard self.countsByUser[user, default: 0] >= self.limits.connectionsOfUser else { return }
        throw Refusal(.busy, "A user may have \(self.limits.connectionsOfUser) connections.", retryAfterMs: Self.fullMs)
    }

    /// When an app tries again whose user has too many connections, ms.
    private static let fullMs: UInt32 = 5000

    mutating func insert(_ identity: Identity, _ handshake: HandshakeFields) -> Slot {
        self.lastID &+= 1
        let id = self.lastID
        let connection = ClientConnection(id: id, identity: identity, handshake: handshake, limits: self.limits)
        let slot = self.freeSlots.popLast() ?? self.bySlot.count
        if slot == self.bySlot.count {
            self.bySlot.append(connection)
            self.ids.append(id)
        } else {
            self.bySlot[slot] = connection
            self.ids[slot] = id
        }
        self.slots[id] = slot
        self.countsByUser[identity.member.user, default: 0] += 1
        return slot
    }

    /// Removes and returns the connection in a slot, nil when there is none.
    mutating func remove(_ slot: Slot) -> ClientConnection? {
        guard self.isInUse(slot), let connection = self.bySlot[slot] else { return nil }
        self.bySlot[slot] = nil
        self.ids[slot] = 0
        self.slots[connection.id] = nil
        self.restless.remove(slot)
        self.freeSlots.append(slot)
        let user = connection.identity.member.user
        let count = self.countsByUser[user, default: 1] - 1
        self.countsByUser[user] = count > 0 ? count : nil
        return connection
    }

    func isInUse(_ slot: Slot) -> Bool { slot < self.ids.count && self.ids[slot] != 0 }

    /// The id of the connection in a slot, by which it owes answers; 0: none.
    package func id(in slot: Slot) -> UInt64 { self.ids[slot] }

    /// The user of the connection in a slot; nil when there is none.
    package func user(in slot: Slot) -> Identifier? {
        self.isInUse(slot) ? self.bySlot[slot]?.identity.member.user : nil
    }

    /// True while the app in a slot has commits here without a result.
    package func owesResults(_ slot: Slot) -> Bool {
        self.isInUse(slot) && self.bySlot[slot]?.commits.owesResults == true
    }

    /// True while the connection of that id is in the slot, and not another one that came after it.
    func contains(_ id: UInt64, in slot: Slot) -> Bool { self.ids[slot] == id }

    /// True while the connection of that id is in the slot, and its app knows the 1.0 contract only.
    func isV1(_ id: UInt64, in slot: Slot) -> Bool {
        self.contains(id, in: slot) && self.bySlot[slot]?.isV1 == true
    }

    /// As ``ClientConnection/wantsMotion(in:)``, for the connection in a slot.
    func wantsMotion(_ slot: Slot, in room: Identifier) -> Bool {
        self.bySlot[slot]?.wantsMotion(in: room) ?? false
    }

    /// The room of an app in a slot that knows the 1.0 contract only: events of it may name none. Nil for any other.
    func onlyRoom(of slot: Slot) -> Identifier? { self.bySlot[slot]?.onlyRoom }

    /// About the bytes that are kept for the connection in a slot; 0 when there is none.
    mutating func heldBytes(of slot: Slot) -> Int { self.isInUse(slot) ? self.bySlot[slot]?.heldBytes() ?? 0 : 0 }

    /// The slot of a connection; nil when it is not this gateway's, or gone.
    package func slot(of id: UInt64) -> Slot? { self.slots[id] }

    func slot(of debtor: AnswerBudget.Debtor) -> Slot? {
        if case .app(let connection) = debtor { self.slot(of: connection) } else { nil }
    }

    /// These connections as a fan-out knows them. Beyond ``ShownAwareness/roomBytes`` they come without selection and state.
    func occupants(_ slots: some Sequence<Slot>, of room: Identifier) -> [RoomInterest.Occupant] {
        var bytes = 0
        return slots.compactMap { slot in
            guard let connection = self.bySlot[slot] else { return nil }
            var awareness = connection.awareness(in: room) ?? ShownAwareness(sid: "")
            if bytes + awareness.bytes > ShownAwareness.roomBytes { (awareness.selection, awareness.state) = ([], []) }
            bytes += awareness.bytes
            return RoomInterest.Occupant(
                connection: connection.id, member: connection.identity.member, awareness: awareness,
                sessionEpoch: connection.sessionEpoch(in: room))
        }
    }

    /// What these connections show, as it is reported to a fan-out.
    func shownAwareness(_ slots: some Sequence<Slot>, of room: Identifier) -> Set<Awareness.Key> {
        Set(
            self.occupants(slots, of: room).flatMap { occupant in
                occupant.awareness.records(in: room, of: occupant.connection, occupant.member.user).map(\.key)
            })
    }

    /// The rooms that somebody is in, joins, or is about to join again after a reset.
    func rooms() -> Set<Identifier> {
        var rooms: Set<Identifier> = []
        for connection in self.bySlot.lazy.compactMap({ $0 }) { rooms.formUnion(connection.memberships.rooms) }
        return rooms
    }

    // MARK: Previews

    /// An app shows what it moves.
    /// - Returns: the preview, if it may be sent on now, with what was held back before it.
    mutating func previewReceived(
        _ event: IncomingEvent, _ kind: PreviewEvent, room: Identifier
    ) throws(Refusal) -> Preview? {
        self.previewsTotal += 1
        try self.bySlot[event.slot]?.checkPreview(in: room)
        let move = try EventReader.move(event.payload, kind)
        return self.stamped(try self.bySlot[event.slot]?.stamp(move, in: room, at: event.now), from: event.slot)
    }

    /// An app shows a group that it moves.
    /// - Returns: the previews that may be sent on now, with what was held back before them.
    mutating func groupReceived(
        _ event: IncomingEvent, room: Identifier, _ reader: EventReader
    ) throws(Refusal) -> [Preview] {
        self.previewsTotal += 1
        try self.bySlot[event.slot]?.checkPreview(in: room)
        let moves = try reader.group(event.payload)
        let steps = try self.bySlot[event.slot]?.stamp(moves, in: room, at: event.now) ?? []
        return steps.compactMap { self.stamped($0, from: event.slot) }
    }

    /// `cursor:moving`, `selection:set` and `presence:set`: others see what the app shows of its person.
    /// - Returns: what may be sent on now; nil: it waits.
    mutating func awarenessReceived(
        _ event: IncomingEvent, _ kind: AwarenessEvent, room: Identifier, _ reader: EventReader,
        into actions: inout [GatewayAction]
    ) throws(Refusal) -> Awareness? {
        self.awarenessTotal += 1
        try self.bySlot[event.slot]?.checkPreview(in: room)
        let value = try reader.awareness(event.payload, kind)
        let awareness = try self.bySlot[event.slot]?.show(value, in: room, at: event.now)
        if awareness == nil { self.restless.insert(event.slot) }
        if kind != .cursor { self.acknowledge(event, into: &actions) }
        return awareness
    }

    /// Previews that waited for a join, folded into one.
    /// - Returns: the preview, if it may be sent on now.
    mutating func release(
        _ move: Move, from slot: Slot, room: Identifier, at now: Instant, into actions: inout [GatewayAction]
    ) -> Preview? {
        do throws(Refusal) {
            try self.bySlot[slot]?.checkPreview(in: room)
            return self.stamped(try self.bySlot[slot]?.stamp(move, in: room, at: now), from: slot)
        } catch {
            guard self.isReported(error, of: slot, at: now) else { return nil }
            let origin = EventOrigin(slot: slot, ackID: nil, event: move.event.rawValue)
            self.refuse(error, origin, room: room, element: move.element, into: &actions)
            return nil
        }
    }

    /// The preview that may be sent on; counts those that may not.
    private mutating func stamped(_ step: PreviewStep?, from slot: Slot) -> Preview? {
        switch step {
        case .goes(let preview): return preview
        case .waitsForResult, .waitsForRate:
            self.previewsHeldTotal += 1
            self.restless.insert(slot)
        case .dropped: self.previewsDroppedTotal += 1
        case .ignored, nil: break
        }
        return nil
    }

    // MARK: What waits

    /// Something of the connection waits for a rate limit or for a commit's result.
    mutating func startsWaiting(_ slot: Slot) { self.restless.insert(slot) }

    /// A connection is in a room, perhaps once more: what it shows of its person is sent again.
    mutating func joined(_ room: Identifier, _ slot: Slot) {
        if self.bySlot[slot]?.holdsAwareness(in: room) == true { self.restless.insert(slot) }
    }

    /// Removes and returns what was held back of a connection's previews and awareness, as far as it may go by now.
    mutating func releasePreviews(of slot: Slot, at now: Instant) -> ReleasedPreviews {
        var released = ReleasedPreviews()
        let isStillHolding = self.bySlot[slot]?.releasePreviews(at: now, into: &released) ?? false
        if !isStillHolding, !self.hasWaiting(slot) { self.restless.remove(slot) }
        return released
    }

    mutating func hasWaiting(_ slot: Slot) -> Bool { self.bySlot[slot]?.commits.isEmpty == false }

    /// Keeps an event of a room while a join of it is in flight, so that an app may go on without waiting for the answer
    /// and its events of the room take effect in their order.
    /// - Returns: false when it may be handled now.
    mutating func enqueueDuringJoin(
        _ event: IncomingEvent, room: Identifier, _ reader: EventReader
    ) throws(Refusal) -> Bool {
        guard self.bySlot[event.slot]?.join(of: room) != nil else { return false }
        if case .preview(let kind) = event.event {
            self.previewsTotal += 1
            let moves =
                kind == .group ? try reader.group(event.payload) : [try EventReader.move(event.payload, kind)]
            for move in moves where self.bySlot[event.slot]?.enqueue(move, for: room) == false {
                self.previewsDroppedTotal += 1
            }
            return true
        }
        let isKept =
            if case .awareness(.cursor) = event.event {
                self.bySlot[event.slot]?.enqueue(cursor: event.json, for: room)
            } else {
                self.bySlot[event.slot]?
                    .enqueue(event.json, ackID: event.ackID, isBinary: event.isBinary, for: room)
            }
        if isKept == false {
            throw Refusal(.busy, "Too many events wait for the join of this room.", retryAfterMs: 100)
        }
        return true
    }

    /// A commit has its result, or never will have one here: its session may send one more, and newer previews of its
    /// elements may go.
    /// - Parameter seq: the number that it got; nil when it was not applied.
    /// - Returns: false when its connection is gone.
    @discardableResult
    mutating func settle(_ pending: InFlightCommit, seq: UInt64?) -> Bool {
        guard case .app(let origin, let connection) = pending.origin, self.contains(connection, in: origin.slot)
        else { return false }
        let mayGo = self.bySlot[origin.slot]?.settle(pending.commit, seq: seq)
        if mayGo == true { self.restless.insert(origin.slot) }
        return true
    }

    /// A commit that waited is not sent any more: newer previews of its elements may go.
    mutating func dropped(_ commit: AcceptedCommit) {
        let slot = commit.origin.slot
        guard self.contains(commit.commit.connection, in: slot),
            self.bySlot[slot]?.settleTracks(of: commit.commit, seq: nil) == true
        else { return }
        self.restless.insert(slot)
    }

    // MARK: Answers

    /// `client:ping`: Engine.IO 4 lets only the server send pings, and an app that comes back to the foreground cannot wait
    /// for the next one.
    mutating func pingReceived(
        _ event: IncomingEvent, seconds: Double, into actions: inout [GatewayAction]
    ) throws(Refusal) {
        try self.bySlot[event.slot]?.rates.pings.spend(at: event.now, orRefuse: "Pings are too frequent.")
        guard let ackID = event.ackID else { return }
        actions.append(.acknowledge(event.slot, id: ackID, json: AnswerText.pong(at: seconds)))
    }

    /// `viewport:set`: from now on the app gets those previews only that it can see, and others see what that is, if it
    /// shares it.
    /// - Returns: what it sees, with a margin, nil: everything; and the awareness that may be sent on now, if there is any.
    mutating func viewportReceived(
        _ event: IncomingEvent, room: Identifier, into actions: inout [GatewayAction]
    ) throws(Refusal) -> (area: PreviewArea?, shared: Awareness?) {
        let (rect, isShared) = try EventReader.viewport(event.payload)
        if isShared { try self.bySlot[event.slot]?.checkPreview(in: room) }
        try self.bySlot[event.slot]?.spendViewport(in: room, at: event.now)
        var shared: Awareness?
        if isShared || self.bySlot[event.slot]?.sharesViewport(in: room) == true {
            self.awarenessTotal += 1
            shared = try self.bySlot[event.slot]?.show(.viewport(isShared ? rect : nil), in: room, at: event.now)
            if shared == nil { self.restless.insert(event.slot) }
        }
        self.acknowledge(event, into: &actions)
        return (rect.map { PreviewArea($0.withViewportMargin) }, shared)
    }

    /// Answers an event that has no other result.
    func acknowledge(_ event: IncomingEvent, into actions: inout [GatewayAction]) {
        guard let ackID = event.ackID else { return }
        actions.append(.acknowledge(event.slot, id: ackID, json: Array(#"{"ok":true}"#.utf8)))
    }

    /// Answers an event with a refusal: as its acknowledgement, or as `transform:error`.
    mutating func refuse(
        _ refusal: Refusal, _ origin: EventOrigin, room: Identifier? = nil, element: Identifier? = nil,
        number: UInt64? = nil, into actions: inout [GatewayAction]
    ) {
        self.refusedTotal += 1
        if self.bySlot[origin.slot]?.kind == .subscriber {
            actions.append(.noStream(origin.slot, refusal))
        } else if let ackID = origin.ackID {
            actions.append(.acknowledge(origin.slot, id: ackID, json: refusal.acknowledgementText))
        } else {
            let json = EventText.transformError(
                refusal, event: origin.event, room: room, element: element, number: number)
            actions.append(.emit(origin.slot, json: json))
        }
    }

    /// Answers an event with a refusal. A preview asks for no answer, and very many may be at fault: one a second is
    /// reported, of cursors and movements not that they are too many.
    mutating func refuse(_ refusal: Refusal, _ event: IncomingEvent, into actions: inout [GatewayAction]) {
        var number = event.payload["n"]?.integer.flatMap { $0 > 0 ? UInt64($0) : nil }
        switch event.event {
        case .authRefresh, .ping:
            return self.refuse(refusal, event.origin, into: &actions)
        case .preview, .awareness(.cursor):
            guard event.ackID != nil || self.isReported(refusal, of: event.slot, at: event.now) else { return }
            number = nil
        case .awareness:
            guard event.ackID != nil || self.bySlot[event.slot]?.rates.reports(refusal.code, at: event.now) == true
            else { return }
            number = nil
        default: break
        }
        let room = event.payload["roomId"].map { $0.string.map { Identifier($0) } } ?? self.onlyRoom(of: event.slot)
        self.refuse(
            refusal, event.origin, room: room,
            element: event.payload["elementId"]?.string.map { Identifier($0) }, number: number, into: &actions)
    }

    private mutating func isReported(_ refusal: Refusal, of slot: Slot, at now: Instant) -> Bool {
        guard [.invalid, .forbidden, .sessionExpired].contains(refusal.code) else { return false }
        return self.bySlot[slot]?.rates.reports(refusal.code, at: now) == true
    }

    // MARK: Tokens

    /// Warns apps whose tokens end within 30 s and disconnects those whose tokens have ended.
    /// - Parameter seconds: the time since 1970.
    package mutating func expireTokens(at seconds: Int64, into actions: inout [GatewayAction]) {
        for slot in self.bySlot.indices {
            guard let left = self.bySlot[slot]?.tokenSecondsLeft(at: seconds) else { continue }
            actions.append(.emit(slot, json: EventText.sessionExpires(in: left)))
            if left == 0 { actions.append(.disconnect(slot)) }
        }
    }
}
