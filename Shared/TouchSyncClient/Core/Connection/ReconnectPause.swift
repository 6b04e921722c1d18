/// The pause before the next attempt to connect, which grows with each attempt that fails.
struct ReconnectPause: Sendable {
    /// A connection that lasted this long is soon tried again, ms.
    static let lasting: Int64 = 5000

    /// Attempts since a connection last lasted.
    private var attempts = 0

    /// Whether more than one attempt was made since then.
    var isGrowing: Bool { self.attempts > 1 }

    mutating func attemptBegan() {
        self.attempts += 1
    }

    /// The next attempt counts as the first one.
    mutating func reset() {
        self.attempts = 0
    }

    /// ms until the next attempt: the first within a second, at random, so that the apps of a gateway do not come back as
    /// one; later ones more slowly. `random` lies in [0, 1].
    func length(random: Double) -> Int64 {
        if self.attempts == 0 { return Int64((random * 1000).rounded(.up)) }
        // 500 · 2^5 is above the limit of 15 s.
        let longest = min(500 << Int64(min(self.attempts, 5)), 15000)
        return Int64((Double(longest) * (0.5 + random / 2)).rounded(.up))
    }
}

/// The pause before a refused request is sent again, which doubles with each refusal in a row.
struct RetryPause: Sendable {
    private static let longest: Int64 = 5000
    private var refusals = 0

    /// ms until the next try: what the server asks for, else 0.5 s, 1 s, 2 s … at most 5 s.
    mutating func next(asked: Int64? = nil) -> Int64 {
        self.refusals += 1
        return asked ?? min(250 << Int64(min(self.refusals, 5)), Self.longest)
    }

    /// Something was accepted.
    mutating func reset() {
        self.refusals = 0
    }
}
