package import CommitterCore
package import Postgres

extension SQLState {
    /// Raised by `commit_batch`: a session of the batch was resumed since the batch was decided.
    static let sessionClaimed = SQLState("TS001")
}

/// What a failed request means for its batch.
package enum BatchFailure: Equatable {
    /// It was decided from a state that is no longer.
    case stale
    /// Anything else.
    case other(RequestFailure)

    /// By what is known of the effect, then by the class of the code.
    package init(_ error: PostgresError) {
        if error.outcome == .unknown {
            self = .other(.lost)
        } else if error.sqlState == .sessionClaimed {
            self = .stale
        } else if !error.isRetriable, error.sqlState.hasPrefix("22") || error.sqlState.hasPrefix("23") {
            self = .other(.data)
        } else {
            self = .other(.transient)
        }
    }
}
