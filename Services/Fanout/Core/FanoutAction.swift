package import Wire

/// One gateway, for as long as the process lives: a gateway that comes back has the same number.
package struct GatewayID: Hashable, Sendable {
    /// Given by the shell, by the gateway's mesh name.
    package let number: UInt32

    /// The gateway of that number.
    package init(_ number: UInt32) {
        self.number = number
    }
}

/// What goes to gateways.
package enum FanoutRecord: Equatable, Sendable {
    /// A committed change.
    case update(Update)
    /// What an element looks like under a finger.
    case preview(Preview)
    /// The answer to a join.
    case joinReply(JoinReply)
    /// Where a room's stream stands.
    case roomPosition(RoomPosition)
    /// A user came or left.
    case presence(Presence)
    /// A gesture ended without a commit.
    case gestureEnded(GestureEnded)
    /// A session has a new owner.
    case sessionClaimed(SessionClaimed)
    /// The answer to a read of a room.
    case roomState(RoomState)
}

/// What the shell does next, in the order of the buffer.
package enum FanoutAction: Equatable, Sendable {
    /// Send to one gateway.
    case send(FanoutRecord, to: GatewayID)
    /// Send to each of the gateways but `except`.
    case broadcast(FanoutRecord, to: [GatewayID], except: GatewayID?)
    /// Ask the database; the answer comes back with the request's tag.
    case read(DatabaseRequest)
}
