package import Wire

/// Identifies an element across all rooms.
package struct ElementKey: Hashable, Sendable {
    package var room: Identifier
    /// Its id in the room.
    package var element: Identifier

    /// The element of that id in that room.
    package init(_ room: Identifier, _ element: Identifier) {
        self.room = room
        self.element = element
    }
}

/// Identifies a user in a room.
package struct UserKey: Hashable, Sendable {
    package var room: Identifier
    package var user: Identifier

    package init(_ room: Identifier, _ user: Identifier) {
        self.room = room
        self.user = user
    }

    /// Names are slow to hash, and few users are in several rooms of one shard.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(self.user)
    }
}

/// Identifies an entry of a user's undo or redo stack.
package struct UndoEntryKey: Hashable, Sendable {
    package var room: Identifier
    /// The room's number of its newest change.
    package var head: UInt64

    /// The entry whose newest change has that number.
    package init(_ room: Identifier, _ head: UInt64) {
        self.room = room
        self.head = head
    }
}

/// Identifies a numbered stream of commits.
package struct StreamKey: Hashable, Sendable {
    package var room: Identifier
    /// Its name in the room.
    package var session: Identifier

    /// The stream of that name in that room.
    package init(_ room: Identifier, _ session: Identifier) {
        self.room = room
        self.session = session
    }
}

/// Identifies one numbered commit.
package struct CommitKey: Hashable, Sendable {
    package var stream: StreamKey
    /// Its number in the stream.
    package var number: UInt64

    /// The commit of that number in that stream.
    package init(_ stream: StreamKey, _ number: UInt64) {
        self.stream = stream
        self.number = number
    }
}
