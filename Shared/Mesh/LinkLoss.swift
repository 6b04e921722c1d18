/// Why a link went down.
package enum LinkLoss: Equatable, Sendable {
    /// The connection closed: the peer was killed, or the network said so.
    case disconnected
    /// Nothing was heard for too long: the peer stands still, or the network is cut.
    case silent
    /// The peer ended in order, or it had forgotten us.
    case goodbye
    /// One side speaks another version.
    case refused
    /// The same peer came with a newer connection (at the bound side only).
    case replaced
    /// Connected, but no hello came.
    case helloMissing
    /// Closed by ourselves.
    case closed
}
