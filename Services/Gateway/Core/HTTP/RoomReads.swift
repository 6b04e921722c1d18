import Timing
import Wire

/// Reads of rooms over HTTP that wait for the fan-out.
///
///     asked ──answered──► ended
///        └──deadline──► ended: the room cannot be read
package struct RoomReads {
    private let limits: Limits
    private var waiting: Set<UInt64> = []
    private var deadlines = DeadlineQueue<UInt64>()
    /// Reads refused as too many waited.
    private(set) var busyTotal: UInt64 = 0

    init(limits: Limits) {
        self.limits = limits
    }

    /// How many wait for an answer.
    package var count: Int { self.waiting.count }

    /// A read is sent to the fan-out, unless too many wait.
    mutating func start(_ request: UInt64, at now: Instant) throws(Refusal) {
        guard self.count < self.limits.readsWaiting else {
            self.busyTotal += 1
            throw Refusal(.busy, "Too many reads are waiting.", retryAfterMs: Limits.busyMs)
        }
        self.waiting.insert(request)
        self.deadlines.set(request, at: now + self.limits.deadline)
    }

    /// A read has its answer; false when nobody waits for it any more.
    mutating func end(_ request: UInt64) -> Bool {
        self.waiting.remove(request) != nil
    }

    /// Ends and returns the next read whose deadline has come.
    mutating func nextExpired(at now: Instant) -> UInt64? {
        while let request = self.deadlines.popDue(at: now) {
            if self.end(request) { return request }
        }
        return nil
    }
}
