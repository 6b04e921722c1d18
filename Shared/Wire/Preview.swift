public import Canvas

/// One preview: an element's intermediate state while a finger is still down. Lossy; the latest wins.
///
///     room name │ element name │ connection u64 │ user name │ sid name │ gesture u64 │ after u64
///     folded u32 │ sinceLast u32 │ fields, with the top bit of their mask set: rare parts
///     area, unless everywhere
public struct Preview: KeyedRecord, Equatable {
    public static let kind = RecordKind.preview

    public var room: Identifier
    /// The element that is moved.
    public var element: Identifier
    /// The app's connection, unique over all gateways and never reused; its own previews are not sent to it.
    public var connection: UInt64
    /// The user that moves it.
    public var user: Identifier
    /// The public name of the publisher's session in this room.
    public var sid: Identifier
    /// The gesture that it belongs to, ≥ 1 and increasing within the session.
    public var gesture: UInt64
    /// It may be shown only after the update with this sequence number: from the gateway, the publisher's own last commit
    /// on the element; from the fan-out, the last update of the element that it was computed on. 0: none.
    public var after: UInt64
    /// The number of the app's previews folded into it, ≥ 1.
    public var folded: UInt32
    /// Time since the previous preview of the same element and connection, ms; 0 for the first.
    public var sinceLast: UInt32
    /// The fields that it sets.
    public var fields: TransformFields
    /// What it shows instead of ``fields``, on its way to the fan-out; one reference, as previews are copied often.
    public var delta: PreviewDelta?
    /// Its place in a group: the previews of a group's gesture are shown in one message.
    public var group: GroupRole
    /// Where it can be seen, on its way from the fan-out.
    public var area = PreviewArea.everywhere

    /// A preview as it left the app.
    public init(
        room: Identifier, element: Identifier, connection: UInt64, user: Identifier, sid: Identifier, gesture: UInt64,
        after: UInt64 = 0, folded: UInt32 = 1, sinceLast: UInt32 = 0, fields: TransformFields,
        delta: PreviewDelta? = nil, group: GroupRole = .alone
    ) {
        self.room = room
        self.element = element
        self.connection = connection
        self.user = user
        self.sid = sid
        self.gesture = gesture
        self.after = after
        self.folded = folded
        self.sinceLast = sinceLast
        self.fields = fields
        self.delta = delta
        self.group = group
    }

    /// True when it has deltas or is one of a group, as few are.
    private var hasRareParts: Bool { self.delta != nil || self.group != .alone }

    /// The size of the fields of fixed length.
    private static let fixedSize = 8 + 8 + 8 + 4 + 4

    public func encode(into writer: inout ByteWriter) {
        let names =
            FieldRun.size(of: self.room) + FieldRun.size(of: self.element) + FieldRun.size(of: self.user)
            + FieldRun.size(of: self.sid)
        writer.run(upTo: names + Self.fixedSize + TransformFields.maxBytes) { run in
            run.name(self.room)
            run.name(self.element)
            run.integer(self.connection)
            run.name(self.user)
            run.name(self.sid)
            run.integer(self.gesture)
            run.integer(self.after)
            run.integer(self.folded)
            run.integer(self.sinceLast)
            run.transform(self.fields, isContinued: self.hasRareParts)
        }
        if self.hasRareParts { writer.rareParts(of: self) }
        if !self.area.isEverywhere { writer.area(self.area) }
    }

    public init(from reader: inout ByteReader) {
        self.room = reader.name()
        self.element = reader.name()
        self.connection = reader.integer()
        self.user = reader.name()
        self.sid = reader.name()
        self.gesture = reader.ordinal()
        self.after = reader.ordinal()
        self.folded = reader.integer()
        self.sinceLast = reader.integer()
        let (fields, isContinued) = reader.continuedTransform()
        self.fields = fields
        if isContinued {
            (self.delta, self.group) = reader.rareParts()
        } else {
            self.group = .alone
        }
        if reader.remaining >= ByteReader.areaSize { self.area = reader.area() }
    }
}

extension Preview {
    /// One connection's previews of an element take each other's place.
    @frozen public struct Key: Hashable, Sendable {
        // Two keys differ in it most often.
        @usableFromInline let connection: UInt64
        @usableFromInline let element: Identifier
        @usableFromInline let room: Identifier

        @inlinable
        init(_ preview: Preview) {
            (self.connection, self.element, self.room) = (preview.connection, preview.element, preview.room)
        }
    }

    @inlinable public var key: Key { Key(self) }
    @inlinable public var subject: Identifier { self.element }

    /// True when both are of one gesture of one session.
    @inlinable
    public func isOfGesture(of other: Preview) -> Bool { self.gesture == other.gesture && self.sid == other.sid }

    /// Takes the newer one's place, as each is complete for its gesture. One of an older gesture of the session is late and
    /// shows nothing.
    ///
    /// Counts and times add up all the same: `folded` is the number of the app's previews of which none was shown but the
    /// last, and `sinceLast` the time since the preview before the first of them. The area is that of both: who saw the
    /// older one must see it go. What the older one of the gesture had to follow, the newer one has to follow too.
    @inlinable
    public mutating func replace(by newer: Preview) {
        let (folded, isOver) = self.folded.addingReportingOverflow(newer.folded)
        let sinceLast = self.sinceLast &+ newer.sinceLast
        let area = self.area.union(newer.area)
        let after = self.isOfGesture(of: newer) ? max(self.after, newer.after) : newer.after
        if self.sid != newer.sid || self.gesture <= newer.gesture {
            self = newer
            self.after = after
        }
        self.folded = isOver ? .max : folded
        self.sinceLast = sinceLast
        self.area = area
    }
}

/// The place of a preview in the group that its app moves.
public enum GroupRole: UInt8, Sendable {
    /// It moves its element alone.
    case alone
    /// Others of its group follow.
    case member
    /// The last one of its group.
    case last
}

extension FieldRun {
    /// Sparse transform fields: a mask of 16 bits, of which bit i is the i-th of them in the order of `ElementField`, then
    /// a double for each set bit.
    ///
    /// - Parameter isContinued: sets the top bit of the mask: other parts follow.
    mutating func transform(_ fields: TransformFields, isContinued: Bool = false) {
        self.integer(isContinued ? fields.mask | TransformFields.continued : fields.mask)
        for (_, value) in fields.set { self.integer(value.bitPattern) }
    }
}

extension TransformFields {
    /// The maximum encoded size: the mask and all numbers, bytes.
    static let maxBytes = 2 + 8 * ElementField.transform.count

    fileprivate static let continued: UInt16 = 1 << 15
}

extension ByteReader {
    /// Reads sparse transform fields; a field that is not known or a value that is not finite is ill-formed.
    public mutating func transform() -> TransformFields {
        let (fields, isContinued) = self.continuedTransform()
        if isContinued { self.fail() }
        return fields
    }

    /// The same, and whether other parts follow.
    mutating func continuedTransform() -> (TransformFields, isContinued: Bool) {
        let mask: UInt16 = self.integer()
        let fields = TransformFields(mask: mask & ~TransformFields.continued) { self.finite() }
        if fields == nil { self.fail() }
        return (fields ?? TransformFields(), mask & TransformFields.continued != 0)
    }
}
