package import Postgres
internal import Wire

/// Judges whether a server may be trusted with acknowledged commits, each time that a connection comes up.
package struct DatabaseGuard {
    /// An operator said that lost commits are fine, for a test or a demonstration.
    package let allowsUnsafe: Bool
    private var lineage = ServerLineage()
    /// The history that was noted last.
    private var history: History?

    private struct History: Equatable {
        var epoch: Identifier
        var timeline: UInt32
    }

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

    /// Takes what a server without objection noted.
    /// - Returns: true when it is on another history than the last one. The first answer that says so may be lost with its
    ///   connection; the next one finds nothing new in the database, but is on another timeline than what is known here.
    package mutating func isNew(_ note: HistoryNote) -> Bool {
        let history = History(epoch: note.epoch, timeline: self.lineage.timeline)
        let former = exchange(&self.history, with: history)
        return ![.same, .first].contains(note.verdict) || former.map { $0 != history } ?? false
    }
}
