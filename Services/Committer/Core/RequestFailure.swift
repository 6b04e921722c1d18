/// Why a request to the database came to nothing.
package enum RequestFailure: Equatable, Sendable {
    /// It was rolled back and may succeed another time: a deadlock, a lock or statement timeout, no disk space.
    case transient
    /// It was rolled back because of what it held: a value out of range, a violated constraint.
    case data
    /// The connection went, or the answer cannot be trusted: a write may have happened or not.
    case lost
}
