/// What a server said about itself when the connection was set up.
package struct ServerFacts: Equatable, Sendable {
    /// `fsync`: off means that a crash of the machine may destroy the database.
    package var fsync = true
    /// `full_page_writes`: off means that a crash of the machine may tear pages.
    package var fullPageWrites = true
    /// `transaction_read_only` of a fresh transaction.
    package var isReadOnly = false
    /// A standby.
    package var isInRecovery = false
    /// As it stands in this session: `on`, or `remote_apply` when the role's default asks for more.
    package var synchronousCommit = "on"
    /// For example 150018 for 15.18.
    package var serverVersion = 0
    /// Names the cluster for life; nil when the role may not read it.
    package var systemIdentifier: UInt64?
    /// Counts promotions; an older one than seen before is an old primary that came back. Nil on a standby.
    package var timeline: UInt32?
    /// The process that serves this connection.
    package var backendProcess: Int32 = 0
    /// Host or socket directory, and port.
    package var host = ""

    /// A server with every setting as it should be.
    package init() {}

    /// The settings under which an acknowledged commit may be lost; empty when all is well. Refuse or shout.
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
