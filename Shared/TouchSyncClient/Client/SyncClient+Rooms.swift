import Canvas
import TouchSyncClientCore

/// What rooms show. Whatever the app wanted before is in it.
extension SyncClient {
    func elements(in room: String) async -> [Element] {
        await self.caughtUp()
        return self.core.elements(in: room)
    }

    func element(_ id: String, in room: String) async -> Element? {
        await self.caughtUp()
        return self.core.element(id, in: room)
    }

    /// Some elements, or all of them, where they are to be drawn.
    func drawn(_ ids: [String]?, in room: String, at instant: ContinuousClock.Instant?) async -> RoomDrawing {
        await self.caughtUp()
        let time = instant.map { self.clock.milliseconds(at: $0) } ?? self.clock.now
        var elements: [Element] = []
        var isMoving = false
        for id in ids ?? self.core.elements(in: room).map(\.id) {
            guard let element = self.core.drawn(id, in: room, at: time) else { continue }
            elements.append(element)
            isMoving = isMoving || self.core.isMoving(id, in: room)
        }
        return RoomDrawing(elements: elements, isMoving: isMoving)
    }

    func members(in room: String) async -> [RoomMember] {
        await self.caughtUp()
        return self.core.members(in: room)
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
