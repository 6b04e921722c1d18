import Timing
package import Wire

/// Delivers a room's previews and awareness to its members: to each what it can see, in as many turns as there are members for.
///
///     previews ──► texts for each contract, viewports ──► members of one turn ──► next turn …
///                                                            └──anything else happens in the room──► all the others
///
/// What the members of a room get has one order, in however many turns. Only one room at a time is unfinished.
struct PreviewDelivery {
    /// What is left for later turns of a delivery to a large room.
    private struct Unfinished {
        let room: Identifier
        let since: Instant
        /// The last one is next.
        var rest: [GatewayAction]
    }

    /// What members see of their rooms.
    var viewports = RoomViewports()
    private var unfinished: Unfinished?
    /// Members that previews are delivered to in one turn.
    private let turnMembers: Int

    init(turnMembers: Int) {
        self.turnMembers = turnMembers
    }

    /// True while a room's delivery waits for its next turn.
    var isUnfinished: Bool { self.unfinished != nil }

    /// When the next turn of an unfinished delivery is due: it has been since it began.
    var nextDeadline: Instant? { self.unfinished?.since }

    /// Starts to deliver previews and awareness of one room.
    /// - Returns: how many of both members get, together.
    mutating func deliver(
        _ shown: RoomShow, of room: Identifier, to streams: RoomStreams, _ connections: Connections, at now: Instant,
        into actions: inout [GatewayAction]
    ) -> Int {
        let contracts = streams.previewMembersByContract(of: room)
        guard contracts.full.count + contracts.v1.count > self.turnMembers else {
            return self.deliver(shown, of: room, to: contracts, connections, into: &actions)
        }
        if let other = self.unfinished?.room { self.complete(other, into: &actions) }
        var all: [GatewayAction] = []
        let deliveries = self.deliver(shown, of: room, to: contracts, connections, into: &all)
        self.unfinished = Unfinished(room: room, since: now, rest: all.reversed())
        self.resume(into: &actions)
        return deliveries
    }

    // MARK: Turns

    /// Delivers to as many further members as a turn may.
    mutating func resume(into actions: inout [GatewayAction]) {
        var members = self.turnMembers
        while members > 0, let action = self.unfinished?.rest.popLast() {
            let (part, rest) = action.split(after: members)
            actions.append(part)
            members -= part.previewMembers
            if let rest { self.unfinished?.rest.append(rest) }
        }
        if self.unfinished?.rest.isEmpty == true { self.unfinished = nil }
    }

    /// Delivers to all other members, before anything else happens in the room.
    mutating func complete(_ room: Identifier, into actions: inout [GatewayAction]) {
        guard let delivery = self.unfinished, delivery.room == room else { return }
        actions += delivery.rest.reversed()
        self.unfinished = nil
    }

    // MARK: Members

    private mutating func deliver(
        _ shown: RoomShow, of room: Identifier, to contracts: (full: [Slot], v1: [Slot]), _ connections: Connections,
        into actions: inout [GatewayAction]
    ) -> Int {
        if self.viewports.contains(room) { self.viewports.note(shown, of: room) }
        let texts = PreviewText.texts(of: shown) { connections.slot(of: $0) }
        let deliveries = self.deliver(texts, of: room, to: contracts.full, into: &actions)
        if contracts.v1.isEmpty { return deliveries }
        return deliveries
            + self.deliver(V1Translator.previews(texts), of: room, to: contracts.v1, into: &actions)
    }

    /// Delivers to each member what it can see.
    private mutating func deliver(
        _ texts: [PreviewText], of room: Identifier, to members: [Slot], into actions: inout [GatewayAction]
    ) -> Int {
        if members.isEmpty || texts.isEmpty { return 0 }
        let (unbounded, sightings) = self.viewports.split(members, of: room, texts)
        if !unbounded.isEmpty { actions.append(.previews(unbounded, texts)) }
        if !sightings.isEmpty { actions.append(.sightings(sightings, texts)) }
        let sizes = texts.map(\.count)
        return sightings.reduce(unbounded.count * sizes.reduce(0, +)) { sum, sighting in
            sighting.indices.reduce(sum) { $0 + sizes[$1] }
        }
    }
}

/// What a room's members are shown together.
package struct RoomShow {
    package var previews: ArraySlice<Preview>
    package var awareness: ArraySlice<Awareness>

    package init(previews: ArraySlice<Preview> = [], awareness: ArraySlice<Awareness> = []) {
        self.previews = previews
        self.awareness = awareness
    }

    package var isEmpty: Bool { self.previews.isEmpty && self.awareness.isEmpty }
}

extension GatewayAction {
    /// How many members get previews by it.
    fileprivate var previewMembers: Int {
        switch self {
        case .previews(let slots, _): slots.count
        case .sightings(let sightings, _): sightings.count
        default: 0
        }
    }

    /// The same for the first members, and for the others if there are more.
    fileprivate func split(after members: Int) -> (GatewayAction, GatewayAction?) {
        guard self.previewMembers > members else { return (self, nil) }
        switch self {
        case .previews(let slots, let texts):
            return (
                .previews(Array(slots.prefix(members)), texts), .previews(Array(slots.dropFirst(members)), texts)
            )
        case .sightings(let sightings, let texts):
            return (
                .sightings(Array(sightings.prefix(members)), texts),
                .sightings(Array(sightings.dropFirst(members)), texts)
            )
        default: return (self, nil)
        }
    }
}
