internal import NIOConcurrencyHelpers
package import Trust

/// A daemon's own key pair and the peers that it knows, for all links of a reactor.
package final class LinkKeys: Sendable {
    package let own: KeyPair
    private let state: NIOLockedValueBox<(peers: PeerList, version: Int)>

    package init(own: KeyPair, peers: PeerList) {
        self.own = own
        self.state = NIOLockedValueBox((peers, 0))
    }

    /// Replaces the peers, from any thread. Links follow in their reactor's next turn; wake it.
    package func replace(_ peers: PeerList) {
        self.state.withLockedValue { $0 = (peers, $0.version + 1) }
    }

    package var peers: PeerList { self.current.peers }

    /// The peers, and a number that changes with them.
    var current: (peers: PeerList, version: Int) { self.state.withLockedValue { $0 } }
}
