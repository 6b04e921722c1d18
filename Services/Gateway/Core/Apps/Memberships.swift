import Wire

/// A connection's rooms, each with its membership. Nearly every connection is in one or a few, which are searched:
/// that costs less than the hash of a name, and a membership is changed where it stands.
struct Memberships {
    private var names: [Identifier] = []
    /// As many; nil only while a caller adds or removes one.
    private var entries: [Membership?] = []
    /// The index of each room, once there are more than are searched.
    private var indices: [Identifier: Int] = [:]

    /// So many rooms are searched.
    private static let few = 16

    var count: Int { self.names.count }
    /// The rooms, in no order.
    var rooms: [Identifier] { self.names }
    /// The memberships, in no order.
    var values: some Sequence<Membership> { self.entries.lazy.compactMap { $0 } }

    /// True when there is one.
    func contains(_ room: Identifier) -> Bool { self.index(of: room) != nil }

    /// The membership of a room, nil when there is none. It is changed in place; what is set to nil is removed.
    subscript(room: Identifier) -> Membership? {
        get { self.index(of: room).flatMap { self.entries[$0] } }
        _modify {
            let index = self.index(of: room) ?? self.append(room)
            defer { if self.entries[index] == nil { self.remove(at: index) } }
            yield &self.entries[index]
        }
    }

    private func index(of room: Identifier) -> Int? {
        self.indices.isEmpty ? self.names.firstIndex(of: room) : self.indices[room]
    }

    /// Adds a room whose membership the caller sets.
    private mutating func append(_ room: Identifier) -> Int {
        self.names.append(room)
        self.entries.append(nil)
        if !self.indices.isEmpty || self.names.count > Self.few {
            // Only the newest is new, unless nothing was noted yet.
            for index in self.indices.count..<self.names.count { self.indices[self.names[index]] = index }
        }
        return self.names.count - 1
    }

    /// The last one moves to where the removed one was.
    private mutating func remove(at index: Int) {
        self.indices[self.names[index]] = nil
        let last = self.names.count - 1
        self.names.swapAt(index, last)
        self.entries.swapAt(index, last)
        self.names.removeLast()
        self.entries.removeLast()
        if index < last, !self.indices.isEmpty { self.indices[self.names[index]] = index }
    }
}

extension Memberships: Sequence {
    /// Each room with its membership, in no order.
    func makeIterator() -> some IteratorProtocol<(room: Identifier, membership: Membership)> {
        zip(self.names, self.entries).lazy.compactMap { room, membership in membership.map { (room, $0) } }
            .makeIterator()
    }
}
