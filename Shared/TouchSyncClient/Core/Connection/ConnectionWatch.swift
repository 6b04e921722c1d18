/// Whether the other end of a connection lives: when something last arrived, and by when something must.
struct ConnectionWatch: Sendable {
    /// An attempt to connect fails after this long, ms.
    private static let connectTimeout: Int64 = 10000
    /// Without any message behind an unanswered request for this long, the connection is asked whether it lives, ms.
    static let quiet: Int64 = 2500
    /// When the surroundings changed, the answer to that question may take this long, ms.
    static let probeTimeout: Int64 = 5000

    private var patience: Int64 = 45000
    private var heardAt: Int64 = 0
    /// When the connection, or the attempt, counts as dead unless something arrives.
    private var deadAt: Int64?
    /// The same after the question whether it lives.
    private var probeDeadAt: Int64?

    /// The next moment at which it may be dead, ms.
    var deadline: Int64? { earliest(self.deadAt, self.probeDeadAt) }

    /// When to ask whether it lives, ms: something is unanswered, and nothing at all arrives.
    func probeTime(oldestRequest: Int64?) -> Int64? {
        guard let oldestRequest, self.probeDeadAt == nil else { return nil }
        return max(oldestRequest, self.heardAt).plus(Self.quiet)
    }

    func isDead(at now: Int64) -> Bool { self.deadline.map { now >= $0 } ?? false }

    mutating func attemptBegan(at now: Int64) {
        self.deadAt = now.plus(Self.connectTimeout)
    }

    mutating func opened(at now: Int64) {
        self.heardAt = now
    }

    /// Something arrived. Until the connection is accepted the attempt's time goes on.
    mutating func heard(at now: Int64, isAccepted: Bool) {
        self.heardAt = now
        self.probeDeadAt = nil
        if isAccepted { self.deadAt = now.plus(self.patience) }
    }

    /// The server says how often it pings, and how long an answer may take, ms.
    mutating func greeted(pingInterval: Int64?, pingTimeout: Int64?) {
        guard let pingInterval, pingInterval > 0, let pingTimeout else { return }
        self.patience = pingInterval.plus(pingTimeout)
    }

    /// The question whether it lives is asked; false when it is open already.
    mutating func probeBegan(at now: Int64, patience: Int64) -> Bool {
        guard self.probeDeadAt == nil else { return false }
        self.probeDeadAt = now.plus(patience)
        return true
    }

    mutating func stop() {
        self.deadAt = nil
        self.probeDeadAt = nil
    }
}
