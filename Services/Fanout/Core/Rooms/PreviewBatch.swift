internal import Timing
internal import Wire

/// The previews of one turn in the order in which they are judged: in that of their arrival, those of one room
/// together. Kept from batch to batch for its storage.
struct PreviewBatch: Sendable {
    /// The previews' indices with their rooms' slots, nil for rooms that are not in memory.
    private(set) var entries: [(slot: Int?, index: Int)] = []
    private var number: UInt64 = 0

    /// Brings a batch into order.
    mutating func arrange(_ previews: [Preview], at now: Instant, in rooms: inout RoomTable) {
        self.number &+= 1
        self.entries.removeAll(keepingCapacity: true)
        var isGrouped = true
        var slot: Int?
        for index in previews.indices {
            if index == 0 || previews[index].room != previews[index - 1].room {
                slot = rooms.slot(of: previews[index].room)
                if let slot, !rooms[slot].runBegins(in: self.number, at: now) { isGrouped = false }
            }
            self.entries.append((slot, index))
        }
        if !isGrouped { self.entries.sort { ($0.slot ?? -1, $0.index) < ($1.slot ?? -1, $1.index) } }
    }
}
