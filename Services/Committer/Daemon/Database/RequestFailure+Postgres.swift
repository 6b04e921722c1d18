package import CommitterCore
package import Postgres

extension SQLState {
    /// Raised by `commit_batch`: a session of the batch was resumed after the batch was decided.
    static let sessionClaimed = SQLState("TS001")
}

/// The meaning of a failed request for its batch.
package enum BatchFailure: Equatable {
    /// It was decided on an outdated state.
    case stale
    case other(RequestFailure)

    /// Classifies an error, by what is known of its effect and then by the class of its code.
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
