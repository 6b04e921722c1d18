package import Wire

/// Previews on their way to one coalescer or to one slow app: the latest of each (room, element, connection), in the
/// order in which they first came. What comes while the way is paused or full is folded in here, so it is bounded by
/// what moves, not by how often.
package struct PreviewOutbox: Sendable {
    private struct Key: Hashable {
        let room: Identifier
        let element: Identifier
        let connection: UInt64
    }

    private var order: [Key] = []
    private var latest: [Key: Preview] = [:]
    /// Entries beyond which a preview of something new is not taken.
    private let capacity: Int
    /// Previews that found no room.
    package private(set) var refused: UInt64 = 0

    /// An empty outbox.
    package init(capacity: Int = 65_536) {
        self.capacity = capacity
    }

    /// True when nothing waits.
    package var isEmpty: Bool { self.order.isEmpty }

    /// Adds a preview, folding it onto an earlier one of the same element and connection.
    package mutating func add(_ preview: Preview) {
        let key = Key(room: preview.room, element: preview.element, connection: preview.connection)
        if let earlier = self.latest[key] {
            self.latest[key] = Gateway.fold(earlier, preview)
        } else if self.order.count < self.capacity {
            self.order.append(key)
            self.latest[key] = preview
        } else {
            self.refused += 1
        }
    }

    /// Previews that piled up: the latest of each element and connection, those of one room together, each room and each
    /// element in the order in which they first came.
    package static func folded(_ previews: [Preview]) -> [Preview] {
        var outbox = PreviewOutbox()
        for preview in previews { outbox.add(preview) }
        var places: [Identifier: Int] = [:]
        var rooms: [[Preview]] = []
        for preview in outbox.take() {
            let place = places[preview.room] ?? rooms.count
            if place == rooms.count {
                places[preview.room] = place
                rooms.append([])
            }
            rooms[place].append(preview)
        }
        return Array(rooms.joined())
    }

    /// Forgets what must not be shown after a step of the room's stream.
    package mutating func drop(endedBy step: StreamStep) {
        for key in self.order where key.room == step.room {
            if let preview = self.latest[key], step.ends(preview) { self.latest[key] = nil }
        }
        self.order.removeAll { self.latest[$0] == nil }
    }

    /// Hands everything over to an envelope and is empty afterwards.
    package mutating func drain(into envelope: inout EnvelopeWriter) {
        for preview in self.take() { envelope.append(preview) }
    }

    /// Gives everything away and is empty afterwards.
    package mutating func take() -> [Preview] {
        let previews = self.order.compactMap { self.latest[$0] }
        self.order.removeAll(keepingCapacity: true)
        self.latest.removeAll(keepingCapacity: true)
        return previews
    }
}
