package import Wire

/// One gateway, for as long as the process lives: a gateway that comes back has the same number.
package struct GatewayID: Hashable, Comparable, Sendable {
    /// Given by the shell, by the gateway's mesh name.
    package let number: UInt32

    package init(_ number: UInt32) { self.number = number }

    package static func < (first: GatewayID, second: GatewayID) -> Bool { first.number < second.number }
}

/// What goes to gateways.
package enum GatewayRecord: Equatable, Sendable {
    case update(Update)
    case preview(Preview)
    case awareness(Awareness)
    case signal(RoomSignal)
    case joinReply(JoinReply)
    case roomPosition(RoomPosition)
    case presence(Presence)
    case roomMembers(RoomMembers)
    case gestureEnded(GestureEnded)
    case sessionClaimed(SessionClaimed)
    case roomState(RoomState)
    case historyReply(HistoryReply)
    case answerWeight(AnswerWeight)
}

extension GatewayRecord {
    package var kind: RecordKind {
        switch self {
        case .update: .update
        case .preview: .preview
        case .awareness: .awareness
        case .signal: .signal
        case .joinReply: .joinReply
        case .roomPosition: .roomPosition
        case .presence: .presence
        case .roomMembers: .roomMembers
        case .gestureEnded: .gestureEnded
        case .sessionClaimed: .sessionClaimed
        case .roomState: .roomState
        case .historyReply: .historyReply
        case .answerWeight: .answerWeight
        }
    }

    package func encode(into writer: inout ByteWriter) {
        switch self {
        case .update(let update): update.encode(into: &writer)
        case .preview(let preview): preview.encode(into: &writer)
        case .awareness(let awareness): awareness.encode(into: &writer)
        case .signal(let signal): signal.encode(into: &writer)
        case .joinReply(let reply): reply.encode(into: &writer)
        case .roomPosition(let position): position.encode(into: &writer)
        case .presence(let presence): presence.encode(into: &writer)
        case .roomMembers(let members): members.encode(into: &writer)
        case .gestureEnded(let ended): ended.encode(into: &writer)
        case .sessionClaimed(let claimed): claimed.encode(into: &writer)
        case .roomState(let state): state.encode(into: &writer)
        case .historyReply(let reply): reply.encode(into: &writer)
        case .answerWeight(let weight): weight.encode(into: &writer)
        }
    }
}

/// What the shell does next, in the order of the buffer.
package enum FanoutAction: Equatable, Sendable {
    case send(GatewayRecord, to: GatewayID)
    /// Send to each of the gateways but `except`.
    case broadcast(GatewayRecord, to: [GatewayID], except: GatewayID?)
    /// Ask the database; the answer comes back with the request's tag.
    case read(DatabaseRequest)
}
