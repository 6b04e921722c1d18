/// What is to be sent once a save is done, in its order.
struct HeldTexts {
    /// How long a save is waited for, ms: less than an unanswered request until the connection counts as dead.
    static let patience = 3000.0

    private var texts: [String] = []
    private var lastHold = 0
    private var holds: Set<Int> = []

    /// Holds what is sent from now on.
    /// - Returns: what ``end(_:)`` is to be given.
    mutating func begin() -> Int {
        self.lastHold += 1
        self.holds.insert(self.lastHold)
        return self.lastHold
    }

    /// Adds a text if texts are held; false if it may be sent now.
    mutating func add(_ text: String) -> Bool {
        if self.holds.isEmpty { return false }
        self.texts.append(text)
        return true
    }

    /// A save is done, or was waited for long enough.
    /// - Returns: what may be sent now.
    mutating func end(_ hold: Int) -> [String] {
        guard self.holds.remove(hold) != nil, self.holds.isEmpty else { return [] }
        defer { self.texts = [] }
        return self.texts
    }

    /// The connection that they were for is gone.
    mutating func dropTexts() {
        self.texts = []
    }
}
