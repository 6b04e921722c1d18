public import Canvas

/// A person in a room, as others see them.
///
///     user name │ name text │ color text │ isHidden u8
public struct Member: Equatable, Sendable {
    public var user: Identifier
    public var name: String
    /// The colour to show, as the app gave it.
    public var color: String
    /// True for a reader that others do not see: the connection follows the room, and the user is no member by it.
    public var isHidden = false

    public init(user: Identifier, name: String, color: String) {
        self.user = user
        self.name = name
        self.color = color
    }
}

extension Member: WireValue {
    init(from reader: inout ByteReader) { (self.user, self.name, self.color, self.isHidden) = reader.fields() }
    func encode(into writer: inout ByteWriter) { writer.fields(self.user, self.name, self.color, self.isHidden) }
}

public struct Position: Equatable, Sendable {
    /// Identifies the history; it changes only when rows were lost (a failover without them, a restored backup).
    public var epoch: Identifier
    /// The last sequence number that was seen.
    public var seq: UInt64

    public init(epoch: Identifier, seq: UInt64) {
        self.epoch = epoch
        self.seq = seq
    }
}

extension Position: WireValue {
    init(from reader: inout ByteReader) {
        (self.epoch, self.seq) = reader.fields()
        reader.check(ordinals: self.seq)
    }

    func encode(into writer: inout ByteWriter) { writer.fields(self.epoch, self.seq) }
}

/// A connection's request to join a room. Joining again is allowed and gets a new answer.
///
///     request u64 │ room name │ connection u64 │ member │ session text │ hasResume u8 │ epoch name, seq u64 if so
///     after u64 │ allowance u32
public struct Join: WireRecord, Equatable, Sendable {
    public static let kind = RecordKind.join

    /// Chosen by the gateway; the reply carries it.
    public var request: UInt64
    public var room: Identifier
    public var connection: UInt64
    public var member: Member
    /// The secret of the session to resume; empty for a new session.
    public var session: String
    /// The position after which the app needs the updates; nil for the whole room.
    public var resume: Position?
    /// The highest number that the gateway has recently acknowledged in the room: the answer's position should not be
    /// before it. 0: none.
    public var after: UInt64
    /// The most bytes that the answer may have: beyond it an ``AnswerWeight`` comes in its place.
    public var allowance: UInt32

    public init(
        request: UInt64, room: Identifier, connection: UInt64, member: Member, session: String = "",
        resume: Position? = nil, after: UInt64 = 0, allowance: UInt32 = .max
    ) {
        self.request = request
        self.room = room
        self.connection = connection
        self.member = member
        self.session = session
        self.resume = resume
        self.after = after
        self.allowance = allowance
    }

    public func encode(into writer: inout ByteWriter) {
        writer.fields(
            self.request, self.room, self.connection, self.member, self.session, self.resume, self.after,
            self.allowance)
    }

    public init(from reader: inout ByteReader) {
        (self.request, self.room, self.connection, self.member) = reader.fields()
        (self.session, self.resume, self.after, self.allowance) = reader.fields()
        reader.check(ordinals: self.after)
    }
}

/// The content of a join's answer: the whole room, or exactly the missed updates.
public enum RoomContent: Equatable, Sendable {
    /// The JSON text of an array of all flat elements.
    case elements([UInt8])
    /// The updates after the resumed position up to `seq`, without a gap.
    case updates([Update])
}

/// The answer to a ``Join``. It is part of the room's stream: no update with a number ≤ `seq` follows it on the link.
///
///     request u64 │ room name │ connection u64 │ isRefused u8 │ refusal, or:
///     epoch name │ seq u64 │ tag u8 (0 elements: JSON blob, 1 updates: list of blobs) │ list of member │ session text │ sid name
///     session epoch u32 │ number u64 │ rules JSON blob │ list of (list of shown), one for each member
///
///     shown: connection u64 │ sid name │ hasCursor u8 │ x, y doubles if so │ selection, state JSON blobs
///     hasViewport u8 │ x, y, width, height doubles if so
public struct JoinReply: WireRecord, Equatable, Sendable {
    public static let kind = RecordKind.joinReply

    /// What a connection shows of its person, as ``ShownAwareness`` says; what it has selected is text, which is written once
    /// and not for each answer.
    public struct Shown: Equatable, Sendable {
        public var connection: UInt64
        /// The public name of its session in the room.
        public var sid: Identifier
        /// The cursor on the canvas, pixels; nil: hidden.
        public var cursor: Point?
        /// The selected elements as a JSON array; empty: none.
        public var selection: [UInt8]
        /// The app's own state as a JSON object; empty: none.
        public var state: [UInt8]
        /// The visible part of the canvas, pixels; nil: it is not shown.
        public var viewport: Rect?

        /// - Parameter selection: ``ShownAwareness/selectionText``, if it is known.
        public init(_ awareness: ShownAwareness, of connection: UInt64, selection: [UInt8]? = nil) {
            self.connection = connection
            self.sid = awareness.sid
            self.cursor = awareness.cursor
            self.selection = selection ?? awareness.selectionText
            self.state = awareness.state
            self.viewport = awareness.viewport
        }

        public var parts: [AwarenessPart] {
            AwarenessPart.allCases.filter { part in
                switch part {
                case .cursor: self.cursor != nil
                case .selection: !self.selection.isEmpty
                case .state: !self.state.isEmpty
                case .viewport: self.viewport != nil
                }
            }
        }
    }

