/// A gateway's interest in a room: its members there and its position in the stream. Sent after a link came up, when
/// another fan-out became the room's owner, and when the gateway found a gap. Replaces the previous one.
///
///     room name │ epoch name │ seq u64 │ list of (connection u64 │ member │ awareness │ session epoch u32) │ hasViewports u8
public struct RoomInterest: WireRecord, Equatable, Sendable {
    public static let kind = RecordKind.roomInterest

    public struct Occupant: Equatable, Sendable {
        public var connection: UInt64
        public var member: Member
        public var awareness: ShownAwareness
        /// Under which it owns its session; 0: unknown.
        public var sessionEpoch: UInt32

        public init(
            connection: UInt64, member: Member, awareness: ShownAwareness = ShownAwareness(sid: ""),
            sessionEpoch: UInt32 = 0
        ) {
            self.connection = connection
            self.member = member
            self.awareness = awareness
            self.sessionEpoch = sessionEpoch
        }
    }

    public var room: Identifier
    /// The gateway's position in the room's stream.
    public var position: Position
    /// The room's connections at this gateway; empty: the gateway no longer needs the room.
    public var occupants: [Occupant]
    /// True when some of them see a part of the canvas only, so that the gateway needs the areas of previews.
    public var hasViewports: Bool

    public init(room: Identifier, position: Position, occupants: [Occupant], hasViewports: Bool = false) {
        self.room = room
        self.position = position
        self.occupants = occupants
        self.hasViewports = hasViewports
    }

    public func encode(into writer: inout ByteWriter) {
        writer.fields(self.room, self.position, self.occupants, self.hasViewports)
    }

    public init(from reader: inout ByteReader) {
        (self.room, self.position, self.occupants, self.hasViewports) = reader.fields()
    }
}

extension RoomInterest.Occupant: WireValue {
    init(from reader: inout ByteReader) {
        (self.connection, self.member, self.awareness, self.sessionEpoch) = reader.fields()
    }

    func encode(into writer: inout ByteWriter) {
        writer.fields(self.connection, self.member, self.awareness, self.sessionEpoch)
    }
}

/// A gateway needs the areas of a room's previews from now on, because one of its members looks at a part of the canvas.
///
///     room name
public struct AreaInterest: WireRecord, Equatable, Sendable {
    public static let kind = RecordKind.areaInterest

    public var room: Identifier

    public init(room: Identifier) {
        self.room = room
    }

    public func encode(into writer: inout ByteWriter) {
        writer.name(self.room)
    }

    public init(from reader: inout ByteReader) {
        self.room = reader.name()
    }
}

/// What a gateway told may not have arrived, as too much waited for its link. The fan-out forgets who is connected to it in
/// which room, as if the link had ended; ``RoomInterest``s follow, and whoever they do not name has left.
public struct InterestReset: WireRecord, Equatable, Sendable {
    public static let kind = RecordKind.interestReset

    public init() {}
    public func encode(into writer: inout ByteWriter) {}
    public init(from reader: inout ByteReader) {}
}

/// The answer to a ``RoomInterest``, sent after the missed updates. `isReset` says that not all of them were available
/// and that the room's members must get a snapshot.
///
///     room name │ epoch name │ seq u64 │ isReset u8
public struct RoomPosition: WireRecord, Equatable, Sendable {
    public static let kind = RecordKind.roomPosition

    public var room: Identifier
    /// The current position of the stream, which continues with `seq` + 1.
    public var position: Position
    /// True when the updates between the gateway's position and this one are unavailable.
    public var isReset: Bool

    public init(room: Identifier, position: Position, isReset: Bool) {
        self.room = room
        self.position = position
        self.isReset = isReset
    }

    public func encode(into writer: inout ByteWriter) {
        writer.fields(self.room, self.position, self.isReset)
    }

    public init(from reader: inout ByteReader) {
        (self.room, self.position, self.isReset) = reader.fields()
    }
}

/// A user is in a room, by this name and colour: it joined with its first connection, or is shown otherwise than before. Or
/// it left with its last one.
///
///     room name │ hasJoined u8 │ member │ except u64
public struct Presence: WireRecord, Equatable, Sendable {
    public static let kind = RecordKind.presence

    public var room: Identifier
    /// True for a user who is there, false for one who left.
    public var hasJoined: Bool
    public var member: Member
    /// The connection that is not notified: the joiner's own; 0: none.
    public var except: UInt64

    public init(room: Identifier, hasJoined: Bool, member: Member, except: UInt64) {
        self.room = room
        self.hasJoined = hasJoined
        self.member = member
        self.except = except
    }

    public func encode(into writer: inout ByteWriter) {
        writer.fields(self.room, self.hasJoined, self.member, self.except)
    }

    public init(from reader: inout ByteReader) {
        (self.room, self.hasJoined, self.member, self.except) = reader.fields()
    }
}

/// A connection in a room shows its user by another name or colour than when it joined: its new token says so.
///
///     room name │ connection u64 │ member
public struct MemberRenamed: WireRecord, Equatable, Sendable {
    public static let kind = RecordKind.memberRenamed

    public var room: Identifier
    public var connection: UInt64
    public var member: Member

    public init(room: Identifier, connection: UInt64, member: Member) {
        self.room = room
        self.connection = connection
        self.member = member
    }

    public func encode(into writer: inout ByteWriter) {
        writer.fields(self.room, self.connection, self.member)
    }

    public init(from reader: inout ByteReader) {
        (self.room, self.connection, self.member) = reader.fields()
    }
}

