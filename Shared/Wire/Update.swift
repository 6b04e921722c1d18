/// The kind of an update, as apps receive it; the raw value is the number on the wire, the name is used in the commit
/// log.
///
/// Several kinds of edits may result in the same kind of update. Its ``UpdateShape`` determines the form of
/// acknowledgements, broadcasts, rows of the log and answers to a join.
public enum UpdateEvent: UInt8, Sendable, CaseIterable {
    /// One element moved, rotated or scaled.
    case transformed = 1
    case created = 2
    /// Several elements created in one commit.
    case createdMany = 3
    /// One element changed in something other than its transform.
    case updated = 4
    /// One or several elements deleted, with their descendants.
    case deleted = 5
    /// Several elements moved, rotated or scaled in one commit.
    case transformedMany = 6
    /// Several elements created, changed or deleted in one commit.
    case changedMany = 7
    /// The animations of several elements changed in one commit.
    case updatedMany = 8

    private var row: (name: String, shape: UpdateShape) {
        switch self {
        case .transformed: ("element:transformed", .element)
        case .created: ("element:created", .flatElement)
        case .createdMany: ("elements:created", .elements)
        case .updated: ("element:updated", .element)
        case .deleted: ("element:deleted", .deletion)
        case .transformedMany: ("elements:transformed", .geometries)
        case .updatedMany: ("elements:updated", .animations)
        case .changedMany: ("elements:changed", .changes)
        }
    }

    /// The event's name, as apps receive it.
    public var name: String { self.row.name }

    /// The number and form of its elements.
    public var shape: UpdateShape { self.row.shape }

    /// The event of that name, as the commit log has it.
    public init?(name: String) {
        guard let event = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = event
    }
}

/// One element after an update, as an update is made from it.
public struct UpdatedElement: Equatable, Sendable {
    public var id: Identifier
    /// The flat element as JSON text; empty when it was deleted.
    public var json: [UInt8]
    /// The gesture of the update's session on the element that the update ended; 0: none.
    public var gesture: UInt64
    /// True when the update created it; set only among ``UpdateShape/changes``, where new ones come first.
    public var isNew: Bool
    /// What apps get of it, as ``UpdateShape/part(of:changesAnimation:)`` cuts it; empty when they get it whole.
    public var part: [UInt8]

    public init(id: Identifier, json: [UInt8], gesture: UInt64 = 0, isNew: Bool = false, part: [UInt8] = []) {
        self.id = id
        self.json = json
        self.gesture = gesture
        self.isNew = isNew
        self.part = part
    }

    /// What apps get of it.
    public var shown: [UInt8] { self.part.isEmpty ? self.json : self.part }
}

extension [UpdatedElement] {
    /// Records with each element the gesture on it that ended.
    public mutating func end(_ gestures: some Collection<EndedGesture>) {
        guard gestures.count > 1 else {
            if let ended = gestures.first, let index = self.firstIndex(where: { $0.id == ended.element }) {
                self[index].gesture = ended.gesture
            }
            return
        }
        let numbers = Dictionary(gestures.map { ($0.element, $0.gesture) }, uniquingKeysWith: Swift.max)
        for index in self.indices { self[index].gesture = numbers[self[index].id] ?? 0 }
    }
}

/// One committed change of a room; equivalent to one row of the commit log.
///
/// It is encoded once, by the committer that made it or by the fan-out that reads its row, and stays as these bytes on its
/// way to gateways and in answers to joins:
///
///     shard u8 │ event and cause u8 │ gseq u64 │ seq u64 │ number u64 │ link u64 │ chain u64
///     room name │ user name │ sid name │ text count u32 │ body blob
///     list of (id name │ gesture u64 │ isNew u8 │ start u32 │ count u32) │ trace, if its commit is traced
///
/// The cause is in the two highest bits of the event. The body begins with the text that members get; behind it are the
/// elements of which that has only a part. Start and count say where in the body an element's whole JSON is, without the
/// closing brace for a ``UpdateShape/flatElement``.
public struct Update: WireRecord, Equatable, Sendable {
    public static let kind = RecordKind.update

    /// What the header says of an element: its JSON stays in the body, see ``Update/json(of:)``.
    public struct Entry: Sendable {
        public let id: Identifier
        /// The gesture of the update's session on the element that the update ended; 0: none.
        public let gesture: UInt64
        /// As ``UpdatedElement/isNew``.
        public let isNew: Bool
        /// Where its JSON is in the body; empty when it was deleted.
        var range = 0..<0

        public var isDeleted: Bool { self.range.isEmpty }
    }

