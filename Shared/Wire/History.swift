/// A gateway's request for a page of a room's history (HTTP).
///
///     request u64 │ room name │ after u64 │ limit u16
public struct HistoryRead: WireRecord, Equatable, Sendable {
    public static let kind = RecordKind.historyRead

    /// Chosen by the gateway; the reply carries it.
    public var request: UInt64
    public var room: Identifier
    /// The page begins behind the update of this number; 0: with the first.
    public var after: UInt64
    public var limit: UInt16

    public init(request: UInt64, room: Identifier, after: UInt64, limit: UInt16) {
        self.request = request
        self.room = room
        self.after = after
        self.limit = limit
    }

    public func encode(into writer: inout ByteWriter) {
        writer.fields(self.request, self.room, self.after, self.limit)
    }

    public init(from reader: inout ByteReader) {
        (self.request, self.room, self.after, self.limit) = reader.fields()
        reader.check(ordinals: self.after)
    }
}

/// One committed change of a room, with its elements before and after: one row of the commit log.
///
///     seq u64 │ at text │ event text │ user name │ sid name │ number u64 │ cause u8 │ list of change
///
/// A change:
///
///     element name │ before blob │ after blob
public struct HistoryEntry: Equatable, Sendable {
    public struct Change: Equatable, Sendable {
        public var element: Identifier
        /// The flat element before, as JSON text; empty when the change created it.
        public var before: [UInt8]
        /// The flat element afterwards, as JSON text; empty when the change deleted it.
        public var after: [UInt8]

        public init(element: Identifier, before: [UInt8], after: [UInt8]) {
            self.element = element
            self.before = before
            self.after = after
        }
    }

    /// Its number in the room's order.
    public var seq: UInt64
    /// When it was committed: RFC 3339, in UTC, with milliseconds.
    public var at: String
    /// The kind of the change as apps know it, such as `element:transformed`. A text, because the log may have kinds
    /// of a newer release.
    public var event: String
    public var user: Identifier
    /// The public name of the session that it came from.
    public var sid: Identifier
    /// The app's number in that session; 0 when the app assigned none.
    public var number: UInt64
    public var cause: UpdateCause
    public var changes: [Change]

    public init(
        seq: UInt64, at: String, event: String, user: Identifier, sid: Identifier, number: UInt64,
        cause: UpdateCause = .edit, changes: [Change]
    ) {
        self.seq = seq
        self.at = at
        self.event = event
        self.user = user
        self.sid = sid
        self.number = number
        self.cause = cause
        self.changes = changes
    }
}

/// Consecutive entries of a room's history.
///
///     list of entry │ hasNext u8 │ next u64 if so │ hasOldest u8 │ oldest u64 if so
public struct HistoryPage: Equatable, Sendable {
    /// The most bytes of a page, unless a single entry is larger.
    public static let largest = 1 << 20

    /// In the order of their numbers.
    public var entries: [HistoryEntry]
    /// The number behind which the next page begins; nil when this is the last one.
    public var next: UInt64?
    /// The number of the first entry that is kept; nil when none is.
    public var oldest: UInt64?

    public init(entries: [HistoryEntry], next: UInt64?, oldest: UInt64?) {
        self.entries = entries
        self.next = next
        self.oldest = oldest
    }
}

/// The answer to a ``HistoryRead``.
///
///     request u64 │ isRefused u8 │ refusal, or page
public struct HistoryReply: WireRecord, Equatable, Sendable {
    public static let kind = RecordKind.historyReply

    public var request: UInt64
    public var outcome: Result<HistoryPage, Refusal>

    public init(request: UInt64, outcome: Result<HistoryPage, Refusal>) {
        self.request = request
        self.outcome = outcome
    }

    public func encode(into writer: inout ByteWriter) { writer.fields(self.request, self.outcome) }

    public init(from reader: inout ByteReader) { (self.request, self.outcome) = reader.fields() }
}

extension HistoryPage: WireValue {
    init(from reader: inout ByteReader) { (self.entries, self.next, self.oldest) = reader.fields() }
    func encode(into writer: inout ByteWriter) { writer.fields(self.entries, self.next, self.oldest) }
}

extension HistoryEntry: WireValue {
    init(from reader: inout ByteReader) {
        let cause: UInt8
        (self.seq, self.at, self.event, self.user, self.sid, self.number, cause, self.changes) = reader.fields()
        reader.check(ordinals: self.seq, self.number)
        if UpdateCause(rawValue: cause) == nil { reader.fail() }
        self.cause = UpdateCause(rawValue: cause) ?? .edit
    }

    func encode(into writer: inout ByteWriter) {
        writer.fields(self.seq, self.at, self.event, self.user, self.sid, self.number)
        writer.fields(self.cause.rawValue, self.changes)
    }
}

extension HistoryEntry.Change: WireValue {
    init(from reader: inout ByteReader) { (self.element, self.before, self.after) = reader.fields() }
    func encode(into writer: inout ByteWriter) { writer.fields(self.element, self.before, self.after) }
}
