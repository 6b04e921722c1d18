internal import Timing
internal import Wire

/// A read of a room that waits for the room to be loaded, or for an update.
struct PendingRead: Sendable {
    let read: RoomRead
    let gateway: GatewayID
    /// When it is refused if the room is still not loaded.
    let expiresAt: Instant
    /// Until when it waits for the update that its gateway has acknowledged already.
    let followsUntil: Instant
}

/// The reads that wait in one room, in the order in which they came.
struct PendingReads: Sendable {
    private var reads: [PendingRead] = []

    var count: Int { self.reads.count }
    var isEmpty: Bool { self.reads.isEmpty }

    mutating func enqueue(_ read: PendingRead) { self.reads.append(read) }

    /// Removes the reads that a room at `seq` can answer, and those that have waited long enough for their update.
    mutating func dequeueReady(at seq: UInt64, _ now: Instant) -> [PendingRead] {
        self.dequeue { $0.read.after <= seq || now >= $0.followsUntil }
    }

    mutating func dequeueExpired(at now: Instant) -> [PendingRead] {
        self.dequeue { $0.expiresAt <= now }
    }

    private mutating func dequeue(where isDue: (PendingRead) -> Bool) -> [PendingRead] {
        let due = self.reads.filter(isDue)
        if !due.isEmpty { self.reads.removeAll(where: isDue) }
        return due
    }
}
