/// The kind of an update, as apps receive it; the raw value is the number on the wire, the name is used in the commit
/// log.
///
/// Several kinds of edits may result in the same kind of update. Its ``UpdateShape`` determines the form of
/// acknowledgements, broadcasts, rows of the log and answers to a join.
public enum UpdateEvent: UInt8, Sendable, CaseIterable {
    /// One element moved, rotated or scaled.
    case transformed = 1
    /// One element created.
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

    /// The properties of an event: one row for each.
    private struct Row {
        let name: String
        let shape: UpdateShape
        let legacy: LegacyForm
    }

    private var row: Row {
        switch self {
        case .transformed: Row(name: "element:transformed", shape: .element, legacy: .same)
        case .created: Row(name: "element:created", shape: .flatElement, legacy: .same)
        case .createdMany: Row(name: "elements:created", shape: .elements, legacy: .each(.created))
        case .updated: Row(name: "element:updated", shape: .element, legacy: .none)
        case .deleted: Row(name: "element:deleted", shape: .deletion, legacy: .each(.deleted))
        case .transformedMany:
            Row(name: "elements:transformed", shape: .geometries, legacy: .each(.transformed))
        case .updatedMany: Row(name: "elements:updated", shape: .animations, legacy: .none)
        case .changedMany: Row(name: "elements:changed", shape: .changes, legacy: .parts)
        }
    }

    /// The event's name, as apps receive it.
    public var name: String { self.row.name }

    /// The number and form of its elements.
    public var shape: UpdateShape { self.row.shape }

    /// The form that a 1.0 app receives.
    public var legacy: LegacyForm { self.row.legacy }

    /// The event of that name, as the commit log has it.
    public init?(name: String) {
        guard let event = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = event
    }
}

/// The form of an update that an app of the 1.0 contract receives.
public enum LegacyForm: Sendable {
    /// The same event as for all other apps.
    case same
    /// One event of that kind for each element, all with the update's number.
    case each(UpdateEvent)
    /// One event for each element, created, transformed or deleted, all with the update's number.
    case parts
    /// Nothing: 1.0 does not know what changed.
    case none
}

/// One element after an update.
public struct UpdatedElement: Equatable, Sendable {
    public var id: Identifier
    /// The flat element as JSON text; empty when it was deleted.
    public var json: [UInt8]
    /// The gesture of the update's session on the element that the update ended; 0: none.
    public var gesture: UInt64
    /// True when the update created it; set only among ``UpdateShape/changes``, where new ones come first.
    public var isNew: Bool
    /// True when the update changed its animation; set only among ``UpdateShape/geometries``.
    public var changesAnimation: Bool

    public init(
        id: Identifier, json: [UInt8], gesture: UInt64 = 0, isNew: Bool = false, changesAnimation: Bool = false
    ) {
        self.id = id
        self.json = json
        self.gesture = gesture
        self.isNew = isNew
        self.changesAnimation = changesAnimation
    }
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
///     shard u8 │ gseq u64 │ room name │ seq u64 │ event and cause u8 │ user name │ sid name │ number u64
///     link u64 │ chain u64 │ list of (id name │ gesture u64 │ flags u8 │ JSON blob)
///     trace, if its commit is traced
///
/// The cause is in the two highest bits of the event; bit 0 of the flags: new, bit 1: its animation changed.
public struct Update: WireRecord, Equatable, Sendable {
    public static let kind = RecordKind.update

    /// The room's shard.
    public var shard: UInt8
    /// Its number in the shard's order: 1, 2, 3 …
    public var gseq: UInt64
    public var room: Identifier
    /// Its number in the room's order: 1, 2, 3 …
    public var seq: UInt64
    /// The kind of the update.
    public var event: UpdateEvent
    /// The user that committed it.
    public var user: Identifier
    /// The public name of the session that it came from.
    public var sid: Identifier
    /// The app's number in that session; 0 when the app assigned none.
    public var number: UInt64
    /// Its link in the shard's ``HistoryChain``.
    public var link: UInt64
    /// The shard's chain after it; 0: unknown.
    public var chain: UInt64
    /// The elements after the update; for a deletion the deleted ids, parent first, with empty JSON.
    public var elements: [UpdatedElement]
    /// The command that caused it.
    public var cause: UpdateCause
    /// The trace of its commit, on its way to members; the log and answers to joins have none.
    public var trace: TraceID?

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
        self.elements = elements
        self.cause = cause
        self.trace = trace
    }

    public func encode(into writer: inout ByteWriter) {
        self.encodeUntraced(into: &writer)
        if let trace = self.trace { writer.trace(trace) }
    }

    public init(from reader: inout ByteReader) {
        self.init(untraced: &reader)
        self.trace = reader.trace()
    }

    /// Appends all fields but the trace: another field may follow.
    func encodeUntraced(into writer: inout ByteWriter) {
        writer.u8(self.shard)
        writer.integer(self.gseq)
        writer.name(self.room)
        writer.integer(self.seq)
        writer.u8(self.event.rawValue | self.cause.rawValue << 6)
        writer.name(self.user)
        writer.name(self.sid)
        writer.integer(self.number)
        writer.integer(self.link)
        writer.integer(self.chain)
        writer.list(self.elements) { element, writer in
            writer.name(element.id)
            writer.integer(element.gesture)
            writer.u8((element.isNew ? 1 : 0) | (element.changesAnimation ? 2 : 0))
            writer.blob(element.json)
        }
    }

    /// Reads all fields but the trace.
    init(untraced reader: inout ByteReader) {
        self.shard = reader.u8()
        self.gseq = reader.ordinal()
        self.room = reader.name()
        self.seq = reader.ordinal()
        let byte = reader.u8()
        let event = UpdateEvent(rawValue: byte & 0x3f)
        let cause = UpdateCause(rawValue: byte >> 6)
        self.event = event ?? .transformed
        self.cause = cause ?? .edit
        self.user = reader.name()
        self.sid = reader.name()
        self.number = reader.ordinal()
        self.link = reader.integer()
        self.chain = reader.integer()
        self.elements = reader.list { reader in
            let id = reader.name()
            let gesture = reader.ordinal()
            let flags = reader.u8()
            if flags > 3 { reader.fail() }
            return UpdatedElement(
                id: id, json: reader.blob(), gesture: gesture, isNew: flags & 1 != 0, changesAnimation: flags & 2 != 0)
        }
        if event == nil || cause == nil || self.shard >= UInt8(Shard.count) { reader.fail() }
    }
}
