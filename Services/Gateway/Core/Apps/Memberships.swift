import Wire

/// A connection's rooms, each with its membership. Nearly every connection is in one or a few, which are searched:
/// that costs less than the hash of a name, and a membership is changed where it stands.
struct Memberships {
    private var names: [Identifier] = []
    /// The memberships, as many as names and in the same order. Changed in place, by ``index(of:)``; added and removed
    /// by the methods below only.
    var entries: [Membership] = []
    /// The index of each room, once there are more than are searched.
    private var indices: [Identifier: Int] = [:]
    /// How many elements the memberships have tracks of, and about the bytes that are kept for all of them; as of their
    /// last ``recount(_:)``.
    private(set) var trackCount = 0, bytes = 0
    /// Where the room is looked for whose turn comes next.
    private var turn = 0

    /// Up to this many rooms are searched one by one; more have an index.
    private static let few = 16

    var count: Int { self.names.count }
    /// The part of ``bytes`` that counts towards the memory budget: without the tracks of as many elements as anybody moves
    /// in a long day, which stay while the app rests.
    var heldBytes: Int { self.bytes - Swift.min(self.trackCount, Membership.maxTracks) * ElementTrack.bytes }
    var rooms: [Identifier] { self.names }

    func contains(_ room: Identifier) -> Bool { self.index(of: room) != nil }

    subscript(room: Identifier) -> Membership? { self.index(of: room).map { self.entries[$0] } }

    /// Where a room's membership is among ``entries``, until one is added or removed; nil when there is none.
    func index(of room: Identifier) -> Int? {
        self.indices.isEmpty ? self.names.firstIndex(of: room) : self.indices[room]
    }

    /// Elements that a connection may move at the same time in all its rooms together, beyond a few in each.
    static let maxOpenTracks = 4096
    private static let fewTracks = 32

    /// True when the membership at an index may have a track of an element.
    func hasSpace(for element: Identifier, at index: Int) -> Bool {
        if self.entries.count == 1 || self.trackCount < Self.maxOpenTracks { return true }
        let tracks = self.entries[index].elements
        return tracks.count < Self.fewTracks || tracks[element] != nil
    }

    /// Bytes of what a connection may have selected in all its rooms together, as ``AwarenessValue/bytes`` counts them:
    /// about 2,000 UUIDs. One room's 500 elements are less, however long their ids.
    static let maxSelectionBytes = 128 << 10

    /// Refuses a selection in the room at an index with which those of all rooms would take too many bytes.
    func checkSelection(_ selection: [Identifier], at index: Int) throws(Refusal) {
        var bytes = AwarenessValue.selection(selection).bytes
        for other in self.entries.indices where other != index { bytes += self.entries[other].awarenessBytes }
        guard bytes > Self.maxSelectionBytes else { return }
        throw Refusal(
            .tooLarge, "What a connection has selected in all its rooms takes at most \(Self.maxSelectionBytes) bytes.",
            field: "elementIds")
    }

    /// Where the membership is whose turn it is, of those in which something waits for the rate limit; nil when there is
    /// none.
    mutating func nextWaiting() -> Int? {
        let count = self.entries.count
        for step in 0..<count {
            let index = (self.turn + step) % count
            if self.entries[index].waitsForRate() { return index }
        }
        return nil
    }

    mutating func endTurn(at index: Int) { self.turn = index + 1 }

    /// Counts the membership at an index again: something was kept there, or is kept no more.
    mutating func recount(_ index: Int) {
        let change = self.entries[index].recount()
        self.trackCount += change.tracks
        self.bytes += change.bytes
    }

    mutating func insert(_ membership: Membership, for room: Identifier) {
        self.names.append(room)
        self.entries.append(membership)
        self.recount(self.entries.count - 1)
        guard !self.indices.isEmpty || self.names.count > Self.few else { return }
        // Only the newest is new, unless nothing was noted yet.
        for index in self.indices.count..<self.names.count { self.indices[self.names[index]] = index }
    }

    /// Removes and returns the membership of a room, nil when there is none. The last one moves to its index.
    mutating func remove(_ room: Identifier) -> Membership? {
        guard let index = self.index(of: room) else { return nil }
        self.indices[room] = nil
        let last = self.names.count - 1
        self.names.swapAt(index, last)
        self.entries.swapAt(index, last)
        self.names.removeLast()
        if index < last, !self.indices.isEmpty { self.indices[self.names[index]] = index }
        let removed = self.entries.removeLast()
        self.trackCount -= removed.counted.tracks
        self.bytes -= removed.counted.bytes
        return removed
    }
}

extension Memberships: Sequence {
    /// Each room with its membership, in no order.
    func makeIterator() -> some IteratorProtocol<(room: Identifier, membership: Membership)> {
        zip(self.names, self.entries).lazy.map { (room: $0, membership: $1) }.makeIterator()
    }
}
