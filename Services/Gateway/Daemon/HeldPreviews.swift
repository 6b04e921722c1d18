import GatewayCore
import Wire

/// The latest previews that one app has not got yet: it does not read fast enough, or they were too many at once.
struct HeldPreviews {
    /// Nil while none wait, as for nearly every app.
    private var latest: LatestPreviews?

    /// Elements and movers whose previews may wait; those of further ones are dropped.
    private static let capacity = 4096

    var isEmpty: Bool { self.latest?.isEmpty ?? true }

    /// About the bytes of all that wait. What is selected is not counted: all apps that wait for it share it, and it
    /// counts for those who have selected it.
    var bytes: Int { self.latest.map { $0.occupiedBytes + $0.count * Self.nameBytes } ?? 0 }
    /// About the bytes of the names in a preview.
    private static let nameBytes = 256

    /// Adds previews but those of `mover`, folded into those that wait.
    mutating func add(_ texts: [PreviewText], butOf mover: Slot?) {
        for text in texts where mover == nil || text.sender != mover { self.add(text.previews) }
    }

    mutating func add(_ previews: ArraySlice<Preview>) {
        guard !previews.isEmpty else { return }
        if self.latest == nil { self.latest = LatestPreviews(capacity: Self.capacity) }
        for preview in previews { self.latest?.insert(preview) }
    }

    /// Removes those that must not be shown any more.
    mutating func remove(_ ended: [EndedPreviews]) {
        self.latest?.remove(ended)
        self.freeIfEmpty()
    }

    /// Removes those of a room.
    mutating func drop(_ room: Identifier) {
        self.latest?.removeAll { $0.room == room }
        self.freeIfEmpty()
    }

    /// Gives the space back that thousands may have needed.
    private mutating func freeIfEmpty() {
        if self.latest?.isEmpty == true { self.latest = nil }
    }

    /// Removes and returns all, in order of arrival.
    mutating func takeAll() -> ArraySlice<Preview> {
        guard var latest = self.latest.take() else { return [] }
        return latest.takeAll()[...]
    }
}
