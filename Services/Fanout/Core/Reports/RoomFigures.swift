package import Timing
package import Wire

/// A room in memory, as operators see it in a list.
package struct RoomFigures: Equatable, Sendable {
    package var room: Identifier
    package var members = 0
    package var connections = 0
    package var seq: UInt64 = 0
    package var elements = 0
    /// Roughly the bytes that it occupies here.
    package var bytes = 0
    /// Over the last seconds.
    package var updatesPerSecond = 0.0
    /// Previews that came, folded ones once; over the last seconds.
    package var previewsPerSecond = 0.0
}

/// One room in memory, as operators see it.
package struct RoomReport: Equatable, Sendable {
    package var figures: RoomFigures
    /// The users in it, in the order in which they came; at most ``listedPeople``.
    package var people: [Person]
    /// Its last updates that are in memory, the oldest first; at most ``listedUpdates``.
    package var updates: [Entry]

    package static let listedPeople = 200
    package static let listedUpdates = 50

    package struct Person: Equatable, Sendable {
        package var user: Identifier
        package var name: String
        package var connections: Int
    }

    package struct Entry: Equatable, Sendable {
        package var seq: UInt64
        package var event: UpdateEvent
        package var user: Identifier
        package var elements: Int
        package var arrivedAt: Instant
    }
}
