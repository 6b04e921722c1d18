import Wire

/// The members that apps here have been shown, one list for each room: a newcomer's answer contains whom the others see,
/// and the others are shown whom it contains.
///
/// The fan-out sends a room's members with each position of its stream, and when they are settled after the room has moved.
/// What was missed of comings and goings is the difference to the list. As large as the answers to joins were.
struct ShownMembers {
    private var rooms: [Identifier: [Identifier: Member]] = [:]

    /// What an answer to a join must contain beyond the members that the fan-out knows: it may not know all yet.
    func missing(from members: [Member], in room: Identifier) -> [Member] {
        guard let shown = self.rooms[room] else { return [] }
        // Nearly always the fan-out knows all.
        guard members.count(where: { shown[$0.user] != nil }) < shown.count else { return [] }
        let known = Set(members.map(\.user))
        return shown.values.filter { !known.contains($0.user) }.sorted { $0.user < $1.user }
    }

    /// An answer to a join shows these members.
    /// - Returns: those of them that are news to the others here.
    mutating func note(_ members: [Member], in room: Identifier) -> [Member] {
        guard var shown = self.rooms.removeValue(forKey: room) else {
            self.rooms[room] = Dictionary(members.map { ($0.user, $0) }) { $1 }
            return []
        }
        defer { self.rooms[room] = shown }
        return members.filter { shown.insert($0) }
    }

    /// A user came or left.
    /// - Returns: true when that is news.
    mutating func note(_ presence: Presence) -> Bool {
        presence.hasJoined
            ? self.rooms[presence.room]?.insert(presence.member) == true
            : self.rooms[presence.room]?.removeValue(forKey: presence.member.user) != nil
    }

    /// A list of members came.
    /// - Returns: what was missed, departures first.
    mutating func note(_ list: RoomMembers) -> [Presence] {
        guard let shown = self.rooms[list.room] else { return [] }
        var gone: [Member] = []
        if list.isComplete {
            let present = Set(list.members.map(\.user))
            gone = shown.values.filter { list.covers($0.user) && !present.contains($0.user) }
                .sorted { $0.user < $1.user }
        }
        let missed =
            gone.map { Presence(room: list.room, hasJoined: false, member: $0, except: 0) }
            + list.members.map { Presence(room: list.room, hasJoined: true, member: $0, except: 0) }
        return missed.filter { self.note($0) }
    }

    /// A room has no members here any more.
    mutating func forget(_ room: Identifier) { self.rooms[room] = nil }
}

extension [Identifier: Member] {
    /// - Returns: true for a member that was not there.
    fileprivate mutating func insert(_ member: Member) -> Bool {
        if self[member.user] != nil { return false }
        self[member.user] = member
        return true
    }
}
