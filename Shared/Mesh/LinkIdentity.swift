package import Trust

/// The identity that a link sends to its peers.
package struct LinkIdentity: Sendable, Equatable {
    /// The daemon's instance, such as `committer-0`: 1 to 64 bytes of `A-Z a-z 0-9 . _ -`.
    package var name: String
    /// The versions of the frames' contents that this side speaks, at most 256. A link is refused when the two sides
    /// have none in common, and speaks the newest one that they have.
    package var versions: ClosedRange<UInt16>
    /// Opaque to this module, at most 4096 bytes; delivered to the other side with its `up` event.
    package var greeting: [UInt8]

    /// - Precondition: the name is valid and the greeting is short enough; both come from our own settings, checked at
    ///   boot.
    package init(name: String, versions: ClosedRange<UInt16>, greeting: [UInt8] = []) {
        precondition(Hello.isValidName(name.utf8), "a link's name is 1 to 64 bytes of A-Z a-z 0-9 . _ -")
        precondition(greeting.count <= Hello.maximumGreetingBytes, "a link's greeting is too long")
        precondition(versions.count <= 256, "a link speaks too many versions")
        self.name = name
        self.versions = versions
        self.greeting = greeting
    }
}

/// Who must answer on a dialled link: its key is looked up under this role and name.
package struct ExpectedPeer: Sendable, Equatable {
    package let role: PeerRole
    /// Its name; it greets with the same.
    package let name: String

    package init(_ role: PeerRole, _ name: String) {
        self.role = role
        self.name = name
    }
}
