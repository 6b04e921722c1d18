/// Why a connection or its peer was refused.
package enum LinkRefusal: String, CaseIterable, Sendable {
    case unknownKey = "unknown_key"
    /// Its key is listed, but not for a role that connects here.
    case otherRole = "other_role"
    /// It does not speak CURVE, or meant the owner of another key.
    case mechanism
    /// It closed the connection during the handshake, or was too slow. A dialled peer does so when it has another key
    /// than the one that was expected.
    case unfinished
    /// The dialled peer does not admit our key.
    case rejected
    /// No key is listed for the peer to be dialled.
    case noKey = "no_key"
    /// It greeted with a name that its key may not use.
    case name
    /// It greeted with the name of a peer that is up and has another key.
    case taken
    case removed
    case version
}

/// How many times each reason was found since the start.
package struct LinkRefusals: Sendable, Equatable {
    private var counts: [LinkRefusal: Int] = [:]

    package init() {}

    package subscript(_ reason: LinkRefusal) -> Int { self.counts[reason] ?? 0 }

    mutating func count(_ reason: LinkRefusal) { self.counts[reason, default: 0] += 1 }
}
