public import Canvas
internal import JSONBytes

/// The identity of a commit's body: its kind and its known fields after parsing, before any rule. The spelling of the
/// JSON does not matter: `1.0` and `1`, or another order of fields, are the same body.
///
/// It is FNV-1a over the fields in a fixed order. Each is prefixed with a presence flag or its length, so that adjacent
/// fields cannot be confused.
public struct BodyHash {
    private var hash = FNV1a()

    private var value: UInt64 { self.hash.value }

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

    public mutating func text(_ value: String?) {
        guard let value else { return self.integer(UInt64.max) }
        self.integer(UInt64(truncatingIfNeeded: value.utf8.count))
        self.hash.combine(value.utf8)
    }

    /// An optional JSON text in one spelling.
    public mutating func json(_ text: [UInt8]?) {
        self.bytes(text ?? [])
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

    public mutating func transform(_ fields: TransformFields) {
        self.integer(UInt64(fields.mask))
        for (_, value) in fields.set { self.number(value) }
    }

    public mutating func point(_ point: Point) {
        self.number(point.x)
        self.number(point.y)
    }

    public mutating func gesture(_ gesture: Gesture) {
        self.point(gesture.translation)
        self.number(gesture.scaleX)
        self.number(gesture.scaleY)
        self.number(gesture.rotation)
        self.point(gesture.tilt)
        self.number(gesture.anchor?.x)
        self.number(gesture.anchor?.y)
    }

    /// Every field of a new element but its id.
    public mutating func newElement(_ new: NewElement) {
        var new = new
        new.id = nil
        new.extra.sort(by: Self.precedes)
        self.bytes(JSONWriter.text { new.encode(into: &$0) })
    }

    /// Every field of an update.
    public mutating func changes(_ changes: ElementChanges) {
        var changes = changes
        changes.extra.sort(by: Self.precedes)
        self.bytes(JSONWriter.text(changes.encodeMembers))
    }

    /// The order of the app's own fields in a message doesn't matter.
    private static func precedes(_ left: ExtraField, _ right: ExtraField) -> Bool {
        left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
    }
}
