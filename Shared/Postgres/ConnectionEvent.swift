/// An event of a connection, reported in order.
package enum ConnectionEvent<Rows> {
    /// Statements are prepared: requests may be submitted.
    case connected(ServerFacts)
    /// The request with this tag is committed, with these rows.
    case rows(UInt64, Rows)
    /// The request with this tag is not known to be committed: see ``PostgresError/outcome``.
    case failed(UInt64, PostgresError)
    /// An attempt to connect, or to set up the session, failed. The next one follows automatically.
    case attemptFailed(PostgresError)
    /// The connection is lost. All its requests were completed before this.
    case disconnected(PostgresError)
}

extension ConnectionEvent: Equatable where Rows: Equatable {}
extension ConnectionEvent: Sendable where Rows: Sendable {}

package enum Submission: Equatable, Sendable {
    /// It will be completed exactly once, under its tag.
    case accepted
    /// Not connected: keep it and wait for ``ConnectionEvent/connected(_:)``.
    case notReady
    /// A bound of the queue is reached: keep it until requests are completed.
    case full
}
