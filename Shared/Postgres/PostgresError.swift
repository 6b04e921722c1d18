/// What went wrong with a request, a connection or an attempt to make one, and what is known about the request's effect.
package struct PostgresError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What is known about the effect of the request.
    package enum Outcome: Equatable, Sendable {
        /// It was never handed to the server: surely without effect.
        case notExecuted
        /// The server answered ERROR: its transaction was rolled back.
        case failed
        /// It was sent and nothing proves whether it was committed. Run it again in a way that finds out.
        case unknown
    }

    /// The server's code; class 08 or 57014 for errors found on this side.
    package var sqlState: SQLState
    /// One line for a log; may quote values of the statement, so it never goes to an app.
    package var message: String
    /// The server's DETAIL, when there is one.
    package var detail: String?
    /// The name of the violated constraint, when there is one.
    package var constraint: String?
    /// What is known about the effect.
    package var outcome: Outcome
    /// The session holds a plan that no longer fits its table: only a new session helps.
    var needsFreshSession = false

    /// Everything by name; most have a default.
    package init(
        _ sqlState: SQLState, _ message: String, detail: String? = nil, constraint: String? = nil,
        outcome: Outcome = .failed
    ) {
        self.sqlState = sqlState
        self.message = message
        self.detail = detail
        self.constraint = constraint
        self.outcome = outcome
    }

    /// The same request may succeed later. With outcome ``Outcome/unknown`` running it again is right only
    /// when the statement finds its own earlier effect.
    package var isRetriable: Bool { outcome == .unknown || sqlState.isRetriable }

    /// Code, message and outcome on one line.
    package var description: String {
        let code = sqlState == .unspecified ? "" : "\(sqlState): "
        return "\(code)\(message)\(detail.map { " (\($0))" } ?? "") [\(outcome)]"
    }

    func with(_ outcome: Outcome) -> PostgresError {
        var copy = self
        copy.outcome = outcome
        return copy
    }
}
