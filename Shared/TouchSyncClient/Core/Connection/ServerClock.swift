/// The server's clock, as the answer with the shortest way of a connection's last eight tells it. It is followed slowly,
/// unless it is off by more than a second.
struct ServerClock: Sendable {
    private struct Sample: Sendable {
        let trip: Double
        let offset: Double
    }

    /// The most answers of a connection that count.
    private static let most = 8
    /// So many answers of a connection are soon asked for.
    private static let first = 4
    /// By how much the clock may go faster or slower.
    private static let slew = 0.05
    /// From this difference on it jumps, ms.
    private static let jump = 1000.0

    private var samples: [Sample] = []
    /// From this clock to the server's, and what was taken for it at a time.
    private var offset = Double.nan
    private var taken = Double.nan
    private var takenAt = 0.0

    /// Whether enough answers of this connection are known.
    var isSettled: Bool { self.samples.count >= Self.first }

    /// Another connection has other ways.
    mutating func connectionLost() {
        self.samples.removeAll(keepingCapacity: true)
    }

    /// The answer to a request that was sent at a time, ms, tells the server's time, ms since 1970.
    mutating func answered(sentAt: Double, at now: Double, time: Double) {
        let present = self.offset(at: now)
        if self.samples.count == Self.most { self.samples.removeFirst() }
        self.samples.append(Sample(trip: now - sentAt, offset: time - (sentAt + now) / 2))
        self.offset = self.samples.min { $0.trip < $1.trip }?.offset ?? self.offset
        self.taken = (present - self.offset).magnitude <= Self.jump ? present : self.offset
        self.takenAt = now
    }

    /// The server's time at a time, ms since 1970; nil before it is known.
    func time(at now: Double) -> Double? {
        let time = now + self.offset(at: now)
        return time.isNaN ? nil : time
    }

    private func offset(at now: Double) -> Double {
        let left = self.taken - self.offset
        let rest = max(0, left.magnitude - Self.slew * max(0, now - self.takenAt))
        return self.offset + (left < 0 ? -rest : rest)
    }
}
