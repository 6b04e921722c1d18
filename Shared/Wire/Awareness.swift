public import Canvas
internal import JSONBytes

/// One thing that a connection shows of its person in a room, as it is now: gateway → fan-out → gateways. Of each part the
/// latest counts. It ends with the connection and is never stored.
///
///     room name │ connection u64 │ user name │ sid name │ version u64 │ sinceLast u32 │ value
///     hasArea u8 │ area if so
public struct Awareness: WireRecord, Equatable, Sendable {
    public static let kind = RecordKind.awareness

    public var room: Identifier
    /// The connection, unique over all gateways and never reused; it does not get it.
    public var connection: UInt64
    public var user: Identifier
    /// The public name of its session in the room.
    public var sid: Identifier
    /// Grows with every value that the connection shows.
    public var version: UInt64
    /// Time since the one before of the same part, ms; 0 for the first.
    public var sinceLast: UInt32
    public var value: AwarenessValue
    /// Where it can be seen, on its way from the fan-out.
    public var area = PreviewArea.everywhere

    public init(
        room: Identifier, connection: UInt64, user: Identifier, sid: Identifier, version: UInt64 = 0,
        sinceLast: UInt32 = 0, value: AwarenessValue
    ) {
        self.room = room
        self.connection = connection
        self.user = user
        self.sid = sid
        self.version = version
        self.sinceLast = sinceLast
        self.value = value
    }

    /// Of those with the same key the latest counts.
    public struct Key: Hashable, Sendable {
        let room: Identifier
        let connection: UInt64
        let part: AwarenessPart
        /// What hides that of one session must not be replaced by that of the next one.
        let sid: Identifier

        public init(room: Identifier, connection: UInt64, part: AwarenessPart, sid: Identifier) {
            self.room = room
            self.connection = connection
            self.part = part
            self.sid = sid
        }
    }

    public var key: Key {
        Key(room: self.room, connection: self.connection, part: self.value.part, sid: self.sid)
    }

    /// The same part, gone.
    public var hidden: Awareness {
        var hidden = self
        (hidden.value, hidden.sinceLast, hidden.area) = (self.value.part.nothing, 0, .everywhere)
        return hidden
    }

    /// Takes the place of an older one of its key. Who saw the older one must see it go.
    public mutating func replace(_ older: Awareness) {
        self.sinceLast &+= older.sinceLast
        self.area = self.area.union(older.area)
    }

    public func encode(into writer: inout ByteWriter) {
        writer.name(self.room)
        writer.integer(self.connection)
        writer.name(self.user)
        writer.name(self.sid)
        writer.integer(self.version)
        writer.integer(self.sinceLast)
        writer.awareness(self.value)
        writer.bool(!self.area.isEverywhere)
        if !self.area.isEverywhere { writer.area(self.area) }
    }

    public init(from reader: inout ByteReader) {
        self.room = reader.name()
        self.connection = reader.integer()
        self.user = reader.name()
        self.sid = reader.name()
        self.version = reader.integer()
        self.sinceLast = reader.integer()
        self.value = reader.awareness()
        if reader.bool() { self.area = reader.area() }
    }
}

/// What can be shown of a person.
public enum AwarenessPart: UInt8, CaseIterable, Sendable {
    case cursor, selection, state, viewport

    /// The value that hides it.
    public var nothing: AwarenessValue {
        switch self {
        case .cursor: .cursor(nil)
        case .selection: .selection([])
        case .state: .state([])
        case .viewport: .viewport(nil)
        }
    }
}

/// One part of what is shown of a person.
public enum AwarenessValue: Equatable, Sendable {
    /// Where the mouse or finger points on the canvas, pixels; nil: nowhere.
    case cursor(Point?)
    case selection([Identifier])
    /// An app's own state, the text of a JSON object; empty: none.
    case state([UInt8])
    /// The visible part of the canvas, pixels; nil: it is not shown.
    case viewport(Rect?)

    public var part: AwarenessPart {
        switch self {
        case .cursor: .cursor
        case .selection: .selection
        case .state: .state
        case .viewport: .viewport
        }
    }

    /// True when it shows nothing.
    public var isNothing: Bool { self == self.part.nothing }

    /// Roughly the bytes that it occupies beyond a fixed size.
    public var bytes: Int {
        switch self {
        case .cursor, .viewport: 0
        case .selection(let elements): elements.reduce(0) { $0 + 24 + $1.text.utf8.count }
        case .state(let json): json.count
        }
    }
}

