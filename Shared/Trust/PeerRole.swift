/// What a peer is, and so what it may send.
package enum PeerRole: String, Sendable, CaseIterable {
    case gateway, coalescer, committer, fanout
}

/// A set of roles; one byte, because it is looked at for every record.
package struct PeerRoles: OptionSet, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package init(_ role: PeerRole) {
        self.rawValue =
            switch role {
            case .gateway: 1
            case .coalescer: 2
            case .committer: 4
            case .fanout: 8
            }
    }

    /// Every role: those of a peer whose link does not say who it is.
    package static let all = PeerRoles(PeerRole.allCases.map { PeerRoles($0) })

    /// `gateway or coalescer`.
    package var description: String {
        PeerRole.allCases.filter { self.contains(PeerRoles($0)) }.map(\.rawValue).joined(separator: " or ")
    }
}
