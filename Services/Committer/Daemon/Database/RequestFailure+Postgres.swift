internal import CommitterCore
internal import Postgres

extension SQLState {
    /// Raised by `commit_batch`: a session of the batch was resumed since the batch was decided.
    static let sessionClaimed = SQLState("TS001")
}

/// What a failed request means for its batch.
enum BatchFailure: Equatable {
    /// It was decided from a state that is no longer.
    case stale
    case other(RequestFailure)

    /// By what is known of the effect, then by the class of the code.
    init(_ error: PostgresError) {
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
