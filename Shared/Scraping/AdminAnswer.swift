/// An answer of an admin server.
package struct AdminAnswer: Sendable {
    /// HTTP status code.
    package let status: Int
    package let body: [UInt8]
}

/// Why there is no answer.
package enum AdminFailure: Error, Equatable, Sendable {
    /// No connection; the reason is for people.
    case unreachable(String)
    /// No whole answer in time, or the connection ended before.
    case silent
    /// The answer is longer than the limit, in bytes.
    case tooLong(Int)
    /// It is not HTTP.
    case malformed
}
