package import Timing

/// How late an event loop is, judged by its passes. A pass handles all that was there when it began; what comes meanwhile
/// is found in the next one, which begins at once, or after a sleep when nothing came.
///
///     ├──── pass ────┤├──── pass ────┤   sleep   ├── pass
///         ▲ comes ····▸ is found: late               ▲ comes and is found: in time
///
/// When it came is not known. On average it waited for half of the pass before; what is looked for within a pass, for half
/// of the time since it was looked for before.
package struct LoopPasses: Sendable {
    /// A loop that slept comes back after more than that.
    private static let gap = Nanoseconds.microseconds(100)

    private var began = Instant.start
    /// How long what this pass finds had waited on average when it began.
    private var wait = Nanoseconds.zero
    private var ended = Instant.start
    private var isOver = true
    private var lookedAt = Instant.start
    private var hadPreviews = false

    package init() {}

    /// Something is handled; what is handled first in a pass tells when it began.
    package mutating func handled(at now: Instant) {
        guard exchange(&self.isOver, with: false) else { return }
        let slept = now > self.ended + Self.gap
        self.wait = slept ? .zero : now.elapsed(since: self.began) / 2
        self.began = now
    }

    package mutating func passEnded(at now: Instant) {
        self.isOver = true
        self.ended = now
        self.hadPreviews = false
    }

    /// Previews have one turn in a pass: the loop goes on with timers that are due before it reads what apps sent.
    /// - Returns: false when they had it.
    package mutating func takePreviewTurn() -> Bool { !exchange(&self.hadPreviews, with: true) }

    /// It was looked for, not only when the loop said so.
    package mutating func looked(at now: Instant) { self.lookedAt = now }

    /// How long what is found now has waited on average.
    package func lateness(at now: Instant) -> Nanoseconds {
        min(self.wait + now.elapsed(since: self.began), now.elapsed(since: self.lookedAt) / 2)
    }
}
