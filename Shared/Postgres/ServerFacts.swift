/// A server's properties, read when the connection was set up.
package struct ServerFacts: Equatable, Sendable {
    /// `fsync`: off means that a crash of the machine may destroy the database.
    package var fsync = true
    /// `full_page_writes`: off means that a crash of the machine may tear pages.
    package var fullPageWrites = true
    /// `transaction_read_only` of a fresh transaction.
    package var isReadOnly = false
    /// True for a standby.
    package var isInRecovery = false
    /// The value in this session: `on`, or `remote_apply` when that is the role's default.
    package var synchronousCommit = "on"
    /// Identifies the cluster permanently; nil when the role may not read it.
    package var systemIdentifier: UInt64?
    /// Counts promotions; one older than seen before is a former primary that came back. Nil on a standby.
    package var timeline: UInt32?
    /// The server process of this connection.
    package var backendProcess: Int32 = 0
    /// Host or socket directory, and port.
    package var host = ""

    package init() {}

    /// The settings under which an acknowledged commit may be lost; empty when there are none. Reject the server or
    /// warn.
    package var durabilityProblems: [String] {
        var problems: [String] = []
        if !fsync { problems.append("fsync is off") }
        if !fullPageWrites { problems.append("full_page_writes is off") }
        if synchronousCommit == "off" || synchronousCommit == "local" || synchronousCommit == "remote_write" {
            problems.append("synchronous_commit is \(synchronousCommit)")
        }
        return problems
    }
}

/// Detects a former primary, and an unrelated server, by what was seen before.
package struct ServerLineage: Equatable, Sendable {
    /// The cluster that was seen first; nil: none was identified.
    package private(set) var system: UInt64?
    /// The highest of its timelines seen so far.
    package private(set) var timeline: UInt32 = 0

    package init() {}

    /// Why the server does not continue the lineage; nil when it does, or cannot be identified.
    package mutating func objection(to facts: ServerFacts) -> String? {
        guard let system = facts.systemIdentifier else { return nil }
        if let known = self.system, known != system { return "the server is another one than before" }
        if let timeline = facts.timeline {
            // A primary that was replaced and came back lacks everything committed since.
            if timeline < self.timeline { return "the server was replaced by another one" }
            self.timeline = timeline
        }
        self.system = system
        return nil
    }

    /// True when another server took over from this one after it was accepted.
    package func isFormer(_ facts: ServerFacts) -> Bool {
        facts.timeline.map { $0 < self.timeline } ?? false
    }
}
