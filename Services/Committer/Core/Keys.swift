package import Wire

/// Identifies an element across all rooms.
package struct ElementKey: Hashable, Sendable {
    package var room: Identifier
    package var element: Identifier

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

    package init(_ room: Identifier, _ head: UInt64) {
        self.room = room
        self.head = head
    }
}

/// Identifies a numbered stream of commits.
package struct StreamKey: Hashable, Sendable {
    package var room: Identifier
    package var session: Identifier

    package init(_ room: Identifier, _ session: Identifier) {
        self.room = room
        self.session = session
    }
}

package struct CommitKey: Hashable, Sendable {
    package var stream: StreamKey
    package var number: UInt64

    package init(_ stream: StreamKey, _ number: UInt64) {
        self.stream = stream
        self.number = number
    }
}
