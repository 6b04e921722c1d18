/// What a round of upkeep found that only an operator can mend.
package struct UpkeepFindings: Equatable, Sendable {
    /// The days among today and the next three for which the log has no partition.
    package var missingDays: Int
    /// The `user-sessions` that was in force instead of this committer's; nil when it was the same.
    package var otherUserSessions: String?

    /// Findings; by default none.
    package init(missingDays: Int = 0, otherUserSessions: String? = nil) {
        self.missingDays = missingDays
        self.otherUserSessions = otherUserSessions
    }

    /// Those that last. Days that the round before did not miss are perhaps being made by another committer. What the
    /// first round finds in force is perhaps the setting before the start; later ones find what another committer set.
    /// - Parameter last: what the round before found; nil in the first round.
    package func lasting(since last: UpkeepFindings?) -> UpkeepFindings {
        guard let last else { return UpkeepFindings() }
        return UpkeepFindings(
            missingDays: min(last.missingDays, self.missingDays), otherUserSessions: self.otherUserSessions)
    }
}
