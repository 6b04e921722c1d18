public import Wire

/// What one may do in a room; each right includes the ones before it.
public enum Right: UInt8, Sendable, Comparable {
    /// See the room.
    case view
    /// Show previews to others.
    case preview
    /// Change the room.
    case commit

    public static func < (lhs: Right, rhs: Right) -> Bool {
        lhs.rawValue < rhs.rawValue
    }
}

/// Who a connection speaks for and what it may do.
public struct Identity: Equatable, Sendable {
    /// As others see the user.
    public var member: Member
    /// Rights by room; nil: everything (open mode).
    public var rooms: [Identifier: Right]?
    /// The right in every room that `rooms` does not name; nil: none.
    public var everyRoom: Right?
    /// When the token ends, seconds since 1970; nil: never (open mode).
    public var expiresAt: UInt64?

    /// An identity.
    public init(
        member: Member, rooms: [Identifier: Right]? = nil, everyRoom: Right? = nil, expiresAt: UInt64? = nil
    ) {
        self.member = member
        self.rooms = rooms
        self.everyRoom = everyRoom
        self.expiresAt = expiresAt
    }

    /// True when the user has at least this right in the room.
    public func may(_ right: Right, in room: Identifier) -> Bool {
        guard let rooms = self.rooms else { return true }
        guard let granted = [rooms[room], self.everyRoom].compactMap({ $0 }).max() else { return false }
        return granted >= right
    }
}
