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
