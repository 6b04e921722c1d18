/// The result of a send. Sends never block.
package enum SendResult: Equatable, Sendable {
    /// Queued by libzmq; it may still be lost with the connection.
    case sent
    /// The peer's high-water mark is reached. Not accepted: keep it and retry when the link reports `writable`, or drop
    /// it.
    case wouldBlock
    /// There is no such peer, or the link is not up. Not accepted.
    case unroutable
}
