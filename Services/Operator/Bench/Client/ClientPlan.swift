/// What one connection shall be.
package struct ClientPlan: Sendable, Equatable {
    /// Unique among all connections, from 0; members before idle ones.
    package var index: Int
    /// Its room; nil for an idle connection.
    package var room: Int?
    /// Its number among the senders of previews, or among the committers; nil when it is none.
    package var sender: Int?
    package var committer: Int?
    /// The first of its room: makes the further elements.
    package var isFirst = false
    package var isSlow = false

    /// The connections that one loop of several makes: every loop gets a part of every room.
    package static func plans(_ load: Load, loop: Int, of loops: Int) -> [ClientPlan] {
        let members = load.rooms * load.members
        return stride(from: loop, to: load.connections, by: max(1, loops)).map { index in
            guard index < members else { return ClientPlan(index: index) }
            // Room after room gets its first member, then its second …: the ramp fills all rooms alike.
            let (member, room) = index.quotientAndRemainder(dividingBy: load.rooms)
            return ClientPlan(
                index: index, room: room,
                sender: member < load.senders && load.rate > 0 ? room * load.senders + member : nil,
                committer: member < load.committersPerRoom ? room * load.committersPerRoom + member : nil,
                isFirst: member == 0,
                isSlow: member >= load.members - load.slowPerRoom)
        }
    }
}
