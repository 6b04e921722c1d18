public import Canvas

/// One preview on its way: what an element looks like while a finger is still down. Lossy; the latest wins.
///
///     room name │ element name │ connection u64 │ user name │ sid name │ gesture u64 │ after u64
///     folded u32 │ sinceLast u32 │ fields
public struct Preview: WireRecord, Equatable, Sendable {
    public static let kind = RecordKind.preview

    /// The room.
    public var room: Identifier
    /// The element that is moved.
    public var element: Identifier
    /// The app's connection, unique over all gateways and never reused; it gets no preview of its own.
    public var connection: UInt64
    /// Who moves it.
    public var user: Identifier
    /// The public name of the mover's session in this room.
    public var sid: Identifier
    /// The gesture that it belongs to, ≥ 1 and growing within the session.
    public var gesture: UInt64
    /// It may be shown only where the update with this sequence number was: from the gateway, the mover's own last
    /// commit on the element; from the fan-out, the last update of the element that it was computed on. 0: none.
    public var after: UInt64
    /// How many previews of the app are folded into it, ≥ 1.
    public var folded: UInt32
    /// Time since the previous preview of the same element and connection, ms; 0 for the first.
    public var sinceLast: UInt32
    /// The fields that it sets.
    public var fields: TransformFields

    /// A preview as it left the app.
    public init(
        room: Identifier, element: Identifier, connection: UInt64, user: Identifier, sid: Identifier, gesture: UInt64,
        after: UInt64 = 0, folded: UInt32 = 1, sinceLast: UInt32 = 0, fields: TransformFields
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
    }

    public func encode(into writer: inout ByteWriter) {
        writer.name(self.room)
        writer.name(self.element)
        writer.integer(self.connection)
        writer.name(self.user)
        writer.name(self.sid)
        writer.integer(self.gesture)
        writer.integer(self.after)
        writer.integer(self.folded)
        writer.integer(self.sinceLast)
        writer.transform(self.fields)
    }

    public init(from reader: inout ByteReader) {
        self.room = reader.name()
        self.element = reader.name()
        self.connection = reader.integer()
        self.user = reader.name()
        self.sid = reader.name()
        self.gesture = reader.integer()
        self.after = reader.integer()
        self.folded = reader.integer()
        self.sinceLast = reader.integer()
        self.fields = reader.transform()
    }
}

extension ByteWriter {
    /// Appends sparse transform fields: a mask (bit 0 positionX, 1 positionY, 2 rotation, 3 scaleX, 4 scaleY, 5 width,
    /// 6 height), then a double for each set bit.
    public mutating func transform(_ fields: TransformFields) {
        let maskAt = self.bytes.count
        self.u8(0)
        self.optionalNumber(fields.positionX, bit: 0, maskAt: maskAt)
        self.optionalNumber(fields.positionY, bit: 1, maskAt: maskAt)
        self.optionalNumber(fields.rotation, bit: 2, maskAt: maskAt)
        self.optionalNumber(fields.scaleX, bit: 3, maskAt: maskAt)
        self.optionalNumber(fields.scaleY, bit: 4, maskAt: maskAt)
        self.optionalNumber(fields.width, bit: 5, maskAt: maskAt)
        self.optionalNumber(fields.height, bit: 6, maskAt: maskAt)
    }

    private mutating func optionalNumber(_ value: Double?, bit: UInt8, maskAt: Int) {
        guard let value else { return }
        self.bytes[maskAt] |= 1 << bit
        self.double(value)
    }
}

extension ByteReader {
    /// Reads sparse transform fields; a value that is not finite is ill-formed.
    public mutating func transform() -> TransformFields {
        let mask = self.u8()
        if mask & 0x80 != 0 { self.fail() }
        var fields = TransformFields()
        fields.positionX = self.optionalNumber(mask & 1 != 0)
        fields.positionY = self.optionalNumber(mask & 2 != 0)
        fields.rotation = self.optionalNumber(mask & 4 != 0)
        fields.scaleX = self.optionalNumber(mask & 8 != 0)
        fields.scaleY = self.optionalNumber(mask & 16 != 0)
        fields.width = self.optionalNumber(mask & 32 != 0)
        fields.height = self.optionalNumber(mask & 64 != 0)
        return fields
    }

    private mutating func optionalNumber(_ isThere: Bool) -> Double? {
        guard isThere else { return nil }
        let value = self.double()
        if !value.isFinite { self.fail() }
        return value
    }
}
