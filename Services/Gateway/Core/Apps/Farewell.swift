import JSONBytes
package import Timing

/// How a gateway that stops says goodbye to its apps: one by one, spread over a while, so that they do not come back
/// somewhere else in one wave.
///
///     connected ──turn──► leaving: no more commits accepted ──nothing owed, or the limit──► closed
package struct Farewell: Sendable {
    package struct Step: Equatable, Sendable {
        /// Apps whose turn has come: no more commits are accepted from them.
        package var leaving: [Slot] = []
        package var closing: [Slot] = []
    }

    private var turns: [(at: Instant, slot: Slot)]
    private var owed: [Slot] = []
    /// By when everybody is gone.
    package let end: Instant

    /// How long results are waited for after the last turn.
    static let patience = Nanoseconds.seconds(4)
    /// Turns of few apps lie no further apart than this.
    static let pause = Nanoseconds.milliseconds(5)

    /// Draws everybody's turn.
    /// - Parameters:
    ///   - spread: over how long; less for a few.
    ///   - random: returns a number of the range, which counts milliseconds.
    package init(_ slots: [Slot], spread: Nanoseconds, at now: Instant, random: (Range<UInt64>) -> UInt64) {
        let spread = min(spread, Self.pause * UInt64(slots.count))
        let milliseconds = spread.milliseconds
        self.turns =
            slots
            .map { (now + .milliseconds(milliseconds == 0 ? 0 : random(0..<milliseconds)), $0) }
            .sorted { $0.at > $1.at }
        self.end = now + spread + Self.patience
    }

    package var isOver: Bool { self.turns.isEmpty && self.owed.isEmpty }

    /// The event that tells apps: `server:draining`, with the time within which each is closed.
    package func announcement(at now: Instant) -> [UInt8] {
        EventText.event("server:draining", room: nil) { writer in
            writer.member("closesInMs", self.end.elapsed(since: now).milliseconds)
        }
    }

    /// Time has passed: whose turn it is, and who may be closed.
    /// - Parameter owes: true for an app that still has commits without a result.
    package mutating func timeReached(_ now: Instant, owes: (Slot) -> Bool) -> Step {
        var step = Step()
        while let turn = self.turns.last, turn.at <= now {
            self.turns.removeLast()
            step.leaving.append(turn.slot)
        }
        let isLate = now >= self.end
        for slot in self.owed + step.leaving {
            if isLate || !owes(slot) { step.closing.append(slot) }
        }
        let closed = Set(step.closing)
        self.owed = (self.owed + step.leaving).filter { !closed.contains($0) }
        return step
    }
}
