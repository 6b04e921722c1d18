/// How a gateway that stops takes leave of its apps: each in its turn, all turns spread over a while, so that they do
/// not come back somewhere else in one wave.
///
///     connected ──turn──► leaving: takes no more commits ──nothing owed, or the limit──► closed
package struct Farewell: Sendable {
    /// What to do now.
    package struct Step: Equatable, Sendable {
        /// Apps whose turn has come: no more commits are taken from them.
        package var leaving: [Slot] = []
        /// Apps to close.
        package var closing: [Slot] = []
    }

    private var turns: [(at: UInt64, slot: Slot)]
    private var owed: [Slot] = []
    private let limit: UInt64

    /// How long apps are waited for after the last turn, ms.
    static let patienceMs: UInt64 = 4000
    /// Turns of few apps lie no further apart than this, ms.
    static let pauseMs = 5

    /// Draws everybody's turn.
    /// - Parameters:
    ///   - spread: over how long, ms; less for a few.
    ///   - random: gives a number in the range it is given.
    package init(_ slots: [Slot], spread: UInt64, at now: UInt64, random: (Range<UInt64>) -> UInt64) {
        let spread = min(spread, UInt64(slots.count * Self.pauseMs))
        self.turns = slots.map { (now + (spread == 0 ? 0 : random(0..<spread)), $0) }.sorted { $0.at > $1.at }
        self.limit = now + spread + Self.patienceMs
    }

    /// By when everybody is gone, ms.
    package var end: UInt64 { self.limit }

    /// True when nobody is left.
    package var isOver: Bool { self.turns.isEmpty && self.owed.isEmpty }

    /// Whose turn it is at a time, ms.
    /// - Parameter owes: true for an app that still has commits without a result.
    package mutating func step(at now: UInt64, owes: (Slot) -> Bool) -> Step {
        var step = Step()
        while let turn = self.turns.last, turn.at <= now {
            self.turns.removeLast()
            step.leaving.append(turn.slot)
        }
        let isLate = now >= self.limit
        for slot in self.owed + step.leaving {
            if isLate || !owes(slot) { step.closing.append(slot) }
        }
        let closed = Set(step.closing)
        self.owed = (self.owed + step.leaving).filter { !closed.contains($0) }
        return step
    }
}
