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
