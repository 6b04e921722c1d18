public import Canvas
internal import JSONBytes

/// The identity of a commit's body: its kind and its known fields after parsing, before any rule. The spelling of the
/// JSON does not matter: `1.0` and `1`, or another order of fields, are the same body.
///
/// It is FNV-1a over the encoded fields. Where these have JSON as the app spelled it, that is hashed as it was understood;
/// texts are prefixed with their length, so that adjacent ones cannot be confused.
public struct BodyHash {
    private var hash = FNV1a()

    public static func of<Kind: Edit>(_ edit: Kind) -> UInt64 {
        var hash = BodyHash()
        hash.hash.combine(CollectionOfOne(Kind.traits.tag))
        edit.identify(into: &hash)
        return hash.hash.value
    }

    /// The hash of an edit that cannot be decoded: over its bytes.
    public static func of(unreadable edit: EncodedEdit) -> UInt64 {
        var hash = BodyHash()
        hash.hash.combine(CollectionOfOne(edit.tag))
        hash.bytes(edit.fields)
        return hash.hash.value
    }

    public mutating func text(_ value: String?) {
        guard let value else { return self.integer(UInt64.max) }
        self.integer(UInt64(truncatingIfNeeded: value.utf8.count))
        self.hash.combine(value.utf8)
    }

    public mutating func integer(_ value: UInt64) {
        for byte in 0..<8 {
            self.hash.combine(CollectionOfOne(UInt8(truncatingIfNeeded: value >> (8 * UInt64(byte)))))
        }
    }

    mutating func bytes(_ bytes: [UInt8]) {
        self.integer(UInt64(truncatingIfNeeded: bytes.count))
        self.hash.combine(bytes)
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
