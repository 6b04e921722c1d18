import Canvas
import TouchSyncClientCore

/// What rooms show. Whatever the app wanted before is in it.
extension SyncClient {
    func shown(in room: String) async -> ShownRoom {
        await self.caughtUp()
        self.core.keepOrder(in: room)
        return ShownRoom(
            state: self.core.state, seq: self.core.seq(of: room), pending: self.core.pendingEdits(in: room),
            elements: self.core.elements(in: room), members: self.core.members(in: room),
            me: self.core.ownMembership(in: room))
    }

    func elements(in room: String) async -> [Element] {
        await self.caughtUp()
        self.core.keepOrder(in: room)
        return self.core.elements(in: room)
    }

    func element(_ id: String, in room: String) async -> Element? {
        await self.caughtUp()
        return self.core.element(id, in: room)
    }

    /// Some elements in the order of these ids, or all of them, the lowest first, where they are to be drawn; nil when
    /// the room was left.
    func drawing(of ids: [String]?, in room: String, at instant: ContinuousClock.Instant?) async -> RoomDrawing? {
        await self.caughtUp()
        guard self.core.isIn(room) else { return nil }
        let time = instant.map { self.clock.milliseconds(at: $0) } ?? self.clock.now
        return self.core.drawing(of: ids, in: room, at: time)
    }

    func pose(of id: String, in room: String, at instant: ContinuousClock.Instant?) async -> Pose? {
        await self.caughtUp()
        let time = instant.map { self.clock.milliseconds(at: $0) } ?? self.clock.now
        return self.core.pose(of: id, in: room, at: time)
    }

    /// Who is there; nil when the room was left.
    func members(in room: String) async -> [RoomMember]? {
        await self.caughtUp()
        return self.core.isIn(room) ? self.core.members(in: room) : nil
    }

    /// Who this user is there; nil before the first join.
    func ownMembership(in room: String) async -> OwnMembership? {
        await self.caughtUp()
        return self.core.ownMembership(in: room)
    }

    func seq(of room: String) async -> Int64 {
        await self.caughtUp()
        return self.core.seq(of: room)
    }

    func pendingEdits(in room: String) async -> Int {
        await self.caughtUp()
        return self.core.pendingEdits(in: room)
    }
}
