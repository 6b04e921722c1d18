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
    /// - Returns: what of it is news to the others here.
    mutating func note(_ members: [Member], in room: Identifier) -> [MemberNews] {
        guard var shown = self.rooms.removeValue(forKey: room) else {
            self.rooms[room] = Dictionary(members.map { ($0.user, $0) }) { $1 }
            return []
        }
        defer { self.rooms[room] = shown }
        return members.compactMap { shown.show($0, in: room) }
    }

    /// A user is there, or left.
    /// - Returns: what of it is news.
    mutating func note(_ presence: Presence) -> MemberNews? {
        let (room, member) = (presence.room, presence.member)
        if presence.hasJoined { return self.rooms[room]?.show(member, in: room) }
        guard self.rooms[room]?.removeValue(forKey: member.user) != nil else { return nil }
        return MemberNews(room: room, change: .left, member: member)
    }

    /// A list of members came.
    /// - Returns: what was missed, departures first.
    mutating func note(_ list: RoomMembers) -> [MemberNews] {
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
        return missed.compactMap { self.note($0) }
    }

    /// A room has no members here any more.
    mutating func forget(_ room: Identifier) { self.rooms[room] = nil }
}

/// What apps in a room are told of a user.
struct MemberNews: Equatable {
    /// The names of events.
    enum Change: String {
        case joined = "member:joined"
        case left = "member:left"
        /// The user is shown by another name or colour.
        case changed = "member:changed"
    }

    let room: Identifier
    let change: Change
    let member: Member
}

extension [Identifier: Member] {
    /// A member is there.
    /// - Returns: what of it is news.
    fileprivate mutating func show(_ member: Member, in room: Identifier) -> MemberNews? {
        let former = self.updateValue(member, forKey: member.user)
        if former == member { return nil }
        return MemberNews(room: room, change: former == nil ? .joined : .changed, member: member)
    }
}
