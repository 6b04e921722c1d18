package import Timing

/// Limits how often a loop publishes its metrics: five times a second, more often than any scraper reads them.
///
/// A loop under load turns hundreds of times a second, and updating thirty instruments costs as much as forwarding a
/// preview or two. A change after the last update is published with the next turn, which a reactor's beat guarantees
/// within about a second.
package struct FigurePace: Sendable {
    private static let interval = Nanoseconds.milliseconds(200)
    private var dueAt = Instant.start

    /// The first update is due immediately.
    package init() {}

    /// True when metrics are to be published in this turn; starts the next interval.
    package mutating func isDue(at now: Instant) -> Bool {
        guard now >= self.dueAt else { return false }
        self.dueAt = now + Self.interval
        return true
    }
}