    public let shard: UInt8
    /// Its number in the shard's order: 1, 2, 3 …
    public let gseq: UInt64
    public let room: Identifier
    /// Its number in the room's order: 1, 2, 3 …
    public let seq: UInt64
    public private(set) var event: UpdateEvent
    public let user: Identifier
    /// The public name of the session that it came from.
    public let sid: Identifier
    /// The app's number in that session; 0 when the app assigned none.
    public let number: UInt64
    /// Its link in the shard's ``HistoryChain``.
    public let link: UInt64
    /// The shard's chain after it; 0: unknown.
    public let chain: UInt64
    public let cause: UpdateCause
    /// The trace of its commit; an update that was read from the log has none.
    public let trace: TraceID?
    /// The elements after the update; for a deletion the deleted ones, parent first.
    public private(set) var entries: [Entry] = []
    /// Its fields as they are on the wire.
    public private(set) var bytes: [UInt8] = []
    private var bodyStart = 0
    private var textCount = 0

    /// - Parameter elements: the elements after the update; for a deletion the deleted ids, parent first, with empty JSON.
    public init(
        shard: UInt8, gseq: UInt64, room: Identifier, seq: UInt64, event: UpdateEvent, user: Identifier,
        sid: Identifier, number: UInt64, link: UInt64 = 0, chain: UInt64 = 0, elements: [UpdatedElement],
        cause: UpdateCause = .edit, trace: TraceID? = nil
    ) {
        self.shard = shard
        self.gseq = gseq
        self.room = room
        self.seq = seq
        self.event = event
        self.user = user
        self.sid = sid
        self.number = number
        self.link = link
        self.chain = chain
        self.cause = cause
        self.trace = trace
        self.write(elements)
    }

    public static func == (lhs: Update, rhs: Update) -> Bool { lhs.bytes == rhs.bytes }

    // MARK: What it contains

    /// What members get: the JSON array `["event", {…}]`.
    public var text: ArraySlice<UInt8> { self.bytes[self.bodyStart..<self.bodyStart + self.textCount] }

    /// The object in the text.
    public var data: ArraySlice<UInt8> { self.text.dropFirst(self.event.name.utf8.count + 4).dropLast() }

    /// An element as JSON text; empty when it was deleted.
    public func json(of entry: Entry) -> [UInt8] {
        let json = self.bytes[self.bodyStart + entry.range.lowerBound..<self.bodyStart + entry.range.upperBound]
        guard self.event.shape == .flatElement, !json.isEmpty else { return Array(json) }
        return Array(json) + CollectionOfOne(UInt8(ascii: "}"))
    }

    public var elements: [UpdatedElement] {
        self.entries.map {
            UpdatedElement(id: $0.id, json: self.json(of: $0), gesture: $0.gesture, isNew: $0.isNew)
        }
    }

    /// The same update with other texts of its elements, or with another form.
    public func rewritten(as event: UpdateEvent, _ elements: [UpdatedElement]) -> Update {
        var update = self
        update.event = event
        update.write(elements)
        return update
    }

    // MARK: The wire

    public func encode(into writer: inout ByteWriter) { writer.bytes += self.bytes }

    private mutating func write(_ elements: [UpdatedElement]) {
        var writer = UpdateWriter(elements)
        self.bytes = writer.write(self)
        (self.bodyStart, self.textCount, self.entries) = (writer.bodyStart, writer.textCount, writer.entries)
    }

    /// Reads a record's fields up to their end, which is also the update's.
    public init(from reader: inout ByteReader) {
        let fields = reader
        self.shard = reader.u8()
        let byte = reader.u8()
        let event = UpdateEvent(rawValue: byte & 0x3f)
        let cause = UpdateCause(rawValue: byte >> 6)
        self.event = event ?? .transformed
        self.cause = cause ?? .edit
        self.gseq = reader.ordinal()
        self.seq = reader.ordinal()
        self.number = reader.ordinal()
        self.link = reader.integer()
        self.chain = reader.integer()
        self.room = reader.name()
        self.user = reader.name()
        self.sid = reader.name()
        self.textCount = Int(reader.integer(UInt32.self))
        let bodyCount = Int(reader.integer(UInt32.self))
        self.bodyStart = fields.remaining - reader.remaining
        _ = reader.bytes(bodyCount)
        self.entries = reader.list { Entry(from: &$0) }
        self.trace = reader.trace()
        // However often a peer names the same bytes, the elements together are no larger than the body.
        let listed = self.entries.reduce(0) { $0 + $1.range.count }
        let isSound = self.entries.allSatisfy { $0.range.upperBound <= bodyCount } && listed <= bodyCount
        let isKnown = event != nil && cause != nil && self.shard < UInt8(Shard.count)
        if !isKnown || !isSound || self.textCount > bodyCount { reader.fail() }
        if !reader.failed { self.bytes = fields.rest }
    }
}

extension Update.Entry {
    /// Without the place of its JSON.
    init(_ element: UpdatedElement) {
        self.init(id: element.id, gesture: element.gesture, isNew: element.isNew)
    }

    fileprivate init(from reader: inout ByteReader) {
        self.id = reader.name()
        self.gesture = reader.ordinal()
        self.isNew = reader.bool()
        let start = Int(reader.integer(UInt32.self))
        self.range = start..<start + Int(reader.integer(UInt32.self))
    }
}
