import Postgres

extension SQLState {
    /// A CHECK constraint of the tables was violated.
    static let checkViolation = SQLState("23514")
}
