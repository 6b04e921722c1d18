package import Timing
package import Wire

/// A room in memory, as operators see it in a list.
package struct RoomFigures: Equatable, Sendable {
    /// Its id.
    package var room: Identifier
    /// How many users are in it.
    package var members = 0
    /// How many connections these have.
    package var connections = 0
    /// Its last update.
    package var seq: UInt64 = 0
    /// How many elements it has.
    package var elements = 0
    /// Roughly the bytes that it occupies here.
    package var bytes = 0
    /// Over the last seconds.
    package var updatesPerSecond = 0.0
    /// Previews that came, folded ones once; over the last seconds.
    package var previewsPerSecond = 0.0

    /// A room without members and elements.
    package init(room: Identifier) {
        self.room = room
    }
}

/// One room in memory, as operators see it.
package struct RoomReport: Equatable, Sendable {
    /// What a list shows of it.
    package var figures: RoomFigures
    /// The users in it, in the order in which they came; at most ``listedPeople``.
    package var people: [Person]
    /// Its last updates that are in memory, the oldest first; at most ``listedUpdates``.
    package var updates: [Entry]

    /// The most users of a report.
    package static let listedPeople = 200
    /// The most updates of a report.
    package static let listedUpdates = 50

    /// A user in the room.
    package struct Person: Equatable, Sendable {
        package var user: Identifier
        /// The name that others see.
        package var name: String
        /// How many connections the user has here.
        package var connections: Int
    }

    /// An update.
    package struct Entry: Equatable, Sendable {
        /// Its number in the room.
        package var seq: UInt64
        /// Its kind.
        package var event: UpdateEvent
        /// The user that committed it.
        package var user: Identifier
        /// How many elements it changed.
        package var elements: Int
        /// When it arrived here.
        package var arrivedAt: Instant
    }
}
