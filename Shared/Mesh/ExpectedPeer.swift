package import Trust

/// Who must answer on a dialled link: its key is looked up under this role and name.
package struct ExpectedPeer: Sendable, Equatable {
    /// What the peer is.
    package let role: PeerRole
    /// Its name; it greets with the same.
    package let name: String

    package init(_ role: PeerRole, _ name: String) {
        self.role = role
        self.name = name
    }
}
