import Timing
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

/// The large snapshots that apps have not read yet, or that fan-outs are asked for. They share one budget, so that any number
/// of slow readers of large rooms costs no more than that, and each user has a part of it.
///
///     expected ──answered──► begun ──read, left, gone──► ended
///
/// A room that was large when it came last is asked for when there is space for it: else it would cross the mesh in vain.
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
    /// By the request of their joins.
    private var expected: [UInt64: Open] = [:]
    private var expectedBytes = 0
    /// How large the large rooms were when they came last.
    private var sizes: [Identifier: Int] = [:]
    /// The bytes that a user is sent, whether its apps read them or want no answer.
    private var rates: RateBudget<Identifier>
    /// The most rooms whose size is kept.
    private static let mostSizes = 4096
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
        self.rates = RateBudget(perSecond: userBound * 4, burst: userBound * 8, at: .start)
    }

    /// A fan-out is about to be asked for a room.
    /// - Returns: false when there is no space for it yet, or its user was sent very much lately.
    mutating func expect(
        _ room: Identifier, for request: UInt64, by slot: Slot, of user: Identifier, at now: Instant
    ) -> Bool {
        guard let bytes = self.sizes[room] else { return true }
        let former = self.open[Key(slot: slot, room: room)]?.bytes ?? 0
        let ofUser = self.bytesByUser[user] ?? 0
        guard Self.fits(bytes, beside: self.bytes + self.expectedBytes - former, self.bound),
            Self.fits(bytes, beside: ofUser - former, self.userBound), self.rates.debt(of: user, at: now) == nil
        else { return false }
        self.rates.charge(bytes, of: user, at: now)
        self.expected[request] = Open(bytes: bytes, user: user)
        self.expectedBytes += bytes
        self.bytesByUser[user] = ofUser + bytes
        return true
    }

    /// A fan-out has answered a join, or nobody waits for that.
    mutating func expectNoMore(for request: UInt64) {
        guard let expected = self.expected.removeValue(forKey: request) else { return }
        self.expectedBytes -= expected.bytes
        self.release(expected)
    }

    /// A room came, whole.
    /// - Parameter bytes: of its elements; nil when they are few.
    mutating func noteSize(_ bytes: Int?, of room: Identifier) {
        if bytes != nil, self.sizes[room] == nil, self.sizes.count >= Self.mostSizes { return }
        self.sizes[room] = bytes
    }

    /// One may always be under way.
    private static func fits(_ bytes: Int, beside others: Int, _ bound: Int) -> Bool {
        others == 0 || others + bytes <= bound
    }

    /// A snapshot is about to be sent.
    mutating func begin(
        _ bytes: Int, of room: Identifier, for slot: Slot, of user: Identifier
    ) throws(Refusal) {
        // It replaces what is left of an earlier one.
        let former = self.open[Key(slot: slot, room: room)]?.bytes ?? 0
        guard Self.fits(bytes, beside: self.bytes + self.expectedBytes - former, self.bound) else {
            self.busyTotal += 1
            throw Refusal(.busy, "Too many apps are reading large rooms.", retryAfterMs: 1000)
        }
        guard Self.fits(bytes, beside: (self.bytesByUser[user] ?? 0) - former, self.userBound) else {
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
        self.release(ended)
        return true
    }

    private mutating func release(_ ended: Open) {
        self.bytesByUser[ended.user, default: 0] -= ended.bytes
        if self.bytesByUser[ended.user] == 0 { self.bytesByUser[ended.user] = nil }
    }
}
