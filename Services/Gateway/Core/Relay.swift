package import Timing
package import Wire

/// What passes between apps and the rooms that they are in: an app's previews and awareness go to the stages behind it,
/// and what these send goes to the apps that see it.
///
///     preview, awareness, viewport ──► connections, by rates ──► rooms, by intervals ──► coalescer, fan-out
///     update, preview, awareness, presence ──────────────────► rooms ──► the apps in them
///
/// It knows no joins, commits or tokens. Previews have a clock of their own, which is this one's.
package struct Relay {
    /// The apps, and what they do in their rooms.
    package internal(set) var connections: Connections
    /// What is known of rooms, and previews on their way.
    package var rooms: Rooms

    init(connectionPrefix: UInt32, limits: GatewayLimits) {
        self.connections = Connections(prefix: connectionPrefix, limits: limits)
        self.rooms = Rooms(limits: limits)
    }

    // MARK: From apps

    mutating func previewReceived(
        _ event: IncomingEvent, _ kind: PreviewEvent, room: Identifier, _ reader: EventReader,
        into actions: inout [GatewayAction]
    ) throws(Refusal) {
        if kind == .group {
            let previews = try self.connections.groupReceived(event, room: room, reader)
            for preview in previews { self.rooms.send(preview, at: event.now, into: &actions) }
        } else if let preview = try self.connections.previewReceived(event, kind, room: room) {
            self.rooms.send(preview, at: event.now, into: &actions)
        }
    }

    mutating func awarenessReceived(
        _ event: IncomingEvent, _ kind: AwarenessEvent, room: Identifier, _ reader: EventReader,
        into actions: inout [GatewayAction]
    ) throws(Refusal) {
        let awareness = try self.connections.awarenessReceived(event, kind, room: room, reader, into: &actions)
        if let awareness { self.rooms.send(awareness, at: event.now, into: &actions) }
    }

    mutating func viewportReceived(
        _ event: IncomingEvent, room: Identifier, into actions: inout [GatewayAction]
    ) throws(Refusal) {
        let (area, shared) = try self.connections.viewportReceived(event, room: room, into: &actions)
        if let shared { self.rooms.send(shared, at: event.now, into: &actions) }
        self.rooms.viewportSet(area, of: event.slot, in: room, self.connections, at: event.now, into: &actions)
    }

    /// Sends a preview that waited for a join, as far as it may go.
    mutating func release(
        _ move: Move, from slot: Slot, room: Identifier, at now: Instant, into actions: inout [GatewayAction]
    ) {
        let preview = self.connections.release(move, from: slot, room: room, at: now, into: &actions)
        if let preview { self.rooms.send(preview, at: now, into: &actions) }
    }

    /// Sends what waited for rate limits or results of a connection's previews and awareness, as far as it may go.
    mutating func releaseWaiting(of slot: Slot, at now: Instant, into actions: inout [GatewayAction]) {
        let released = self.connections.releasePreviews(of: slot, at: now)
        for preview in released.previews { self.rooms.send(preview, at: now, into: &actions) }
        for awareness in released.awareness { self.rooms.send(awareness, at: now, into: &actions) }
    }

    // MARK: From fan-outs

    /// A session has a new owner: an older connection here loses it.
    package mutating func sessionClaimed(_ claimed: SessionClaimed) {
        for slot in self.rooms.streams.members(of: claimed.room) {
            self.connections.bySlot[slot]?.sessionClaimed(claimed)
        }
    }

    /// The next update of a room's stream came.
    package mutating func updateReceived(_ update: Update, into actions: inout [GatewayAction]) {
        self.rooms.updateReceived(update, self.connections, into: &actions)
    }

    /// The fan-out says where a room's stream stands, after it sent what this gateway missed.
    package mutating func positionReceived(
        _ answer: RoomPosition, at now: Instant, into actions: inout [GatewayAction]
    ) {
        self.rooms.positionReceived(answer, self.connections, at: now, into: &actions)
    }

    /// Previews came; those of one room stand together.
    /// - Parameter lateness: how long they waited for this turn.
    package mutating func previewsReceived(
        _ previews: [Preview], at now: Instant, lateness: Nanoseconds, into actions: inout [GatewayAction]
    ) {
        self.rooms.previewsReceived(previews, lateness: lateness, self.connections, at: now, into: &actions)
    }

    /// What connections show of their persons came; that of one room stands together.
    /// - Parameter lateness: how long it waited for this turn.
    package mutating func awarenessReceived(
        _ awareness: [Awareness], at now: Instant, lateness: Nanoseconds, into actions: inout [GatewayAction]
    ) {
        self.rooms.awarenessReceived(awareness, lateness: lateness, self.connections, at: now, into: &actions)
    }

    package func signalReceived(_ signal: RoomSignal, into actions: inout [GatewayAction]) {
        let members = self.rooms.streams.fullMembers(of: signal.room)
        let sender = self.connections.slot(of: signal.connection)
        let others = members.filter { $0 != sender }
        if !others.isEmpty { actions.append(.signal(others, json: EventText.signal(signal))) }
    }

    /// A user came into a room, is shown otherwise there or left it.
    package mutating func presenceChanged(_ presence: Presence, into actions: inout [GatewayAction]) {
        self.rooms.presenceChanged(presence, except: self.connections.slot(of: presence.except), into: &actions)
    }

    // MARK: Bounds

    /// About the bytes that are kept for an app in its rooms: elements that it moves, previews that are held back, what it
    /// has selected, viewports, and events that wait for joins. Known at any time, not counted now.
    package mutating func heldBytes(for slot: Slot) -> Int { self.connections.heldBytes(of: slot) }

    // MARK: Time

    /// When ``timeReached(_:into:)`` is due; nil when no preview waits and no room is slowed down.
    package mutating func nextDeadline() -> Instant? { self.rooms.nextDeadline() }

    /// Time has passed: previews that are due go as far as this turn allows, and intervals are reviewed.
    package mutating func timeReached(_ now: Instant, into actions: inout [GatewayAction]) {
        self.rooms.timeReached(now, self.connections, into: &actions)
    }
}