/// All that a connection shows of its person in a room.
///
///     sid name │ count u32 │ values │ version u64
public struct ShownAwareness: Equatable, Sendable {
    /// The public name of the connection's session in the room; empty: it is not the connection's any more.
    public var sid: Identifier
    public var cursor: Point?
    public var selection: [Identifier]
    /// The text of a JSON object; empty: none.
    public var state: [UInt8]
    public var viewport: Rect?
    /// How often it has changed.
    public var version: UInt64

    /// The most bytes of the selections and states of everybody in a room: one record holds all of them. Further ones are not
    /// shown.
    public static let roomBytes = 1 << 20

    public init(
        sid: Identifier, cursor: Point? = nil, selection: [Identifier] = [], state: [UInt8] = [], viewport: Rect? = nil,
        version: UInt64 = 0
    ) {
        self.sid = sid
        self.cursor = cursor
        self.selection = selection
        self.state = state
        self.viewport = viewport
        self.version = version
    }

    public subscript(part: AwarenessPart) -> AwarenessValue {
        get {
            switch part {
            case .cursor: .cursor(self.cursor)
            case .selection: .selection(self.selection)
            case .state: .state(self.state)
            case .viewport: .viewport(self.viewport)
            }
        }
        set {
            switch newValue {
            case .cursor(let cursor): self.cursor = cursor
            case .selection(let selection): self.selection = selection
            case .state(let state): self.state = state
            case .viewport(let viewport): self.viewport = viewport
            }
        }
    }

    public var bytes: Int { self[.selection].bytes + self[.state].bytes }

    public var parts: [AwarenessPart] { AwarenessPart.allCases.filter { !self[$0].isNothing } }

    /// The records that show it, each of the version that it has in all.
    public func records(in room: Identifier, of connection: UInt64, _ user: Identifier) -> [Awareness] {
        self.parts.map {
            Awareness(
                room: room, connection: connection, user: user, sid: self.sid, version: self.version, value: self[$0])
        }
    }

    /// The selected elements as a JSON array; empty: none.
    public var selectionText: [UInt8] {
        if self.selection.isEmpty { return [] }
        var writer = JSONWriter(reserving: self[.selection].bytes)
        writer.beginArray()
        for element in self.selection { writer.value(element.text) }
        writer.endArray()
        return writer.bytes
    }
}

extension ByteWriter {
    /// Appends one part: which one it is, u8, then of a cursor or a viewport hasValue u8 and its numbers, of a selection a
    /// list of names, of a state a blob.
    mutating func awareness(_ value: AwarenessValue) {
        self.u8(value.part.rawValue)
        switch value {
        case .cursor(let cursor): self.fields(cursor)
        case .selection(let elements): self.list(elements) { $1.name($0) }
        case .state(let json): self.blob(json)
        case .viewport(let rect): self.fields(rect)
        }
    }
}

extension ByteReader {
    /// Reads one part; one that is not known is ill-formed.
    mutating func awareness() -> AwarenessValue {
        switch AwarenessPart(rawValue: self.u8()) {
        case .cursor: return .cursor(Point?(from: &self))
        case .selection: return .selection(self.list { $0.name() })
        case .state: return .state(self.blob())
        case .viewport: return .viewport(Rect?(from: &self))
        case nil:
            self.fail()
            return .cursor(nil)
        }
    }
}

extension ShownAwareness: WireValue {
    init(from reader: inout ByteReader) {
        self.init(sid: reader.name())
        for value in reader.list({ $0.awareness() }) { self[value.part] = value }
        self.version = reader.integer()
    }

    func encode(into writer: inout ByteWriter) {
        writer.name(self.sid)
        writer.list(self.parts) { $1.awareness(self[$0]) }
        writer.integer(self.version)
    }
}

/// Its origin, its width and its height, f64 each; a value that is not finite is ill-formed.
extension Rect: WireValue {
    init(from reader: inout ByteReader) {
        let origin = reader.point()
        let width = reader.finite()
        self.init(x: origin.x, y: origin.y, width: width, height: reader.finite())
    }

    func encode(into writer: inout ByteWriter) {
        writer.point(self.origin)
        writer.double(self.size.width)
        writer.double(self.size.height)
    }
}
