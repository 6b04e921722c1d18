/// The role of one connection.
package struct ClientPlan: Sendable, Equatable {
    /// Unique among all connections, from 0; members before idle ones.
    package var index: Int
    /// Its room, and its number among the members; nil for an idle connection.
    package var room: Int?
    package var member: Int?
    /// True when it has an element of its own: it sends previews or commits in some phase.
    package var isMover = false
    package var isSlow = false

    /// The first member of a room creates the further elements.
    package var isFirst: Bool { self.member == 0 }

    /// All connections of a load.
    package static func plans(_ load: Load) -> [ClientPlan] {
        let members = load.rooms * load.members
        return (0..<load.connections).map { index in
            guard index < members else { return ClientPlan(index: index) }
            // All rooms get their first member, then all their second, and so on: the ramp fills rooms evenly.
            let (member, room) = index.quotientAndRemainder(dividingBy: load.rooms)
            return ClientPlan(
                index: index, room: room, member: member,
                isMover: member < max(load.previewersPerRoom, load.committersPerRoom),
                isSlow: member >= load.members - load.slowPerRoom)
        }
    }

    /// The columns of senders that a member has in its viewport, spread over all of them; nil: all, without a viewport.
    package func view(_ load: Load) -> Range<Int>? {
        guard let member, load.viewShare < 1 else { return nil }
        let columns = min(load.previewersPerRoom, SendTime.columns)
        let count = max(1, Int((Double(columns) * load.viewShare).rounded()))
        let start = member * count % max(1, columns - count + 1)
        return start..<start + count
    }

    /// Its number among the first `count` members of all rooms, those of one room consecutive; nil when it is none of
    /// them.
    package func number(amongFirst count: Int) -> Int? {
        guard let room, let member, member < count else { return nil }
        return room * count + member
    }
}
