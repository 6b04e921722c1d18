/// Why a request to the database failed.
package enum RequestFailure: Equatable, Sendable {
    /// It was rolled back and may succeed on a retry: a deadlock, a lock or statement timeout, no disk space.
    case transient
    /// It was rolled back because of its data: a value out of range, a violated constraint.
    case data
    /// The connection was lost, or the answer cannot be trusted: a write may or may not have been committed.
    case lost
}
