package import Wire

/// Previews on their way to one coalescer or to one slow app: the latest of each (room, element, connection), in the
/// order in which they first came. What comes while the way is paused or full is folded in here, so it is bounded by
/// what moves, not by how often.
package struct PreviewOutbox: Sendable {
    private struct Key: Hashable {
        let room: Identifier
        let element: Identifier
        let connection: UInt64

        init(_ preview: Preview) {
            self.room = preview.room
            self.element = preview.element
            self.connection = preview.connection
        }
    }

    /// In the order in which they first came.
    private var previews: [Preview] = []
    /// Where each of them is.
    private var places: [Key: Int] = [:]
    /// Entries beyond which a preview of something new is not taken.
    private let capacity: Int
    /// Previews that found no room.
    package private(set) var refused: UInt64 = 0

    /// An empty outbox.
    package init(capacity: Int = 65_536) {
        self.capacity = capacity
    }

    /// True when nothing waits.
    package var isEmpty: Bool { self.previews.isEmpty }

    /// Adds a preview, folding it onto an earlier one of the same element and connection.
    package mutating func add(_ preview: Preview) {
        let key = Key(preview)
        if let place = self.places[key] {
            self.previews[place] = Gateway.fold(self.previews[place], preview)
        } else if self.previews.count < self.capacity {
            self.places[key] = self.previews.count
            self.previews.append(preview)
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
        let count = self.previews.count
        self.previews.removeAll { $0.room == step.room && step.ends($0) }
        guard self.previews.count < count else { return }
        self.places.removeAll(keepingCapacity: true)
        for (place, preview) in self.previews.enumerated() { self.places[Key(preview)] = place }
    }

    /// Hands everything over to an envelope and is empty afterwards.
    package mutating func drain(into envelope: inout EnvelopeWriter) {
        for preview in self.previews { envelope.append(preview) }
        self.previews.removeAll(keepingCapacity: true)
        self.places.removeAll(keepingCapacity: true)
    }

    /// Gives everything away and is empty afterwards.
    package mutating func take() -> [Preview] {
        self.places.removeAll(keepingCapacity: true)
        return exchange(&self.previews, with: [])
    }
}