/// The end of a gesture. A fan-out hears of one without a commit: its commit was finally refused, or its owner left or
/// vanished. A coalescer hears of one by a commit, behind the gesture's previews.
///
///     room name │ element name │ user name │ sid name │ gesture u64 │ connection u64
public struct GestureEnd: WireRecord, Equatable, Sendable {
    public static let kind = RecordKind.gestureEnd

    public var room: Identifier
    public var element: Identifier
    public var user: Identifier
    public var sid: Identifier
    public var gesture: UInt64
    /// For a fan-out the connection that went away during the gesture: unless the session's next owner has continued it
    /// meanwhile, it has ended. 0: it has ended, whoever showed it last. For a coalescer the one that sent the commit.
    public var connection: UInt64

    public init(
        room: Identifier, element: Identifier, user: Identifier, sid: Identifier, gesture: UInt64,
        connection: UInt64 = 0
    ) {
        self.room = room
        self.element = element
        self.user = user
        self.sid = sid
        self.gesture = gesture
        self.connection = connection
    }

    public func encode(into writer: inout ByteWriter) {
        writer.fields(self.room, self.element, self.user, self.sid, self.gesture, self.connection)
    }

    public init(from reader: inout ByteReader) {
        (self.room, self.element, self.user, self.sid, self.gesture, self.connection) = reader.fields()
        reader.check(ordinals: self.gesture)
    }
}

/// Notifies a room's members that a gesture ended without a commit, with the element's actual state.
///
///     gesture's end │ seq u64 │ JSON blob
public struct GestureEnded: WireRecord, Equatable, Sendable {
    public static let kind = RecordKind.gestureEnded

    public var gesture: GestureEnd
    /// The number of the last update of the element; 0 when none is known.
    public var seq: UInt64
    /// The flat element as JSON text.
    public var json: [UInt8]

    public init(gesture: GestureEnd, seq: UInt64, json: [UInt8]) {
        self.gesture = gesture
        self.seq = seq
        self.json = json
    }

    public func encode(into writer: inout ByteWriter) {
        self.gesture.encode(into: &writer)
        writer.fields(self.seq, self.json)
    }

    public init(from reader: inout ByteReader) {
        self.gesture = GestureEnd(from: &reader)
        (self.seq, self.json) = reader.fields()
        reader.check(ordinals: self.seq)
    }
}

/// A session has a new owner: connections with an older session epoch lose it.
///
///     room name │ sid name │ session epoch u32
public struct SessionClaimed: WireRecord, Equatable, Sendable {
    public static let kind = RecordKind.sessionClaimed

    public var room: Identifier
    public var sid: Identifier
    public var sessionEpoch: UInt32

    public init(room: Identifier, sid: Identifier, sessionEpoch: UInt32) {
        self.room = room
        self.sid = sid
        self.sessionEpoch = sessionEpoch
    }

    public func encode(into writer: inout ByteWriter) {
        writer.fields(self.room, self.sid, self.sessionEpoch)
    }

    public init(from reader: inout ByteReader) {
        (self.room, self.sid, self.sessionEpoch) = reader.fields()
    }
}

/// A gateway's request for a room's state without joining it (HTTP).
///
///     request u64 │ room name │ after u64 │ allowance u32
public struct RoomRead: WireRecord, Equatable, Sendable {
    public static let kind = RecordKind.roomRead

    /// Chosen by the gateway; the reply carries it.
    public var request: UInt64
    public var room: Identifier
    /// The highest number that the gateway has recently acknowledged in the room: the answer's position should not be
    /// before it. 0: none.
    public var after: UInt64
    /// The most bytes that the answer may have: beyond it an ``AnswerWeight`` comes in its place.
    public var allowance: UInt32

    public init(request: UInt64, room: Identifier, after: UInt64 = 0, allowance: UInt32 = .max) {
        self.request = request
        self.room = room
        self.after = after
        self.allowance = allowance
    }

    public func encode(into writer: inout ByteWriter) {
        writer.fields(self.request, self.room, self.after, self.allowance)
    }

    public init(from reader: inout ByteReader) {
        (self.request, self.room, self.after, self.allowance) = reader.fields()
        reader.check(ordinals: self.after)
    }
}

/// The answer to a ``RoomRead``.
///
///     request u64 │ room name │ tag u8: 0 never used, 1 state, 2 unavailable │ epoch name │ seq u64 │ JSON blob
public struct RoomState: WireRecord, Equatable, Sendable {
    public static let kind = RecordKind.roomState

    /// The outcome of a read.
    public enum Outcome: Equatable, Sendable {
        /// No commit was ever made in it.
        case neverUsed
        /// Its position and the JSON text of an array of its flat elements.
        case state(Position, elements: [UInt8])
        case unavailable
    }

    public var request: UInt64
    public var room: Identifier
    public var outcome: Outcome

    public init(request: UInt64, room: Identifier, outcome: Outcome) {
        self.request = request
        self.room = room
        self.outcome = outcome
    }

    public func encode(into writer: inout ByteWriter) {
        writer.fields(self.request, self.room)
        switch self.outcome {
        case .neverUsed:
            writer.u8(0)
        case .state(let position, let elements):
            writer.u8(1)
            writer.fields(position, elements)
        case .unavailable:
            writer.u8(2)
        }
    }

    public init(from reader: inout ByteReader) {
        (self.request, self.room) = reader.fields()
        switch reader.u8() {
        case 0:
            self.outcome = .neverUsed
        case 1:
            let (position, elements): (Position, [UInt8]) = reader.fields()
            self.outcome = .state(position, elements: elements)
        case 2:
            self.outcome = .unavailable
        default:
            reader.fail()
            self.outcome = .unavailable
        }
    }
}
