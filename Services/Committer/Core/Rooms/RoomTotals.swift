package import Canvas
import JSONBytes

package struct RoomTotals: Equatable, Sendable {
    package var elements: Int
    /// Their size, see ``Canvas/Element/storedBytes``.
    package var bytes: Int

    /// The totals of a room; by default of an empty one.
    package init(elements: Int = 0, bytes: Int = 0) {
        self.elements = elements
        self.bytes = bytes
    }

    static func + (left: RoomTotals, right: RoomTotals) -> RoomTotals {
        RoomTotals(elements: left.elements + right.elements, bytes: left.bytes + right.bytes)
    }
}

extension Element {
    /// The allowance for the geometry, the authors of changes and the other fields of fixed size, bytes.
    private static let fixedBytes = 512

    /// The size that it adds to its room's, bytes: a fixed allowance and its texts. The geometry counts the same whatever
    /// its numbers, so that moving an element never makes it larger.
    package var storedBytes: Int {
        Self.fixedBytes + self.id.utf8.count + self.type.utf8.count + self.createdBy.utf8.count
            + (self.parentId?.utf8.count ?? 0) + self.storedAnimationBytes + self.storedExtraBytes
    }

    private var storedAnimationBytes: Int { self.animation?.jsonText.count ?? 0 }

    private var storedExtraBytes: Int {
        if self.extra.isEmpty { return 0 }
        var writer = JSONWriter(reserving: 256)
        writer.beginObject()
        self.extra.encodeMembers(into: &writer)
        writer.endObject()
        return writer.bytes.count
    }
}
