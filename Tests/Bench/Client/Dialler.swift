/// Schedules connections: over a ramp at first, and again after a connection was lost.
struct Dialler {
    /// Timeout of a greeting, which is then retried, nanoseconds.
    static let greetingTime: Int64 = 15_000_000_000
    /// The maximum number of concurrent greetings during the ramp.
    private static let greetingLimit = 256
    /// The interval of checks for due connections, nanoseconds.
    private static let tick: Int64 = 2_000_000

    private let target: Target
    private let addresses: [ResolvedAddress]
    private let rampTime: Int64
    /// Clients of the ramp that are not connected yet, the next one last; when the ramp started, and their number then.
    private var waiting: [Int] = []
    private var rampBegan: Int64 = 0
    private var rampCount = 0
    /// Clients that reconnect, each with its time.
    private var again: [(index: Int, time: Int64)] = []
    private var greetingCount = 0
    private var random = MaskGenerator(seed: .random(in: 0...UInt64.max))
    /// The next check; far in the future while no client waits.
    private(set) var nextDeadline = Int64.max

    /// - Parameter ramp: duration of the ramp, nanoseconds.
    /// - Throws: a ``BenchFailure`` when an address is unknown.
    init(_ target: Target, ramp: Int64) throws(BenchFailure) {
        self.target = target
        self.addresses = try target.addresses.map { address throws(BenchFailure) in try ResolvedAddress(address) }
        self.rampTime = ramp
    }

    func address(of client: Int) -> ResolvedAddress { self.addresses[client % self.addresses.count] }

    /// Connects clients one after the other.
    mutating func ramp(_ clients: [Int], at now: Int64) {
        self.waiting = clients.reversed()
        self.rampBegan = now
        self.rampCount = clients.count
        self.nextDeadline = now
    }

    /// Reconnects a client that lost its connection: immediately, or after a random delay between half a second and a
    /// second, so that clients that were cut off together do not reconnect together.
    mutating func again(_ client: Int, at now: Int64, atOnce: Bool) {
        let pause = atOnce ? 0 : 500_000_000 + Int64(self.random.next() % 500_000_000)
        self.again.append((client, now + pause))
        self.nextDeadline = min(self.nextDeadline, now + Self.tick)
    }

    /// A greeting ended, successfully or not.
    mutating func greeted() { self.greetingCount -= 1 }

    /// Removes and returns a client that is due to connect; nil when there is none until ``nextDeadline``.
    mutating func next(at now: Int64) -> Int? {
        guard now >= self.nextDeadline else { return nil }
        if let place = self.again.firstIndex(where: { $0.time <= now }) {
            self.greetingCount += 1
            return self.again.remove(at: place).index
        }
        if let next = self.waiting.last, self.greetingCount < Self.greetingLimit, self.isNextDue(at: now) {
            self.greetingCount += 1
            self.waiting.removeLast()
            return next
        }
        self.nextDeadline = self.again.isEmpty && self.waiting.isEmpty ? .max : now + Self.tick
        return nil
    }

    /// True when the next client of the ramp is due.
    private func isNextDue(at now: Int64) -> Bool {
        let done = Int64(self.rampCount - self.waiting.count)
        return now >= self.rampBegan + self.rampTime * done / Int64(max(1, self.rampCount))
    }

    /// True with a probability of `share`.
    mutating func draws(_ share: Double) -> Bool { self.random.next() % 1_000_000 < UInt64(share * 1_000_000) }
}
