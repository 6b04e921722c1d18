import Wire

/// The cursors and selections that members of rooms here see, of connections anywhere.
///
/// The fan-out says with each position of a room's stream what the connections of other gateways show from then on. What
/// was shown before may have ended unnoticed, with a fan-out that is gone: it is hidden first.
struct ShownAttention {
    /// For each cursor and selection the preview that hides it.
    private var rooms: [Identifier: [LatestPreviews.Key: Preview]] = [:]

    /// Notes what is shown from now on.
    mutating func note(_ preview: Preview) {
        let key = LatestPreviews.Key(preview)
        guard preview.isHidden else {
            self.rooms[preview.room, default: [:]][key] = preview.hidden
            return
        }
        self.rooms[preview.room]?[key] = nil
    }

    /// Notes what an answer to a join has shown.
    mutating func note(_ joined: JoinReply.Joined, in room: Identifier) {
        for (member, connections) in zip(joined.members, joined.attention) {
            for connection in connections {
                for preview in connection.hidingPreviews(in: room, of: member.user) {
                    self.rooms[room, default: [:]][LatestPreviews.Key(preview)] = preview
                }
            }
        }
    }

    /// Forgets what connections show in a room.
    /// - Parameter current: what connections of this gateway show according to themselves: that goes on. What they have
    ///   taken back may have reached no fan-out that knew of it.
    /// - Returns: the previews that hide the rest.
    mutating func reset(_ room: Identifier, but current: @autoclosure () -> Set<LatestPreviews.Key>) -> [Preview] {
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
