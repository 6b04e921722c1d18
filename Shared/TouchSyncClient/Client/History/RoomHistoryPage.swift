public import Canvas
import JSONBytes
import TouchSyncClientCore

/// A page of a room's history.
public struct RoomHistoryPage: Sendable {
    /// What was changed, in the order of `seq`.
    public let entries: [RoomHistoryEntry]
    /// Where the next page begins; nil when this is the last one.
    public let next: Int64?
    /// The oldest number that the history still has; nil when it has no change any more.
    public let oldest: Int64?

    init(json: JSONValue) {
        self.entries = (json["entries"]?.objects ?? []).compactMap(RoomHistoryEntry.init(json:))
        self.next = json["next"]?.integer
        self.oldest = json["oldest"]?.integer
    }
}

/// One change of a room.
public struct RoomHistoryEntry: Sendable {
    /// Its number in the room.
    public let seq: Int64
    /// When it was stored: UTC as in RFC 3339, with ms.
    public let at: String
    /// The event that told of it.
    public let event: String
    /// Who made it.
    public let userId: String
    /// The session in which it was made, and its number there; no number if the session has none.
    public let sid: String, n: Int64?
    /// `undo` or `redo`, if it was one.
    public let cause: String?
    /// What became of which element.
    public let changes: [HistoryChange]

    fileprivate init?(json: JSONValue) {
        guard let seq = json["seq"]?.integer else { return nil }
        self.seq = seq
        self.at = json["at"]?.string ?? ""
        self.event = json["event"]?.string ?? ""
        self.userId = json["userId"]?.string ?? ""
        self.sid = json["sid"]?.string ?? ""
        self.n = json["n"]?.integer
        self.cause = json["cause"]?.string
        self.changes = (json["changes"]?.objects ?? []).compactMap(HistoryChange.init(json:))
    }
}

/// What became of one element.
public struct HistoryChange: Sendable {
    /// The element.
    public let elementId: String
    /// As it was; nil if it was created.
    public let before: Element?
    /// As it was afterwards; nil if it was deleted.
    public let after: Element?

    fileprivate init?(json: JSONValue) {
        guard let id = json["elementId"]?.string else { return nil }
        self.elementId = id
        self.before = json["before"].flatMap { Element(server: $0) }
        self.after = json["after"].flatMap { Element(server: $0) }
    }
}
