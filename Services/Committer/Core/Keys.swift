package import Wire

/// Identifies an element across all rooms.
package struct ElementKey: Hashable, Sendable {
    /// Its room.
    package var room: Identifier
    /// Its id in the room.
    package var element: Identifier

    /// The element of that id in that room.
    package init(_ room: Identifier, _ element: Identifier) {
        self.room = room
        self.element = element
    }
}

/// Identifies a numbered stream of commits.
package struct StreamKey: Hashable, Sendable {
    /// Its room.
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
    /// Its stream.
    package var stream: StreamKey
    /// Its number in the stream.
    package var number: UInt64

    /// The commit of that number in that stream.
    package init(_ stream: StreamKey, _ number: UInt64) {
        self.stream = stream
        self.number = number
    }
}
