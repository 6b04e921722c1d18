/// What became of a send. Sends never block.
package enum SendResult: Equatable, Sendable {
    /// libzmq has it queued. That is all: it may still be lost with the connection.
    case sent
    /// The peer's high-water mark is reached. Not taken: keep it and try again when the link says `writable`, or shed it.
    case wouldBlock
    /// There is no such peer, or the link is not up. Not taken.
    case unroutable
}
