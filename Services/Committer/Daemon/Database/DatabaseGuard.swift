package import Postgres

/// Judges whether a server may be trusted with acknowledged commits, each time that a connection comes up.
package struct DatabaseGuard {
    /// An operator said that lost commits are fine, for a test or a demonstration.
    package let allowsUnsafe: Bool
    private var system: UInt64?
    private var timeline: UInt32 = 0

    /// A guard that has seen no server yet.
    package init(allowsUnsafe: Bool) {
        self.allowsUnsafe = allowsUnsafe
    }

    /// What is wrong with the server; nil when it will do.
    package mutating func objection(to facts: ServerFacts) -> String? {
        if facts.isReadOnly || facts.isInRecovery { return "the server takes no writes" }
        if let system = facts.systemIdentifier {
            if let known = self.system, known != system { return "the server is another one than before" }
            // A primary that was replaced and came back knows nothing of what was committed since.
            if let timeline = facts.timeline {
                if self.system != nil, timeline < self.timeline { return "the server was replaced by another one" }
                self.timeline = max(self.timeline, timeline)
            }
            self.system = system
        }
        let problems = facts.durabilityProblems
        if !problems.isEmpty, !self.allowsUnsafe { return problems.joined(separator: ", ") }
        return nil
    }
}
