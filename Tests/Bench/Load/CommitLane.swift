/// The commits of one connection in its room: their numbers, the unanswered ones, and when to resend.
///
/// Numbers run 1, 2, 3 … as the contract requires. After a refusal that does not use up its number, nothing is sent
/// until everything outstanding is answered; then the lane continues with the lowest unused number. Pure; times are
/// nanoseconds.
package struct CommitLane: Sendable {
    private struct Sent {
        var id: Int
        var number: UInt64
        var time: Int64
    }

    /// Acknowledgement ids of commits have seven digits from here on, so that a message keeps its length; lower ids are
    /// for other requests.
    package static let firstID = 1_000_000
    private static let lastID = 9_999_999

    /// The maximum number of unanswered commits.
    package let window: Int
    private var outstanding: [Sent] = []
    private var nextID = Self.firstID
    private var nextNumber: UInt64 = 1
    /// The lowest number that a refusal left unused.
    private var free: UInt64?
    /// Nothing is sent before this time.
    private var restUntil: Int64 = .min

    package init(window: Int) {
        self.window = max(1, window)
    }

    /// The number of unanswered commits.
    package var outstandingCount: Int { self.outstanding.count }

    /// Resets the lane: nothing is outstanding, `used` is the highest number that the session has used.
    package mutating func joined(used: UInt64) {
        self.outstanding.removeAll()
        self.nextNumber = used + 1
        self.free = nil
        self.restUntil = .min
    }

    /// Reserves the next commit; nil while the window is full or the lane pauses.
    package mutating func submit(at now: Int64) -> (id: Int, number: UInt64)? {
        guard self.free == nil, self.outstanding.count < self.window, now >= self.restUntil else { return nil }
        let sent = Sent(id: self.nextID, number: self.nextNumber, time: now)
        self.nextID = self.nextID == Self.lastID ? Self.firstID : self.nextID + 1
        self.nextNumber += 1
        self.outstanding.append(sent)
        return (sent.id, sent.number)
    }

    /// Handles an answer.
    /// - Parameter pause: how long the lane pauses after a refusal, nanoseconds.
    /// - Returns: the latency, nanoseconds; nil for an id that is not outstanding.
    package mutating func answered(_ id: Int, _ answer: Answer, at now: Int64, pause: Int64 = 100_000_000) -> Int64? {
        guard let index = self.outstanding.firstIndex(where: { $0.id == id }) else { return nil }
        let sent = self.outstanding.remove(at: index)
        if case .refused(let code) = answer {
            if code.leavesNumber { self.free = min(self.free ?? sent.number, sent.number) }
            self.restUntil = now + pause
        }
        if self.outstanding.isEmpty, let free {
            self.nextNumber = free
            self.free = nil
        }
        return now - sent.time
    }
}
