package import Postgres
internal import Wire

/// Decides whether a server may be trusted with acknowledged commits, each time that a connection comes up.
package struct DatabaseGuard {
    /// The operator accepts lost commits, for a test or a demonstration.
    package let allowsUnsafe: Bool
    private var lineage = ServerLineage()
    private var history: History?

    private struct History: Equatable {
        var epoch: Identifier
        var timeline: UInt32
    }

    package init(allowsUnsafe: Bool) {
        self.allowsUnsafe = allowsUnsafe
    }

    package mutating func objection(to facts: ServerFacts) -> String? {
        if facts.isReadOnly || facts.isInRecovery { return "the server takes no writes" }
        if let objection = self.lineage.objection(to: facts) { return objection }
        let problems = facts.durabilityProblems
        if !problems.isEmpty, !self.allowsUnsafe { return problems.joined(separator: ", ") }
        return nil
    }

    /// True when another server took over from this one after it was accepted.
    package func isFormer(_ facts: ServerFacts) -> Bool { self.lineage.isFormer(facts) }

    /// Records the history note of an accepted server.
    /// - Returns: true when it is on another history than the last one. The first answer that says so may be lost with
    ///   its connection; the next one finds nothing new in the database, but another timeline than the one known here.
    package mutating func isNew(_ note: HistoryNote) -> Bool {
        let history = History(epoch: note.epoch, timeline: self.lineage.timeline)
        let former = exchange(&self.history, with: history)
        return ![.same, .first].contains(note.verdict) || former.map { $0 != history } ?? false
    }
}
