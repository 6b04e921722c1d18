/// What an update did; the number on the wire and in the commit log.
public enum UpdateEvent: UInt8, Sendable, CaseIterable {
    /// One element moved, turned or scaled.
    case transformed = 1
    /// One element created.
    case created = 2
    /// Several elements created at once.
    case createdMany = 3
    /// One element changed in what is no transform.
    case updated = 4
    /// One element deleted, with what hangs on it.
    case deleted = 5

    /// The event as apps receive it.
    public var name: String {
        switch self {
        case .transformed: "element:transformed"
        case .created: "element:created"
        case .createdMany: "elements:created"
        case .updated: "element:updated"
        case .deleted: "element:deleted"
        }
    }

    /// The event of that name, as the commit log has it.
    public init?(name: String) {
        guard let event = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = event
    }
}

/// One element as an update left it.
public struct UpdatedElement: Equatable, Sendable {
    /// Its id.
    public var id: Identifier
    /// The flat element as JSON text; empty when it was deleted.
    public var json: [UInt8]

    /// One element of an update.
    public init(id: Identifier, json: [UInt8]) {
        self.id = id
        self.json = json
    }
}

/// One committed change of a room: the same thing as one row of the commit log.
///
///     shard u8 │ gseq u64 │ room name │ seq u64 │ event u8 │ user name │ sid name │ number u64 │ gesture u64
///     link u64 │ chain u64 │ list of (id name │ JSON blob)
public struct Update: WireRecord, Equatable, Sendable {
    public static let kind = RecordKind.update

    /// The room's shard.
    public var shard: UInt8
    /// Its place in the shard's order: 1, 2, 3 …
    public var gseq: UInt64
    /// The room.
    public var room: Identifier
    /// Its place in the room's order: 1, 2, 3 …
    public var seq: UInt64
    /// What it did.
    public var event: UpdateEvent
    /// Who did it.
    public var user: Identifier
    /// The public name of the session that it came from.
    public var sid: Identifier
    /// The app's number in that session; 0 when the app gave none.
    public var number: UInt64
    /// The gesture that it ended; 0 when it ended none.
    public var gesture: UInt64
    /// Its link in the shard's ``HistoryChain``.
    public var link: UInt64
    /// The shard's chain after it; 0: not known.
    public var chain: UInt64
    /// The elements afterwards; for a deletion the deleted ids, parent first, with empty JSON.
    public var elements: [UpdatedElement]

    /// A committed change.
    public init(
        shard: UInt8, gseq: UInt64, room: Identifier, seq: UInt64, event: UpdateEvent, user: Identifier,
        sid: Identifier, number: UInt64, gesture: UInt64, link: UInt64 = 0, chain: UInt64 = 0,
        elements: [UpdatedElement]
    ) {
        self.shard = shard
        self.gseq = gseq
        self.room = room
        self.seq = seq
        self.event = event
        self.user = user
        self.sid = sid
        self.number = number
        self.gesture = gesture
        self.link = link
        self.chain = chain
        self.elements = elements
    }

    public func encode(into writer: inout ByteWriter) {
        writer.u8(self.shard)
        writer.integer(self.gseq)
        writer.name(self.room)
        writer.integer(self.seq)
        writer.u8(self.event.rawValue)
        writer.name(self.user)
        writer.name(self.sid)
        writer.integer(self.number)
        writer.integer(self.gesture)
        writer.integer(self.link)
        writer.integer(self.chain)
        writer.list(self.elements) { element, writer in
            writer.name(element.id)
            writer.blob(element.json)
        }
    }

    public init(from reader: inout ByteReader) {
        self.shard = reader.u8()
        self.gseq = reader.integer()
        self.room = reader.name()
        self.seq = reader.integer()
        let event = UpdateEvent(rawValue: reader.u8())
        self.event = event ?? .transformed
        self.user = reader.name()
        self.sid = reader.name()
        self.number = reader.integer()
        self.gesture = reader.integer()
        self.link = reader.integer()
        self.chain = reader.integer()
        self.elements = reader.list { reader in
            let id = reader.name()
            return UpdatedElement(id: id, json: reader.blob())
        }
        if event == nil || self.shard >= UInt8(Shard.count) { reader.fail() }
    }
}
