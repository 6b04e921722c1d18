package import Timing

/// When a loop shows its figures to operators again: five times a second, which is more often than anybody looks.
///
/// A loop under load turns hundreds of times a second, and to bring thirty instruments up to date costs as much as to
/// pass on a preview or two. What changed after the last look shows with the next turn, which the beat of a reactor
/// brings within about a second.
package struct FigurePace: Sendable {
    /// Between two looks.
    private static let interval = Nanoseconds.milliseconds(200)
    private var dueAt = Instant.start

    /// The first look is due immediately.
    package init() {}

    /// True when figures are to be shown in this turn, and then not again for a while.
    package mutating func isDue(at now: Instant) -> Bool {
        guard now >= self.dueAt else { return false }
        self.dueAt = now + Self.interval
        return true
    }
}
