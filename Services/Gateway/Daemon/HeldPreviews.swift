import GatewayCore
import Wire

/// The latest previews and awareness that one app has not got yet: it does not read fast enough, or they were too many at
/// once.
struct HeldPreviews {
    /// Nil while none wait, as for nearly every app.
    private var previews: LatestPreviews?
    private var awareness: LatestAwareness?

    /// Elements and movers whose previews may wait, and parts of awareness; further ones are dropped.
    private static let capacity = 4096

    var isEmpty: Bool { self.previews == nil && self.awareness == nil }

    /// About the bytes of all that wait. What is selected is not counted: all apps that wait for it share it, and it
    /// counts for those who have selected it.
    var bytes: Int {
        let previews = self.previews.map { $0.occupiedBytes + $0.count * Self.nameBytes } ?? 0
        return previews + (self.awareness.map { $0.occupiedBytes + $0.count * Self.nameBytes } ?? 0)
    }
    /// About the bytes of the names in a preview.
    private static let nameBytes = 256

    /// Adds what texts show but those of `mover`, folded into what waits.
    mutating func add(_ texts: [PreviewText], butOf mover: Slot?) {
        for text in texts where mover == nil || text.sender != mover {
            switch text.content {
            case .previews(let previews): self.add(RoomShow(previews: previews))
            case .awareness(let awareness): self.add(RoomShow(awareness: [awareness]))
            }
        }
    }

    mutating func add(_ shown: RoomShow) {
        if !shown.previews.isEmpty {
            if self.previews == nil { self.previews = LatestPreviews(capacity: Self.capacity) }
            for preview in shown.previews { self.previews?.insert(preview) }
        }
        if !shown.awareness.isEmpty {
            if self.awareness == nil { self.awareness = LatestAwareness(capacity: Self.capacity) }
            for awareness in shown.awareness { self.awareness?.insert(awareness) }
        }
    }

    /// Removes the previews that must not be shown any more.
    mutating func remove(_ ended: [EndedPreviews]) {
        self.previews?.remove(ended)
        self.freeIfEmpty()
    }

    /// Removes what waits of a room.
    mutating func drop(_ room: Identifier) {
        self.previews?.removeAll { $0.room == room }
        self.awareness?.removeAll(of: room)
        self.freeIfEmpty()
    }

    /// Gives the space back that thousands may have needed.
    private mutating func freeIfEmpty() {
        if self.previews?.isEmpty == true { self.previews = nil }
        if self.awareness?.isEmpty == true { self.awareness = nil }
    }

    /// Removes and returns all, in order of arrival.
    mutating func takeAll() -> RoomShow {
        var (previews, awareness) = (self.previews.take(), self.awareness.take())
        return RoomShow(previews: previews?.takeAll()[...] ?? [], awareness: awareness?.takeAll()[...] ?? [])
    }
}
