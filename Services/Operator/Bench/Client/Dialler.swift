/// Who connects when: over a ramp at first, and again after a connection was lost.
struct Dialler {
    /// A greeting that takes longer is given up and tried again, nanoseconds.
    static let greetingTime: Int64 = 15_000_000_000
    /// Connections that may be greeting at once while the ramp runs.
    private static let greetingLimit = 256
    /// Who is due is looked for so often, nanoseconds.
    private static let tick: Int64 = 2_000_000

    private let target: Target
    private let addresses: [ResolvedAddress]
    private let rampTime: Int64
    /// Clients of the ramp that are to connect, the next one last; when the ramp began, and how many they were then.
    private var waiting: [Int] = []
    private var rampBegan: Int64 = 0
    private var rampCount = 0
    /// Those that connect again, each at its time.
    private var again: [(index: Int, time: Int64)] = []
    private var greetingCount = 0
    private var random = MaskGenerator(seed: .random(in: 0...UInt64.max))
    /// When to look again; far away while nobody waits.
    private(set) var nextDeadline = Int64.max

    /// - Parameter ramp: nanoseconds over which connections are made.
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

    /// A client lost its connection and shall have another: at once, or between half a second and a second later, so
    /// that those who were cut off together do not come together.
    mutating func again(_ client: Int, at now: Int64, atOnce: Bool) {
        let pause = atOnce ? 0 : 500_000_000 + Int64(self.random.next() % 500_000_000)
        self.again.append((client, now + pause))
        self.nextDeadline = min(self.nextDeadline, now + Self.tick)
    }

    /// A greeting ended, well or not.
    mutating func greeted() { self.greetingCount -= 1 }

    /// Takes out a client that is to connect now; nil when there is none, until ``nextDeadline``.
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

    /// Whether the next one of the ramp is due.
    private func isNextDue(at now: Int64) -> Bool {
        let done = Int64(self.rampCount - self.waiting.count)
        return now >= self.rampBegan + self.rampTime * done / Int64(max(1, self.rampCount))
    }

    /// Draws with a probability of `share`.
    mutating func draws(_ share: Double) -> Bool { self.random.next() % 1_000_000 < UInt64(share * 1_000_000) }
}
