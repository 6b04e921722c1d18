/// What a connection has to say to its owner, in the order in which it happened.
package enum ConnectionEvent<Rows> {
    /// Statements are prepared: requests may be submitted.
    case connected(ServerFacts)
    /// The request with this tag is committed; these are its rows.
    case rows(UInt64, Rows)
    /// The request with this tag is not known to be committed: see ``PostgresError/outcome``.
    case failed(UInt64, PostgresError)
    /// An attempt to connect, or to set up the session, failed. The next one comes by itself.
    case attemptFailed(PostgresError)
    /// The connection is gone. All its requests have come back before this.
    case disconnected(PostgresError)
}

extension ConnectionEvent: Equatable where Rows: Equatable {}
extension ConnectionEvent: Sendable where Rows: Sendable {}

/// What became of a request at the door.
package enum Submission: Equatable, Sendable {
    /// It will come back with its tag, exactly once.
    case accepted
    /// There is no connection now: keep it and wait for ``ConnectionEvent/connected(_:)``.
    case notReady
    /// A bound of the queue is reached: keep it until requests came back.
    case full
}