    /// The answer to a successful join.
    public struct Joined: Equatable, Sendable {
        /// The room's history and its last sequence number.
        public var position: Position
        /// The room's state, or the missed updates.
        public var content: RoomContent
        /// All members of the room, each user once, including the joiner.
        public var members: [Member]
        /// The secret of the session; only for the app.
        public var session: String
        public var sid: Identifier
        /// Under which this connection owns the session: each new owner's is higher.
        public var sessionEpoch: UInt32
        /// The highest number that the session has used; 0 when new.
        public var number: UInt64
        /// The rules by type as JSON text, for apps that clamp as they draw; empty: unknown.
        public var rules: [UInt8]
        /// What the connections of each member show, as many as members; empty: unknown.
        public var awareness: [[Shown]]

        public init(
            position: Position, content: RoomContent, members: [Member], session: String, sid: Identifier,
            sessionEpoch: UInt32, number: UInt64, rules: [UInt8] = [], awareness: [[Shown]] = []
        ) {
            self.position = position
            self.content = content
            self.members = members
            self.session = session
            self.sid = sid
            self.sessionEpoch = sessionEpoch
            self.number = number
            self.rules = rules
            self.awareness = awareness
        }
    }

    public var request: UInt64
    public var room: Identifier
    public var connection: UInt64
    public var outcome: Result<Joined, Refusal>

    public init(request: UInt64, room: Identifier, connection: UInt64, outcome: Result<Joined, Refusal>) {
        self.request = request
        self.room = room
        self.connection = connection
        self.outcome = outcome
    }

    public func encode(into writer: inout ByteWriter) {
        writer.fields(self.request, self.room, self.connection, self.outcome)
    }

    public init(from reader: inout ByteReader) {
        (self.request, self.room, self.connection, self.outcome) = reader.fields()
    }
}

extension JoinReply.Joined: WireValue {
    init(from reader: inout ByteReader) {
        (self.position, self.content, self.members, self.session, self.sid) = reader.fields()
        (self.sessionEpoch, self.number, self.rules, self.awareness) = reader.fields()
        reader.check(ordinals: self.number)
    }

    func encode(into writer: inout ByteWriter) {
        writer.fields(self.position, self.content, self.members, self.session, self.sid)
        writer.fields(self.sessionEpoch, self.number, self.rules, self.awareness)
    }
}

extension JoinReply.Shown: WireValue {
    init(from reader: inout ByteReader) {
        (self.connection, self.sid, self.cursor, self.selection, self.state, self.viewport) = reader.fields()
    }

    func encode(into writer: inout ByteWriter) {
        writer.fields(self.connection, self.sid, self.cursor, self.selection, self.state, self.viewport)
    }
}

/// Tag u8 (0 elements: JSON blob; 1 updates: list of blobs).
extension RoomContent: WireValue {
    init(from reader: inout ByteReader) {
        switch reader.u8() {
        case 0: self = .elements(reader.blob())
        case 1: self = .updates(reader.list { $0.update() })
        default:
            reader.fail()
            self = .updates([])
        }
    }

    func encode(into writer: inout ByteWriter) {
        switch self {
        case .elements(let json):
            writer.u8(0)
            writer.blob(json)
        case .updates(let updates):
            writer.u8(1)
            writer.list(updates) { $1.blob($0.bytes) }
        }
    }
}

extension ByteReader {
    /// Reads an update in an answer: its length, then its fields.
    fileprivate mutating func update() -> Update {
        let count = Int(self.integer(UInt32.self))
        var fields = ByteReader(self.bytes(count) ?? UnsafeRawBufferPointer(start: nil, count: 0))
        let update = Update(from: &fields)
        if fields.failed { self.fail() }
        return update
    }
}

/// Comes in the place of the answer to a ``Join`` or ``RoomRead`` that would be larger than its allowance. The fan-out
/// forgets the request; a gateway that has the space asks again.
///
///     request u64 │ room name │ isRead u8 │ bytes u32
public struct AnswerWeight: WireRecord, Equatable, Sendable {
    public static let kind = RecordKind.answerWeight

    public var request: UInt64
    public var room: Identifier
    public var isRead: Bool
    /// About the bytes of the answer: of the elements or updates, the members and what they show.
    public var bytes: UInt32

    public init(request: UInt64, room: Identifier, isRead: Bool, bytes: UInt32) {
        self.request = request
        self.room = room
        self.isRead = isRead
        self.bytes = bytes
    }

    public func encode(into writer: inout ByteWriter) {
        writer.fields(self.request, self.room, self.isRead, self.bytes)
    }

    public init(from reader: inout ByteReader) {
        (self.request, self.room, self.isRead, self.bytes) = reader.fields()
    }
}

/// A connection left a room, or went away.
///
///     room name │ connection u64
public struct Leave: WireRecord, Equatable, Sendable {
    public static let kind = RecordKind.leave

    public var room: Identifier
    public var connection: UInt64

    public init(room: Identifier, connection: UInt64) {
        self.room = room
        self.connection = connection
    }

    public func encode(into writer: inout ByteWriter) {
        writer.fields(self.room, self.connection)
    }

    public init(from reader: inout ByteReader) {
        (self.room, self.connection) = reader.fields()
    }
}
