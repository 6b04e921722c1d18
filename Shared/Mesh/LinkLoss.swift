/// Why a link went down.
package enum LinkLoss: Equatable, Sendable {
    /// The connection closed: the peer was killed, or the network reported an error.
    case disconnected
    /// Nothing was heard for too long: the peer is frozen, or the network is cut.
    case silent
    /// The peer ended in order, or it does not know us any more.
    case goodbye
    /// The two sides have different versions.
    case refused
    /// The same peer reconnected (at the bound side only).
    case replaced
    /// Its key may not be used for its name, or not any more.
    case forbidden
    /// Connected, but no hello arrived in time.
    case helloMissing
    case closed
}
