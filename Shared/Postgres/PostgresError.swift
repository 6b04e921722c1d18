/// The error of a request, a connection or a connection attempt, with what is known about the request's effect.
package struct PostgresError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What is known about the effect of the request.
    package enum Outcome: Equatable, Sendable {
        /// It was never sent: certainly without effect.
        case notExecuted
        /// The server answered ERROR: its transaction was rolled back.
        case failed
        /// It was sent, and nothing proves whether it was committed. Retry it in a way that finds out.
        case unknown
    }

    /// The server's code; class 08 or 57014 for errors found on this side.
    package var sqlState: SQLState
    /// One line for a log; may quote values of the statement, so it is never sent to an app.
    package var message: String
    /// The server's DETAIL, if any.
    package var detail: String?
    package var outcome: Outcome
    /// The session has a cached plan that no longer fits its table: only a new session helps.
    var needsFreshSession = false

    package init(
        _ sqlState: SQLState, _ message: String, detail: String? = nil, outcome: Outcome = .failed
    ) {
        self.sqlState = sqlState
        self.message = message
        self.detail = detail
        self.outcome = outcome
    }

    /// The same request may succeed later. With outcome ``Outcome/unknown`` a retry is correct only when the statement
    /// detects its own earlier effect.
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
