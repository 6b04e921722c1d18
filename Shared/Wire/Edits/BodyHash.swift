public import Canvas

/// The identity of a commit's body: its kind and its known fields after parsing, before any rule. The spelling of the
/// JSON does not matter: `1.0` and `1`, or another order of fields, are the same body.
///
/// It is FNV-1a over the fields in a fixed order. Each is prefixed with a presence flag or its length, so that adjacent
/// fields cannot be confused.
public struct BodyHash {
    private var hash = FNV1a()

    /// The hash of the fields so far.
    private var value: UInt64 { self.hash.value }

    /// The hash of an edit's body.
    public static func of<Kind: Edit>(_ edit: Kind) -> UInt64 {
        var hash = BodyHash()
        hash.hash.combine(CollectionOfOne(Kind.tag))
        edit.identify(into: &hash)
        return hash.value
    }

    /// The hash of an edit that cannot be decoded: over its bytes.
    public static func of(unreadable edit: EncodedEdit) -> UInt64 {
        var hash = BodyHash()
        hash.hash.combine(CollectionOfOne(edit.tag))
        hash.bytes(edit.fields)
        return hash.value
    }

    /// An optional number; both zeros are one.
    public mutating func number(_ value: Double?) {
        guard let value else { return self.hash.combine(CollectionOfOne(0)) }
        self.hash.combine(CollectionOfOne(1))
        self.integer((value == 0 ? 0 : value).bitPattern)
    }

    /// An optional text.
    public mutating func text(_ value: String?) {
        guard let value else { return self.integer(UInt64.max) }
        self.integer(UInt64(truncatingIfNeeded: value.utf8.count))
        self.hash.combine(value.utf8)
    }

    /// An optional flag.
    public mutating func flag(_ value: Bool?) {
        self.hash.combine(CollectionOfOne(value.map { $0 ? 2 : 1 } ?? 0))
    }

    public mutating func integer(_ value: UInt64) {
        for byte in 0..<8 {
            self.hash.combine(CollectionOfOne(UInt8(truncatingIfNeeded: value >> (8 * UInt64(byte)))))
        }
    }

    private mutating func bytes(_ bytes: [UInt8]) {
        self.integer(UInt64(truncatingIfNeeded: bytes.count))
        self.hash.combine(bytes)
    }

    // MARK: Fields shared by several edits

    /// Position and transform fields.
    public mutating func transform(_ fields: TransformFields) {
        self.number(fields.positionX)
        self.number(fields.positionY)
        self.number(fields.rotation)
        self.number(fields.scaleX)
        self.number(fields.scaleY)
        self.number(fields.width)
        self.number(fields.height)
    }

    public mutating func point(_ point: Point) {
        self.number(point.x)
        self.number(point.y)
    }

    /// The deltas of a gesture.
    public mutating func gesture(_ gesture: Gesture) {
        self.point(gesture.translation)
        self.number(gesture.scaleX)
        self.number(gesture.scaleY)
        self.number(gesture.rotation)
        self.number(gesture.anchor?.x)
        self.number(gesture.anchor?.y)
    }

    /// Every field of a new element but its id.
    public mutating func newElement(_ new: NewElement) {
        self.text(new.type)
        self.transform(new.transform)
        for value in [
            new.originalWidth, new.originalHeight, new.anchorX, new.anchorY, new.snapDegrees, new.fontSize, new.zIndex,
        ] {
            self.number(value)
        }
        self.bounds(new.bounds)
        self.flag(new.locked)
        self.text(new.space?.rawValue)
        self.text(new.parentId)
        self.extra(new.extra)
    }

    /// Every field of an update.
    public mutating func changes(_ changes: ElementChanges) {
        for change in [changes.fontSize, changes.snapDegrees, changes.zIndex] {
            self.isRemoval(change)
            self.number(change?.value)
        }
        self.isRemoval(changes.bounds)
        self.bounds(changes.bounds?.value)
        self.flag(changes.locked)
        self.number(changes.originalWidth)
        self.number(changes.originalHeight)
        self.extra(changes.extra)
    }

    /// A removal, a new value and no change at all are different.
    private mutating func isRemoval<Value>(_ change: FieldChange<Value>?) {
        self.flag(change.map { $0 == .remove })
    }

    private mutating func bounds(_ bounds: Bounds?) {
        for value in [bounds?.x, bounds?.y, bounds?.width, bounds?.height] {
            self.number(value)
        }
    }

    /// The app's own fields, in any order.
    private mutating func extra(_ fields: [ExtraField]) {
        self.integer(UInt64(truncatingIfNeeded: fields.count))
        let ordered = fields.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        for field in ordered {
            self.text(field.name)
            self.bytes(field.json)
        }
    }
}
