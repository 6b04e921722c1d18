/// What one connection shall be.
package struct ClientPlan: Sendable, Equatable {
    /// Unique among all connections, from 0; members before idle ones.
    package var index: Int
    /// Its room, and its number among the members; nil for an idle connection.
    package var room: Int?
    package var member: Int?
    /// It has an element of its own, which it can move: it sends previews or commits at some time.
    package var isMover = false
    package var isSlow = false

    /// The first of its room makes the further elements.
    package var isFirst: Bool { self.member == 0 }

    /// All connections of a load.
    package static func plans(_ load: Load) -> [ClientPlan] {
        let members = load.rooms * load.members
        return (0..<load.connections).map { index in
            guard index < members else { return ClientPlan(index: index) }
            // Room after room gets its first member, then its second …: the ramp fills all rooms alike.
            let (member, room) = index.quotientAndRemainder(dividingBy: load.rooms)
            return ClientPlan(
                index: index, room: room, member: member,
                isMover: member < max(load.previewersPerRoom, load.committersPerRoom),
                isSlow: member >= load.members - load.slowPerRoom)
        }
    }

    /// Its number among the first `count` members of all rooms, those of one room in a row; nil when it is none of them.
    package func number(amongFirst count: Int) -> Int? {
        guard let room, let member, member < count else { return nil }
        return room * count + member
    }
}
