package import Timing

/// The moment of a round of scraping, on both clocks: one measures spans, the other is shown to people.
package struct ScrapeRound: Sendable {
    package let now: Instant
    /// Milliseconds since 1970.
    package let unixMilliseconds: UInt64

    package init(now: Instant, unixMilliseconds: UInt64) {
        self.now = now
        self.unixMilliseconds = unixMilliseconds
    }
}
