import Wire

/// A connection's rooms, each with its membership. Nearly every connection is in one or a few, which are looked through:
/// that costs less than the hash of a name, and a membership is changed where it stands.
struct Memberships {
    private var names: [Identifier] = []
    /// As many; nil only while a caller who removes one has it in hand.
    private var entries: [Membership?] = []
    /// The place of each room, once there are more than are looked through.
    private var places: [Identifier: Int] = [:]

    /// Rooms that are looked through.
    private static let few = 16

    var count: Int { self.names.count }
    /// The rooms, in no order.
    var rooms: [Identifier] { self.names }
    /// The memberships, in no order.
    var values: some Sequence<Membership> { self.entries.lazy.compactMap { $0 } }

    /// True when there is one.
    func contains(_ room: Identifier) -> Bool { self.place(of: room) != nil }

    /// The membership of a room, nil when there is none. It is changed in place; what is set to nil is removed.
    subscript(room: Identifier) -> Membership? {
        get { self.place(of: room).flatMap { self.entries[$0] } }
        _modify {
            guard let place = self.place(of: room) else {
                var new: Membership?
                defer { if let new { self.append(new, room) } }
                yield &new
                return
            }
            defer { if self.entries[place] == nil { self.remove(at: place) } }
            yield &self.entries[place]
        }
    }

    private func place(of room: Identifier) -> Int? {
        self.places.isEmpty ? self.names.firstIndex(of: room) : self.places[room]
    }

    private mutating func append(_ membership: Membership, _ room: Identifier) {
        self.names.append(room)
        self.entries.append(membership)
        guard !self.places.isEmpty || self.names.count > Self.few else { return }
        // Only the newest is new, unless nothing was noted yet.
        for place in self.places.count..<self.names.count { self.places[self.names[place]] = place }
    }

    /// The last one takes the place of the one that goes.
    private mutating func remove(at place: Int) {
        self.places[self.names[place]] = nil
        let last = self.names.count - 1
        self.names.swapAt(place, last)
        self.entries.swapAt(place, last)
        self.names.removeLast()
        self.entries.removeLast()
        if place < last, !self.places.isEmpty { self.places[self.names[place]] = place }
    }
}

extension Memberships: Sequence {
    /// Each room with its membership, in no order.
    func makeIterator() -> some IteratorProtocol<(room: Identifier, membership: Membership)> {
        zip(self.names, self.entries).lazy.compactMap { room, membership in membership.map { (room, $0) } }
            .makeIterator()
    }
}
