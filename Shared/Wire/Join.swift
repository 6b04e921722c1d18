public import Canvas

/// A person in a room, as others see them.
///
///     user name │ name text │ color text
public struct Member: Equatable, Sendable {
    public var user: Identifier
    public var name: String
    /// The colour to show, as the app gave it.
    public var color: String

    public init(user: Identifier, name: String, color: String) {
        self.user = user
        self.name = name
        self.color = color
    }
}

extension ByteWriter {
    /// Appends a position: epoch name, seq u64.
    mutating func position(_ position: Position) {
        self.name(position.epoch)
        self.integer(position.seq)
    }

    public mutating func member(_ member: Member) {
        self.name(member.user)
        self.text(member.name)
        self.text(member.color)
    }
}

extension ByteReader {
    mutating func position() -> Position {
        let epoch = self.name()
        return Position(epoch: epoch, seq: self.ordinal())
    }

    public mutating func member() -> Member {
        let user = self.name()
        let name = self.text()
        return Member(user: user, name: name, color: self.text())
    }
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
        writer.integer(self.request)
        writer.name(self.room)
        writer.integer(self.connection)
        writer.member(self.member)
        writer.text(self.session)
        writer.bool(self.resume != nil)
        if let resume = self.resume { writer.position(resume) }
        writer.integer(self.after)
        writer.integer(self.allowance)
    }

    public init(from reader: inout ByteReader) {
        self.request = reader.integer()
        self.room = reader.name()
        self.connection = reader.integer()
        self.member = reader.member()
        self.session = reader.text()
        self.resume = reader.bool() ? reader.position() : nil
        self.after = reader.ordinal()
        self.allowance = reader.integer()
    }
}

/// The content of a join's answer: the whole room, or exactly the missed updates.
public enum RoomContent: Equatable, Sendable {
    /// The JSON text of an array of all flat elements.
    case elements([UInt8])
    /// The updates after the resumed position up to `seq`, without a hole.
    case updates([Update])
}

/// The answer to a ``Join``. It is part of the room's stream: no update with a number ≤ `seq` follows it on the link.
///
///     request u64 │ room name │ connection u64 │ isRefused u8 │ refusal, or:
///     epoch name │ seq u64 │ tag u8 (0 elements: JSON blob, 1 updates: list of blobs) │ list of member │ session text │ sid name
///     claim u32 │ number u64 │ rules JSON blob │ list of (list of shown), one for each member
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

        /// What a connection shows.
        /// - Parameter selection: ``ShownAwareness/selectionText``.
        public init(_ awareness: ShownAwareness, of connection: UInt64, selection: [UInt8]) {
            self.connection = connection
            self.sid = awareness.sid
            self.cursor = awareness.cursor
            self.selection = selection
            self.state = awareness.state
            self.viewport = awareness.viewport
        }

        public init(_ awareness: ShownAwareness, of connection: UInt64) {
            self.init(awareness, of: connection, selection: awareness.selectionText)
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
        /// This connection's claim on the session.
        public var claim: UInt32
        /// The highest number that the session has used; 0 when new.
        public var number: UInt64
        /// The rules by type as JSON text, for apps that clamp as they draw; empty: unknown.
        public var rules: [UInt8]
        /// What the connections of each member show, as many as members; empty: unknown.
        public var awareness: [[Shown]]

        public init(
            position: Position, content: RoomContent, members: [Member], session: String, sid: Identifier,
            claim: UInt32, number: UInt64, rules: [UInt8] = [], awareness: [[Shown]] = []
        ) {
            self.position = position
            self.content = content
            self.members = members
            self.session = session
            self.sid = sid
            self.claim = claim
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
        writer.integer(self.request)
        writer.name(self.room)
        writer.integer(self.connection)
        switch self.outcome {
        case .failure(let refusal):
            writer.bool(true)
            writer.refusal(refusal)
        case .success(let joined):
            writer.bool(false)
            writer.position(joined.position)
            writer.content(joined.content)
            writer.list(joined.members) { $1.member($0) }
            writer.text(joined.session)
            writer.name(joined.sid)
            writer.integer(joined.claim)
            writer.integer(joined.number)
            writer.blob(joined.rules)
            writer.list(joined.awareness) { $1.list($0) { $1.shown($0) } }
        }
    }

    public init(from reader: inout ByteReader) {
        self.request = reader.integer()
        self.room = reader.name()
        self.connection = reader.integer()
        if reader.bool() {
            self.outcome = .failure(reader.refusal())
        } else {
            let position = reader.position()
            let content = reader.content()
            let members = reader.list { $0.member() }
            let session = reader.text()
            let sid = reader.name()
            let claim = reader.integer(UInt32.self)
            let number = reader.ordinal()
            let rules = reader.blob()
            let awareness = reader.list { $0.list { $0.shown() } }
            self.outcome = .success(
                Joined(
                    position: position, content: content, members: members, session: session, sid: sid, claim: claim,
                    number: number, rules: rules, awareness: awareness))
        }
    }
}

extension ByteWriter {
    mutating func shown(_ shown: JoinReply.Shown) {
        self.integer(shown.connection)
        self.name(shown.sid)
        self.bool(shown.cursor != nil)
        if let cursor = shown.cursor { self.point(cursor) }
        self.blob(shown.selection)
        self.blob(shown.state)
        self.rect(shown.viewport)
    }

    /// Appends a room's content: tag u8 (0 elements: JSON blob; 1 updates: list of blobs).
    mutating func content(_ content: RoomContent) {
        switch content {
        case .elements(let json):
            self.u8(0)
            self.blob(json)
        case .updates(let updates):
            self.u8(1)
            self.list(updates) { $1.blob($0.bytes) }
        }
    }
}

extension ByteReader {
    mutating func shown() -> JoinReply.Shown {
        let connection = self.integer(UInt64.self)
        var awareness = ShownAwareness(sid: self.name())
        awareness.cursor = self.bool() ? self.point() : nil
        let selection = self.blob()
        awareness.state = self.blob()
        awareness.viewport = self.rect()
        return JoinReply.Shown(awareness, of: connection, selection: selection)
    }

    /// Reads an update in an answer: its length, then its fields.
    private mutating func update() -> Update {
        let count = Int(self.integer(UInt32.self))
        var fields = ByteReader(self.bytes(count) ?? UnsafeRawBufferPointer(start: nil, count: 0))
        let update = Update(from: &fields)
        if fields.failed { self.fail() }
        return update
    }

    mutating func content() -> RoomContent {
        switch self.u8() {
        case 0: return .elements(self.blob())
        case 1: return .updates(self.list { $0.update() })
        default:
            self.fail()
            return .updates([])
        }
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
        writer.integer(self.request)
        writer.name(self.room)
        writer.bool(self.isRead)
        writer.integer(self.bytes)
    }

    public init(from reader: inout ByteReader) {
        self.request = reader.integer()
        self.room = reader.name()
        self.isRead = reader.bool()
        self.bytes = reader.integer()
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
        writer.name(self.room)
        writer.integer(self.connection)
    }

    public init(from reader: inout ByteReader) {
        self.room = reader.name()
        self.connection = reader.integer()
    }
}
