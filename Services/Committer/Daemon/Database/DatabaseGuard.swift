package import Postgres

/// Judges whether a server may be trusted with acknowledged commits, each time that a connection comes up.
package struct DatabaseGuard {
    /// An operator said that lost commits are fine, for a test or a demonstration.
    package let allowsUnsafe: Bool
    private var lineage = ServerLineage()

    /// A guard that has seen no server yet.
    package init(allowsUnsafe: Bool) {
        self.allowsUnsafe = allowsUnsafe
    }

    /// What is wrong with the server; nil when it will do.
    package mutating func objection(to facts: ServerFacts) -> String? {
        if facts.isReadOnly || facts.isInRecovery { return "the server takes no writes" }
        if let objection = self.lineage.objection(to: facts) { return objection }
        let problems = facts.durabilityProblems
        if !problems.isEmpty, !self.allowsUnsafe { return problems.joined(separator: ", ") }
        return nil
    }
}
