package import Wire

/// A large room on its way to one app: the answer to its join, and the parts that follow it.
package struct Snapshot: Equatable, Sendable {
    /// The room.
    package let room: Identifier
    /// The acknowledgement that the app asked for.
    package let ackID: UInt64
    /// The JSON array of the acknowledgement's only argument.
    package let arguments: [UInt8]
    /// Events that follow it, in order: `room:elements`. Empty when the answer has all elements itself.
    package let parts: SnapshotParts
}

/// The large snapshots that apps have not read yet. They share one budget, so that any number of slow readers of large
/// rooms costs no more than that, and each user has a part of it.
///
///     begun ──read, left, gone──► ended
package struct Snapshots {
    private struct Key: Hashable {
        let slot: Slot
        let room: Identifier
    }

    private struct Open {
        let bytes: Int
        let user: Identifier
    }

    private let bound: Int
    private let userBound: Int
    private var open: [Key: Open] = [:]
    private var bytesByUser: [Identifier: Int] = [:]
    /// Bytes of all of them.
    package private(set) var bytes = 0
    /// Joins refused as there was no room for their snapshots.
    private(set) var busyTotal: UInt64 = 0

    /// - Parameters:
    ///   - bound: bytes of all of them; one may always be under way.
    ///   - userBound: bytes of those of one user; likewise.
    init(bound: Int, userBound: Int) {
        self.bound = bound
        self.userBound = userBound
    }

    /// A snapshot is about to be sent.
    mutating func begin(
        _ bytes: Int, of room: Identifier, for slot: Slot, of user: Identifier
    ) throws(Refusal) {
        // It replaces what is left of an earlier one.
        let former = self.open[Key(slot: slot, room: room)]?.bytes ?? 0
        let others = self.bytes - former
        guard others == 0 || others + bytes <= self.bound else {
            self.busyTotal += 1
            throw Refusal(.busy, "Too many apps are reading large rooms.", retryAfterMs: 1000)
        }
        let bytesOfUser = (self.bytesByUser[user] ?? 0) - former
        guard bytesOfUser == 0 || bytesOfUser + bytes <= self.userBound else {
            self.busyTotal += 1
            throw Refusal(.busy, "The user's apps are reading too many large rooms.", retryAfterMs: 1000)
        }
        self.end(of: room, for: slot)
        self.open[Key(slot: slot, room: room)] = Open(bytes: bytes, user: user)
        self.bytesByUser[user, default: 0] += bytes
        self.bytes += bytes
    }

    /// A snapshot was read, or is wanted no more.
    /// - Returns: false when there was none.
    @discardableResult
    mutating func end(of room: Identifier, for slot: Slot) -> Bool {
        guard let ended = self.open.removeValue(forKey: Key(slot: slot, room: room)) else { return false }
        self.bytes -= ended.bytes
        self.bytesByUser[ended.user, default: 0] -= ended.bytes
        if self.bytesByUser[ended.user] == 0 { self.bytesByUser[ended.user] = nil }
        return true
    }
}
