import Canvas
import Wire

/// The identity of a commit's body: event and known fields after parsing, before any rule. Ids that the gateway made
/// are no part of it, nor is how the JSON was spelt: `1.0` and `1`, or another order of fields, are the same body.
struct BodyHash {
    private var hash = FNV1a()

    /// The hash of what was fed.
    var value: UInt64 { self.hash.value }

    /// A transform.
    mutating func transform(element: Identifier, _ fields: TransformFields) {
        self.event(.transformed)
        self.text(element.text)
        for value in [
            fields.positionX, fields.positionY, fields.rotation, fields.scaleX, fields.scaleY, fields.width,
            fields.height,
        ] {
            self.number(value)
        }
    }

    /// The start of a create command; its elements follow.
    mutating func create(count: Int, single: Bool) {
        self.event(single ? .created : .createdMany)
        self.integer(UInt64(truncatingIfNeeded: count))
    }

    /// One element of a create command.
    mutating func element(id: Identifier?, _ fields: NewElement) {
        self.text(id?.text)
        fields.feed(into: &self)
    }

    /// An update.
    mutating func update(element: Identifier, _ changes: ElementChanges) {
        self.event(.updated)
        self.text(element.text)
        changes.feed(into: &self)
    }

    /// A deletion.
    mutating func delete(element: Identifier) {
        self.event(.deleted)
        self.text(element.text)
    }

    /// A body that could not be parsed.
    mutating func unreadable(event: UpdateEvent, element: Identifier, body: [UInt8]) {
        self.event(event)
        self.text(element.text)
        self.bytes(body)
    }

    // MARK: Fields. Each begins with a mark of presence or its length, so that neighbours cannot be mistaken.

    private mutating func event(_ event: UpdateEvent) {
        self.hash.combine(CollectionOfOne(event.rawValue))
    }

    /// An optional number; both zeros are one.
    mutating func number(_ value: Double?) {
        guard let value else { return self.hash.combine(CollectionOfOne(0)) }
        self.hash.combine(CollectionOfOne(1))
        self.integer((value == 0 ? 0 : value).bitPattern)
    }

    /// An optional text.
    mutating func text(_ value: String?) {
        guard let value else { return self.integer(UInt64.max) }
        self.integer(UInt64(truncatingIfNeeded: value.utf8.count))
        self.hash.combine(value.utf8)
    }

    /// An optional flag.
    mutating func flag(_ value: Bool?) {
        self.hash.combine(CollectionOfOne(value.map { $0 ? 2 : 1 } ?? 0))
    }

    /// The app's own fields, in any order.
    mutating func extra(_ fields: [ExtraField]) {
        self.integer(UInt64(truncatingIfNeeded: fields.count))
        let ordered = fields.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        for field in ordered {
            self.text(field.name)
            self.bytes(field.json)
        }
    }

    private mutating func bytes(_ bytes: [UInt8]) {
        self.integer(UInt64(truncatingIfNeeded: bytes.count))
        self.hash.combine(bytes)
    }

    private mutating func integer(_ value: UInt64) {
        for byte in 0..<8 {
            self.hash.combine(CollectionOfOne(UInt8(truncatingIfNeeded: value >> (8 * UInt64(byte)))))
        }
    }
}

extension NewElement {
    /// Feeds every field but the id, in a fixed order.
    fileprivate func feed(into hash: inout BodyHash) {
        hash.text(self.type)
        for value in [
            self.transform.positionX, self.transform.positionY, self.transform.rotation, self.transform.scaleX,
            self.transform.scaleY, self.transform.width, self.transform.height, self.originalWidth,
            self.originalHeight, self.anchorX, self.anchorY, self.snapDegrees, self.fontSize, self.zIndex,
        ] {
            hash.number(value)
        }
        self.bounds.feed(into: &hash)
        hash.flag(self.locked)
        hash.text(self.space?.rawValue)
        hash.text(self.parentId)
        hash.extra(self.extra)
    }
}

extension ElementChanges {
    /// Feeds every field, in a fixed order.
    fileprivate func feed(into hash: inout BodyHash) {
        for value in [self.fontSize, self.snapDegrees, self.zIndex] {
            hash.number(value)
        }
        self.bounds.feed(into: &hash)
        hash.flag(self.locked)
        hash.extra(self.extra)
    }
}

extension Bounds? {
    fileprivate func feed(into hash: inout BodyHash) {
        for value in [self?.x, self?.y, self?.width, self?.height] {
            hash.number(value)
        }
    }
}
