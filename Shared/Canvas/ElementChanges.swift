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

extension ElementChanges {
    /// Rejects an update that would turn a guide: its own field `axis` says from its creation on along which axis it lies.
    private func checkAxis(of element: Element) throws(FieldError) {
        guard isSameText(element.type, Element.guideType), let sent = self.extra.value(of: "axis") else { return }
        guard sent == element.extra.value(of: "axis") else {
            throw FieldError(field: "set.axis", message: "A guide keeps its axis.")
        }
    }

    /// Rejects an update after which the element's extra fields would be too many or too large, or a guide another line.
    /// Call it before applying the update.
    /// - Parameter pictureBytes: the maximum length of a picture that it sets.
    public func check(
        on element: Element, pictureBytes: Int = CanvasLimits.pictureBytes
    ) throws(FieldError) {
        if self.extra.isEmpty { return }
        try self.checkAxis(of: element)
        let setsPicture = self.extra.value(of: ExtraField.pictureName) != nil
        let most = setsPicture ? pictureBytes : CanvasLimits.pictureBytes
        try element.extra.updated(by: self.extra).checkLimits(field: "set", pictureBytes: most)
    }

    func fit(_ element: Element) -> Bool {
        do { try self.check(on: element) } catch { return false }
        return true
    }
}
