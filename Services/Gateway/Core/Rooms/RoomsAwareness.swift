import Wire

/// What members of rooms here see of the persons of connections anywhere.
///
/// The fan-out says with each position of a room's stream what the connections of other gateways show from then on. What
/// was shown before may have ended unnoticed, with a fan-out that is gone: it is hidden first.
struct RoomsAwareness {
    /// For each part of a connection that is shown the record that hides it.
    private var rooms: [Identifier: [Awareness.Key: Awareness]] = [:]

    /// Notes what is shown from now on.
    mutating func note(_ awareness: Awareness) {
        let key = awareness.key
        if awareness.value.isNothing {
            self.rooms[awareness.room]?[key] = nil
        } else {
            self.rooms[awareness.room, default: [:]][key] = awareness.hidden
        }
    }

    /// Notes what an answer to a join has shown.
    mutating func note(_ joined: JoinReply.Joined, in room: Identifier) {
        for (member, connections) in zip(joined.members, joined.awareness) {
            for shown in connections {
                for part in shown.parts {
                    let hiding = Awareness(
                        room: room, connection: shown.connection, user: member.user, sid: shown.sid,
                        value: part.nothing)
                    self.rooms[room, default: [:]][hiding.key] = hiding
                }
            }
        }
    }

    /// Forgets what connections show in a room.
    /// - Parameter current: what connections of this gateway show according to themselves: that goes on. What they have
    ///   taken back may have reached no fan-out that knew of it.
    /// - Returns: the records that hide the rest.
    mutating func reset(_ room: Identifier, but current: @autoclosure () -> Set<Awareness.Key>) -> [Awareness] {
        guard let shown = self.rooms[room], !shown.isEmpty else { return [] }
        let current = current()
        self.rooms[room] = shown.filter { current.contains($0.key) }
        return shown.filter { !current.contains($0.key) }.map(\.value)
    }

    /// A room has no members here any more.
    mutating func forget(_ room: Identifier) {
        if !self.rooms.isEmpty { self.rooms[room] = nil }
    }
}
