package import Wire

/// The latest previews and awareness that wait at the gateway: for the interval of their room, or for an app that does not read
/// fast enough or was to get too many at once.
package struct HeldPreviews: Sendable {
    private var previews: LatestRecords<Preview>
    private var awareness: LatestRecords<Awareness>
    private let capacity: (previews: Int, awareness: Int)

    /// Nothing waits.
    /// - Parameters:
    ///   - previews: elements and publishers whose previews may wait; further ones are dropped.
    ///   - awareness: parts of awareness that may wait.
    package init(previews: Int = 4096, awareness: Int = 4096) {
        self.capacity = (previews, awareness)
        self.previews = LatestRecords(capacity: previews)
        self.awareness = LatestRecords(capacity: awareness)
    }

    package var isEmpty: Bool { self.previews.isEmpty && self.awareness.isEmpty }

    /// About the bytes of all that wait. What is selected is not counted: all apps that wait for it share it, and it
    /// counts for those who have selected it.
    package var bytes: Int {
        self.previews.occupiedBytes + self.awareness.occupiedBytes
            + (self.previews.count + self.awareness.count) * Self.nameBytes
    }
    /// About the bytes of the names in a preview.
    private static let nameBytes = 256

    /// Adds what texts show but those of `publisher`.
    package mutating func add(_ texts: [PreviewText], butOf publisher: Slot?) {
        for text in texts where publisher == nil || text.sender != publisher {
            switch text.content {
            case .previews(let previews): self.add(RoomShow(previews: previews))
            case .awareness(let awareness): self.awareness.insert(awareness)
            }
        }
    }

    package mutating func add(_ shown: RoomShow) {
        for preview in shown.previews { self.previews.insert(preview) }
        for awareness in shown.awareness { self.awareness.insert(awareness) }
    }

    /// Removes the previews that must not be shown any more.
    package mutating func remove(_ ended: [EndedPreviews]) {
        self.previews.remove(ended)
        self.freeIfEmpty()
    }

    /// Removes what waits of a room.
    package mutating func drop(_ room: Identifier) {
        self.previews.removeAll { $0.room == room }
        self.awareness.removeAll { $0.room == room }
        self.freeIfEmpty()
    }

    /// Gives the space back that thousands may have needed.
    private mutating func freeIfEmpty() {
        if self.isEmpty { self = HeldPreviews(previews: self.capacity.previews, awareness: self.capacity.awareness) }
    }

    /// Removes and returns all, in the order in which the latest came.
    package mutating func takeAll() -> RoomShow {
        defer { self.freeIfEmpty() }
        return RoomShow(previews: self.previews.takeAll()[...], awareness: self.awareness.takeAll()[...])
    }

    /// Removes and returns all, first what has waited longest: for an app that takes them in part.
    package mutating func takeLongestWaiting() -> RoomShow {
        defer { self.freeIfEmpty() }
        return RoomShow(
            previews: self.previews.takeLongestWaiting()[...], awareness: self.awareness.takeLongestWaiting()[...])
    }
}
