public import JSONBytes

/// What an update does with a field that an element need not have.
public enum FieldChange<Value: Equatable & Sendable>: Equatable, Sendable {
    /// It gets this value.
    case set(Value)
    /// It is taken off the element, if it is there.
    case remove

    /// The new value; nil for a removal.
    public var value: Value? {
        if case .set(let value) = self { value } else { nil }
    }
}

extension FieldChange: JSONEncodable where Value: JSONEncodable {
    /// Writes the value; `null` for a removal.
    public func encode(into writer: inout JSONWriter) { self.value.encode(into: &writer) }
}

/// The fields that an update changes on an element: everything but position, scale, rotation and anchor. Nil: unchanged.
public struct ElementChanges: Equatable, Sendable {
    /// The font size, points.
    public var fontSize: FieldChange<Double>?
    /// Whether transforms, resizing and deletion are refused from now on.
    public var locked: Bool?
    /// Degrees, above 0.
    public var snapDegrees: FieldChange<Double>?
    /// The rectangle in which the anchor must stay from the next transform on.
    public var bounds: FieldChange<Bounds>?
    /// What holds the element from the next transform on. Replaced whole.
    public var constraints: FieldChange<Constraints>?
    /// Drawing order.
    public var zIndex: FieldChange<Double>?
    /// The size in pixels at scale 1, above 0. The element is resized about its anchor; its scales stay.
    public var originalWidth, originalHeight: Double?
    /// The app's own fields to add, to replace, or to remove (see `ExtraField.removal(of:)`).
    public var extra: [ExtraField] = []

    public init() {}

    /// Whether a locked element refuses it: it resizes, and does not unlock.
    public var respectsLock: Bool {
        (self.originalWidth != nil || self.originalHeight != nil) && self.locked != false
    }

    /// The change of a number; sides are not removed.
    subscript(field: ElementField) -> FieldChange<Double>? {
        get {
            switch field {
            case .originalWidth: self.originalWidth.map(FieldChange.set)
            case .originalHeight: self.originalHeight.map(FieldChange.set)
            case .snapDegrees: self.snapDegrees
            case .fontSize: self.fontSize
            case .zIndex: self.zIndex
            default: nil
            }
        }
        set {
            switch field {
            case .originalWidth: self.originalWidth = newValue?.value
            case .originalHeight: self.originalHeight = newValue?.value
            case .snapDegrees: self.snapDegrees = newValue
            case .fontSize: self.fontSize = newValue
            case .zIndex: self.zIndex = newValue
            default: break
            }
        }
    }

    /// Writes the members of an update's `set`.
    package func encodeMembers(into writer: inout JSONWriter) {
        for field in ElementField.stored {
            switch field.kind {
            case .side, .option: writer.member(field.name, ifPresent: self[field])
            case .locked: writer.member(field.name, ifPresent: self.locked)
            case .bounds: writer.member(field.name, ifPresent: self.bounds)
            case .constraints: writer.member(field.name, ifPresent: self.constraints)
            default: break
            }
        }
        self.extra.encodeMembers(into: &writer)
    }
}
