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
        writer.integer(self.request)
        writer.name(self.room)
        writer.integer(self.after)
        writer.integer(self.limit)
    }

    public init(from reader: inout ByteReader) {
        self.request = reader.integer()
        self.room = reader.name()
        self.after = reader.ordinal()
        self.limit = reader.integer()
    }
}

/// One committed change of a room, with its elements before and after: one row of the commit log.
///
///     seq u64 │ at text │ event text │ user name │ sid name │ number u64 │ list of change
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
///     list of entry │ next u64, 0: none │ oldest u64, 0: none │ list of cause u8, of each entry
///
/// An older fan-out tells no causes.
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

    public func encode(into writer: inout ByteWriter) {
        writer.integer(self.request)
        switch self.outcome {
        case .failure(let refusal):
            writer.bool(true)
            writer.refusal(refusal)
        case .success(let page):
            writer.bool(false)
            writer.page(page)
        }
    }

    public init(from reader: inout ByteReader) {
        self.request = reader.integer()
        self.outcome = reader.bool() ? .failure(reader.refusal()) : .success(reader.page())
    }
}

extension ByteWriter {
    fileprivate mutating func page(_ page: HistoryPage) {
        self.list(page.entries) { entry, writer in
            writer.integer(entry.seq)
            writer.text(entry.at)
            writer.text(entry.event)
            writer.name(entry.user)
            writer.name(entry.sid)
            writer.integer(entry.number)
            writer.list(entry.changes) { change, writer in
                writer.name(change.element)
                writer.blob(change.before)
                writer.blob(change.after)
            }
        }
        self.integer(page.next ?? 0)
        self.integer(page.oldest ?? 0)
        self.list(page.entries) { $1.u8($0.cause.rawValue) }
    }
}

extension ByteReader {
    fileprivate mutating func page() -> HistoryPage {
        var entries = self.list { $0.entry() }
        let next = self.integer(UInt64.self)
        let oldest = self.integer(UInt64.self)
        let causes = self.remaining > 0 ? self.list { UpdateCause(rawValue: $0.u8()) } : entries.map { _ in .edit }
        if causes.count != entries.count { self.fail() }
        for (index, cause) in zip(entries.indices, causes) {
            if cause == nil { self.fail() }
            entries[index].cause = cause ?? .edit
        }
        return HistoryPage(entries: entries, next: next == 0 ? nil : next, oldest: oldest == 0 ? nil : oldest)
    }

    private mutating func entry() -> HistoryEntry {
        let seq = self.ordinal()
        let at = self.text()
        let event = self.text()
        let user = self.name()
        let sid = self.name()
        let number = self.ordinal()
        let changes = self.list { reader in
            let element = reader.name()
            let before = reader.blob()
            return HistoryEntry.Change(element: element, before: before, after: reader.blob())
        }
        return HistoryEntry(seq: seq, at: at, event: event, user: user, sid: sid, number: number, changes: changes)
    }
}
